package lists

// mostURLs is the most addresses in a sitemap (sitemaps.org). The limit there of 50 MB needs no check: an address
// would need a kilobyte.
const mostURLs = 50_000

// siteSize is the number of places in a sitemap.
type siteSize struct {
	version string // of the snapshots, and the year if a list rolls
	listed  int    // the start page, the index and the lists
	items   []int  // the rows of each whole view
}

// places returns the number of all places.
func (z siteSize) places() (n int) {
	n = z.listed
	for _, rows := range z.items {
		n += rows
	}
	return n
}

// parts returns the number of sitemaps that have them all, which is at least 1.
func (z siteSize) parts() int { return (z.places() + mostURLs - 1) / mostURLs }
