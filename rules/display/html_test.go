package display_test

import (
	"os"
	"regexp"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/rules/display"
)

// TestStoredFields: a field that the built-in rules declare to hold markup passes the
// allow-list where it is answered as stored, at any depth; text stays, and so does a
// record without such markup.
func TestStoredFields(t *testing.T) {
	src, err := os.ReadFile("../../configs/rules/activities.yaml")
	if err != nil {
		t.Fatal(err)
	}
	const script, safe = "<script>x</script>", "&lt;script&gt;x&lt;/script&gt;"
	declared := regexp.MustCompile(`(?m)^  (\S+): markup$`).FindAllStringSubmatch(string(src), -1)
	if len(declared) < 6 {
		t.Fatalf("the rules declare %d fields to hold markup", len(declared))
	}
	for _, field := range declared {
		doc := marshal(t, bson.D{
			{Key: "text", Value: script},
			{Key: field[1], Value: bson.A{int32(1), script, bson.D{{Key: "en", Value: script}}}},
		})
		want := marshal(t, bson.D{
			{Key: "text", Value: script},
			{Key: field[1], Value: bson.A{int32(1), safe, bson.D{{Key: "en", Value: safe}}}},
		})
		if got := display.StoredRecord(doc); got.String() != want.String() || got.Validate() != nil {
			t.Errorf("%s leaves as %s", field[1], got)
		}
		if got := display.Stored(field[1], doc.Lookup(field[1])); !got.Equal(want.Lookup(field[1])) {
			t.Errorf("column %s leaves as %s", field[1], got)
		}
	}
	same := marshal(t, bson.D{{Key: "title", Value: "AT&T <i>x</i>"}, {Key: "note", Value: script}})
	if got := display.StoredRecord(same); got.String() != same.String() {
		t.Errorf("%s became %s", same, got)
	}
}

func marshal(t *testing.T, doc bson.D) bson.Raw {
	t.Helper()
	raw, err := bson.Marshal(doc)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}
