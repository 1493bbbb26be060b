package display_test

import (
	"os"
	"regexp"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/rules/display"
	"vitrine/rules/ejson"
)

// TestStoredFields: a field that the built-in rules declare as markup passes the allow-list when it
// is answered as stored, at any depth; text does not change, nor do records without such markup.
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
		if got := string(display.AppendRecord(nil, doc)); got != string(ejson.AppendDocument(nil, want)) {
			t.Errorf("%s is answered as %s", field[1], got)
		}
		if got := display.Stored(field[1], doc.Lookup(field[1])); !got.Equal(want.Lookup(field[1])) {
			t.Errorf("column %s is answered as %s", field[1], got)
		}
	}
	same := marshal(t, bson.D{{Key: "title", Value: "AT&T <i>x</i>"}, {Key: "note", Value: script}})
	if got := string(display.AppendRecord(nil, same)); got != string(ejson.AppendDocument(nil, same)) {
		t.Errorf("%s became %s", same, got)
	}
}

// TestAppendRecord writes the record without the fields reserved for this program, and a broken
// record as far as it can be read.
func TestAppendRecord(t *testing.T) {
	for row, want := range map[string]string{
		`{}`:                                `{}`,
		`{"_id":1,"a":{"_resolved":2}}`:     `{"_id":1,"a":{"_resolved":2}}`,
		`{"_list":{"a":1},"_id":1}`:         `{"_id":1}`,
		`{"_id":1,"_resolved":{},"a":"x"}`:  `{"_id":1,"a":"x"}`,
		`{"a":"x","_list":1,"_resolved":2}`: `{"a":"x"}`,
	} {
		doc := parse(t, row)
		if got := string(display.AppendRecord([]byte("x"), doc)); got != "x"+want {
			t.Errorf("%s is written as %s", row, got)
		}
		if got := string(ejson.AppendDocument(nil, display.Strip(doc))); got != want {
			t.Errorf("%s, stripped, is %s", row, got)
		}
	}
	broken := marshal(t, bson.D{{Key: "a", Value: int32(1)}, {Key: "b", Value: "text"}})
	broken[len(broken)-2] = 'x' // the zero byte at the end of the text
	if got := string(display.AppendRecord(nil, broken)); got != `{"a":1}` {
		t.Errorf("broken row: %s", got)
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
