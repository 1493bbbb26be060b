package query

import (
	"strings"
	"testing"
)

// TestMeanings: a name from elsewhere means one parameter, or words to search and else what searches titles. Which
// of them an endpoint reads, package api tests.
func TestMeanings(t *testing.T) {
	means := map[string]string{}
	for _, m := range meanings {
		for other := range strings.FieldsSeq(m.Others) {
			before, found := means[other]
			twice := found && (before != WordsParam || m.Word != "search")
			if twice || other != strings.ToLower(other) || other == m.Word {
				t.Errorf("%s means %s and %s", other, before, m.Word)
			}
			means[other] = m.Word
		}
	}
}
