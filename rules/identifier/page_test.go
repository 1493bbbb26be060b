package identifier_test

import (
	"testing"

	"vitrine/rules/identifier"
)

// TestDOIOfPage: publishers have a DOI at the end of an address, or in the middle.
func TestDOIOfPage(t *testing.T) {
	tests := []struct{ name, address, want string }{
		{"resolver", "https://doi.org/10.1000/182", "10.1000/182"},
		{"escaped", "https://doi.org/10.1000%2F182", "10.1000/182"},
		{"publisher's page", "https://press.example/doi/abs/10.1021/acs.1c00001?src=x", "10.1021/acs.1c00001"},
		{"text's format", "https://press.example/10.1007/978-3-030-1.pdf", "10.1007/978-3-030-1"},
		{"view of the text", "https://press.example/articles/10.3389/f.2020.1/full", "10.3389/f.2020.1"},
		{"in a query", "/url?q=https%3A%2F%2Fdoi.org%2F10.1000%2F182&hl=de", "10.1000/182"},
		{"parentheses", "https://doi.org/10.1016/S0140-6736(97)11096-0", "10.1016/S0140-6736(97)11096-0"},
		{"resolver with a tracker", "https://doi.org/10.1000/182/?utm_source=x", "10.1000/182"},
		{"none", "https://journal.example/article/77", ""},
		{"a number like one", "https://journal.example/110.1000/182", ""},
		{"no address", "%zz", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := identifier.DOIOfPage(tt.address); got != tt.want {
				t.Errorf("DOIOfPage(%q) = %q, want %q", tt.address, got, tt.want)
			}
		})
	}
}
