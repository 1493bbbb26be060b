package lists_test

import (
	"strings"
	"testing"

	"vitrine/configs"
	"vitrine/proxy/proxytest"
)

// TestNoFacets: an empty list of facets means none, not the usual ones.
func TestNoFacets(t *testing.T) {
	o := proxytest.ListOptions(t)
	o.Lists.Named = proxytest.Named(map[string]configs.NamedList{"plain": {Facets: []string{}}, "usual": {}})
	s := proxytest.OpenViews(t, proxytest.ListStore(t, nil), o, proxytest.ListViews(t), 0)
	for slug, want := range map[string]bool{"plain": true, "usual": false} {
		got := string(s.Get("/lists/" + slug + ".json").Body)
		if strings.Contains(got, `"facets":{}`) != want || !strings.Contains(got, `"count":`) {
			t.Errorf("%s: %.600s", slug, got)
		}
	}
}
