package bench

import (
	"fmt"
	"net/url"
)

// DefaultCases returns the cases of `vitrine bench`: what a portal asks again and
// again, and what nobody asked before.
func DefaultCases() []Case {
	plain := func(name, path string) Case { return Case{Name: name, Path: always(path)} }
	return []Case{
		plain("activities, first page", "/api/activities?limit=20"),
		{Name: "activities, page by page", Path: page},
		plain("activities, filtered, cached", "/api/activities?limit=20&json="+url.QueryEscape(`{"type":"publication","year":{"$gte":2020}}`)),
		{Name: "activities, filter never seen", Path: neverSeen},
		plain("activities, columns", "/api/activities?limit=20&columns[]=title&columns[]=year&columns[]=doi"),
		plain("activities, aggregate authors", "/api/activities?aggregate=authors.user"),
		plain("html, 50", "/api/html?limit=50"),
		plain("all-activities", "/api/all-activities"),
		{Name: "all-activities, gzip", Path: always("/api/all-activities"), Header: map[string]string{"Accept-Encoding": "gzip"}},
		plain("activities, full", "/api/activities?full=1"),
	}
}

func always(path string) func(int64) string {
	return func(int64) string { return path }
}

// page walks the first fifty pages of a list, again and again.
func page(n int64) string {
	const size = 20
	return fmt.Sprintf("/api/activities?limit=%d&offset=%d", size, n%50*size)
}

// neverSeen spells filters that all differ, so that none is answered from the
// result cache.
func neverSeen(n int64) string {
	f := fmt.Sprintf(`{"type":"publication","year":{"$gte":%d},"month":{"$ne":%d},"pages":{"$ne":"%d"}}`, 2000+n%26, n%12, n)
	return "/api/activities?limit=20&json=" + url.QueryEscape(f)
}
