package csl

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestPageRanges: ranges are shortened as citeproc-js does, also with a prefix. Pages with different prefixes are
// no range.
func TestPageRanges(t *testing.T) {
	formats := [...]string{"", "expanded", "minimal", "minimal-two", "chicago", "chicago-16"}
	for _, want := range [...][1 + len(formats)]string{
		{"S12-S19", "S12–S19", "S12–S19", "S12–9", "S12–19", "S12–19", "S12–19"},
		{"S9-S12", "S9–S12", "S9–S12", "S9–12", "S9–12", "S9–12", "S9–12"},
		{"S101-S108", "S101–S108", "S101–S108", "S101–8", "S101–08", "S101–8", "S101–8"},
		{"S1496-S1504", "S1496–S1504", "S1496–S1504", "S1496–504", "S1496–504", "S1496–1504", "S1496–504"},
		{"S19–S12", "S19–S12", "S19–S12", "S19–S12", "S19–S12", "S19–S12", "S19–S12"},
		{"S12-S19, S22–S29", "S12–S19, S22–S29", "S12–S19, S22–S29", "S12–9, S22–9", "S12–19, S22–29",
			"S12–19, S22–29", "S12–19, S22–29"},
		{"S12-19", "S12-19", "S12-19", "S12-19", "S12-19", "S12-19", "S12-19"},
		{"A1-B3", "A1-B3", "A1-B3", "A1-B3", "A1-B3", "A1-B3", "A1-B3"},
		{"123-S125", "123-S125", "123-S125", "123-S125", "123-S125", "123-S125", "123-S125"},
		{"xii-xix", "xii–xix", "xii–xix", "xii–xix", "xii–xix", "xii–xix", "xii–xix"},
		{"321-8", "321–8", "321–328", "321–8", "321–28", "321–28", "321–28"},
	} {
		for i, format := range formats {
			require.Equal(t, want[1+i], BuiltinLocales()["en-US"].pages(want[0], format), "%s, %s", want[0], format)
		}
	}
}
