package index_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// TestSearchManyTexts: in a text so long that every processor searches a part of it, the search
// finds a literal everywhere, also across the edges of the parts.
func TestSearchManyTexts(t *testing.T) {
	const rows = 60_000
	filler := strings.Repeat("Of moths and lamps. ", 3)
	docs := make([]bson.D, rows)
	for i := range docs {
		docs[i] = bson.D{{Key: "_id", Value: fmt.Sprintf("%06d", i)},
			{Key: "title", Value: fmt.Sprintf("%s%06d É", filler, i)}}
	}
	snap := load(t, docs, nil)
	for _, tt := range []struct{ literal, options string }{
		{"0299", ""}, {"02999", "i"}, {"030000", ""}, {"000000 É", ""}, {"059999 é", "i"}, {"mps. 01000", "i"},
		{"nowhere", ""}, {"lamps. 0", "i"},
	} {
		var want []string
		for _, doc := range docs {
			title, literal := doc[1].Value.(string), tt.literal
			if tt.options == "i" {
				title, literal = strings.ToLower(title), strings.ToLower(literal)
			}
			if strings.Contains(title, literal) {
				want = append(want, doc[0].Value.(string))
			}
		}
		got := ids(t, snap, fmt.Sprintf(`{"title":{"$regex":%q,"$options":%q}}`, tt.literal, tt.options))
		if !slices.Equal(got, want) {
			t.Errorf("%q, options %q: %d rows, want %d", tt.literal, tt.options, len(got), len(want))
		}
	}
}
