package api_test

import (
	"testing"

	"vitrine/proxy/proxytest"
)

// TestEmptyPath: an empty path is a base of links like any other: that of the website's root, as for the portal.
func TestEmptyPath(t *testing.T) {
	s := proxytest.Open(t, proxytest.Institute(t), proxytest.Options(t))
	portal := string(s.Get("/api/all-activities?page=portal").Body)
	if portal == string(s.Get("/api/all-activities").Body) {
		t.Fatal("the institute has no links to rewrite")
	}
	for _, query := range []string{"path=", "path", "path=+", "path=&page=portal", "path=&page=all-activities"} {
		if got := string(s.Get("/api/all-activities?" + query).Body); got != portal {
			t.Errorf("%s: got %s\nwant %s", query, got, portal)
		}
	}
}
