package api_test

import (
	"encoding/json"
	"path/filepath"
	"testing"

	"vitrine/proxy/proxytest"
)

// TestDepartmentGolden compares whole answers of the small department's views.
func TestDepartmentGolden(t *testing.T) {
	s := proxytest.Open(t, department(t), departmentOptions(t))
	tests := []struct{ name, target string }{
		{"user", "/api/users/ada"},
		{"user_columns",
			"/api/users/66c000000000000000000011?columns[]=last&columns[]=id&columns[]=_id&columns[]=title&" +
				"columns[]=units.unit&columns[]=nothing"},
		{"user_units", "/api/user-units/ada"},
		{"user_units_german", "/api/user-units/66C000000000000000000011?lang=de&limit=1&columns[]=unit"},
		{"user_units_none", "/api/user-units/bob"},
		{"events", "/api/events"},
		{"deadlines", "/api/deadlines"},
		{"levenshtein", "/api/levenshtein?title=Word"},
		{"portfolio_spectrum", "/portfolio/spectrum"},
		{"portfolio_spectrum_page", "/portfolio/spectrum?limit=1&offset=1"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			res := s.Get(tt.target)
			if res.StatusCode != 200 || !json.Valid(res.Body) {
				t.Fatalf("status %d: %s", res.StatusCode, res.Body)
			}
			compare(t, filepath.Join("testdata", "golden", tt.name+".json"), res.Body)
		})
	}
}
