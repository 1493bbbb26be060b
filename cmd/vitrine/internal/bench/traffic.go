package bench

import (
	"fmt"
	"net/url"
	"slices"
	"time"
)

// newInTen is how many of ten requests are new.
const newInTen = 1

// traffic is what a portal's visitors request: mostly popular pages, sometimes new ones.
type traffic struct {
	words *vocabulary
	pace  int
	fresh int // how many new questions were used up
}

// next spells the questions of a round.
func (t *traffic) next() []string {
	popular := t.popular()
	kinds := []family{t.words.equalities(), t.words.ranges(), t.words.memberships()}
	kinds = slices.DeleteFunc(kinds, func(k family) bool { return k.supply == 0 })
	paths := make([]string, t.pace*int(refreshTime/time.Second))
	for i := range paths {
		paths[i] = popular[i*7%len(popular)]
		if i%10 < newInTen && len(kinds) > 0 {
			k := kinds[t.fresh%len(kinds)]
			filter := k.filter(t.fresh / len(kinds) % k.supply)
			paths[i] = fmt.Sprintf("/api/activities?limit=10&offset=%d&json=%s", t.fresh%7, url.QueryEscape(filter))
			t.fresh++
		}
	}
	return paths
}

// popular are some dozens of URLs of every kind that portals use.
func (t *traffic) popular() []string {
	const list = "/api/activities?limit=20"
	paths := []string{
		list, "/api/html?limit=50", "/api/activities?aggregate=authors.user&limit=20", "/portfolio/spectrum?limit=20",
		list + "&columns[]=title&columns[]=year&columns[]=doi",
	}
	for page := 1; page < 10; page++ {
		paths = append(paths, fmt.Sprintf("%s&offset=%d", list, page*pageSize))
	}
	filters := []struct {
		field string
		words []string
	}{{"type", t.words.types}, {"units", t.words.units}, {"authors.user", t.words.users}}
	for _, f := range filters {
		for _, word := range f.words[:min(len(f.words), 15)] {
			paths = append(paths, fmt.Sprintf("%s&json=%s", list, url.QueryEscape(fmt.Sprintf(`{%q:%s}`, f.field, quote(word)))))
		}
	}
	return paths
}

func sortPoints(points []Point) {
	slices.SortFunc(points, func(a, b Point) int { return int(a.At - b.At) })
}
