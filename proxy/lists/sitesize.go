package lists

// mostURLs is the most addresses in a sitemap (sitemaps.org).
const mostURLs = 50_000

// siteSize is the number of places in a sitemap.
type siteSize struct {
	version string // of the snapshots, and the year if a list rolls
	listed  int    // the start page, the index and the lists
	items   []int  // the rows of each whole view
}

func (z siteSize) places() (n int) {
	n = z.listed
	for _, rows := range z.items {
		n += rows
	}
	return n
}

func (z siteSize) parts() int { return (z.places() + mostURLs - 1) / mostURLs }
