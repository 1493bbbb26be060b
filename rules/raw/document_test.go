package raw_test

import (
	"bytes"
	"errors"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/rules/ejson"
	"vitrine/rules/raw"
)

func TestEdits(t *testing.T) {
	two := bson.RawValue{Type: bson.TypeInt32, Value: []byte{2, 0, 0, 0}}
	tests := []struct {
		name, doc string
		edit      func(bson.Raw) (bson.Raw, error)
		want      string
	}{
		{"set in place", `{"a": 1, "b": "x", "c": 3}`,
			func(d bson.Raw) (bson.Raw, error) { return raw.SetField(d, "b", two) }, `{"a":1,"b":2,"c":3}`},
		{"set at the end", `{"a": 1}`, func(d bson.Raw) (bson.Raw, error) { return raw.SetField(d, "b", two) },
			`{"a":1,"b":2}`},
		{"set in an empty document", `{}`, func(d bson.Raw) (bson.Raw, error) { return raw.SetField(d, "b", two) },
			`{"b":2}`},
		{"put an _id", `{"a": 1}`, func(d bson.Raw) (bson.Raw, error) { return raw.PutID(d, two) },
			`{"_id":2,"a":1}`},
		{"put another _id", `{"a": 1, "_id": 7}`, func(d bson.Raw) (bson.Raw, error) { return raw.PutID(d, two) },
			`{"_id":2,"a":1}`},
		{"project", `{"a": 1, "_id": 7, "b": 2}`,
			func(d bson.Raw) (bson.Raw, error) { return raw.Project(d, []string{"b"}) }, `{"_id":7,"b":2}`},
		{"project nothing", `{"a": 1}`, func(d bson.Raw) (bson.Raw, error) { return raw.Project(d, nil) }, `{}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d := doc(t, tt.doc)
			before := string(d)
			got, err := tt.edit(d)
			if err != nil || raw.Check(got) != nil || string(ejson.AppendDocument(nil, got)) != tt.want {
				t.Errorf("got %s, %v, want %s", got, err, tt.want)
			}
			if string(d) != before {
				t.Error("the document was changed")
			}
		})
	}
}

func TestEditsOfBrokenDocuments(t *testing.T) {
	for name, d := range map[string]bson.Raw{"nothing": nil, "cut off": {9, 0, 0, 0, 0},
		"broken value": {9, 0, 0, 0, 0x10, 'a', 0, 1, 0}} {
		if _, err := raw.SetField(d, "a", bson.RawValue{Type: bson.TypeNull}); err == nil {
			t.Errorf("SetField of %s: no error", name)
		}
		if _, err := raw.Project(d, []string{"a"}); err == nil {
			t.Errorf("Project of %s: no error", name)
		}
		if _, err := raw.ValidID(d); err == nil {
			t.Errorf("ValidID of %s: no error", name)
		}
		if _, err := raw.ID(d); !errors.Is(err, raw.ErrNoID) {
			t.Errorf("ID of %s: %v", name, err)
		}
	}
}

// TestBuilderAddsStrings: strings that a Builder writes in place equal those that it adds as
// values.
func TestBuilderAddsStrings(t *testing.T) {
	var got, want raw.Builder
	for _, s := range []string{"", "a", "b\x00c", "ä", "<script>", "\xff"} {
		got.AddString("text", s)
		want.Add("text", raw.NewString(s))
	}
	if g, w := got.Document(), want.Document(); !bytes.Equal(g, w) {
		t.Errorf("got  % x\nwant % x", []byte(g), []byte(w))
	}
}
