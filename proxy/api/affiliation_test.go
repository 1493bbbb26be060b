package api_test

import (
	"strings"
	"testing"

	"vitrine/proxy/proxytest"
)

// TestNoAffiliation: if no field marks affiliated authors, /api/html has no publications.
func TestNoAffiliation(t *testing.T) {
	for _, fields := range [][]string{nil, {"affiliated", "aoi"}} {
		o := proxytest.Options(t)
		o.Affiliation.Fields = fields
		got := string(proxytest.Open(t, proxytest.Institute(t), o).Get("/api/html").Body)
		if none := strings.Contains(got, `"count":0,`); none != (fields == nil) {
			t.Errorf("%q: %.300s", fields, got)
		}
	}
}
