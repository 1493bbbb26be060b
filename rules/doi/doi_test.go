package doi_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"vitrine/rules/doi"
)

func TestParse(t *testing.T) {
	for _, tt := range []struct{ in, want string }{
		{"10.1234/x", "10.1234/x"},
		{" doi: 10.1234/X(1)<2> ", "10.1234/X(1)<2>"},
		{"HTTPS://DX.DOI.ORG/10.1234/x/y", "10.1234/x/y"},
		{"http://doi.org/doi:10.1234.56.7/x", "10.1234.56.7/x"},
		{"doi.org/10.1234/x", "10.1234/x"},
		{"", ""},
		{"10.1234/", ""},
		{"10.1234", ""},
		{"10.123/x", ""},
		{"10.1234567890/x", ""},
		{"10.1234./x", ""},
		{"10.12a4/x", ""},
		{"11.1234/x", ""},
		{"10.1234/a b", ""},
		{"10.1234/a\u2028b", ""},
		{"https://example.org/10.1234/x", ""},
		{"javascript:10.1234/x", ""},
	} {
		assert.Equal(t, tt.want, doi.Parse(tt.in), "%q", tt.in)
	}
}

func TestBare(t *testing.T) {
	assert.Equal(t, "anything", doi.Bare("doi: anything "))
	assert.Equal(t, "https://example.org/x", doi.Bare("https://example.org/x"))
	assert.Empty(t, doi.Bare("https://doi.org/"))
}

func TestURL(t *testing.T) {
	assert.Equal(t, "https://doi.org/10.1234/x(1)%3C2%3E;%22%27", doi.URL("10.1234/x(1)<2>;\"'"))
	assert.Equal(t, "https://doi.org/a%20%C3%A4%3F%23!*", doi.URL("a ä?#!*"))
}
