package mark_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/rules"
	"vitrine/rules/mark"
	"vitrine/rules/raw"
)

// names are the fields that marks depend on, and another one.
var names = []string{"_id", "id", "year", "start", "start_date", "type", "subtype", "units", "unit", "parent", "end",
	"authors", "editors",
	"supervisors", "persons", "participants", "contact", "user", "username", "first", "last", "orcid", "projects",
	"name", "name_de", "title", "topics", "catalog", "other"}

// value returns a value of any type, as hostile as a well-formed record can be.
func value(r *rand.Rand, depth int) any {
	texts := []string{"", "a", "b", "2021", "1", "true", "<script>", "a\u2028b", "\x00", "=1+1",
		"0000-0002-1825-0097"}
	scalars := []any{nil, true, false, int32(2021), int64(math.MaxInt64), math.NaN(), math.Inf(1), 2020.0,
		bson.NewDecimal128(1, 1), bson.Null{}, bson.Undefined{},
		bson.MinKey{}, bson.MaxKey{}, bson.DateTime(math.MinInt64), bson.DateTime(0), bson.NewObjectID(),
		bson.Regex{Pattern: "a"},
		bson.Binary{Data: []byte{255}}, bson.Symbol("a"), bson.JavaScript("a"), bson.Timestamp{T: 1}}
	switch n := r.IntN(10); {
	case n < 4:
		return texts[r.IntN(len(texts))]
	case n < 6 || depth == 0:
		return scalars[r.IntN(len(scalars))]
	case n < 8:
		list := make(bson.A, r.IntN(4))
		for i := range list {
			list[i] = value(r, depth-1)
		}
		return list
	}
	return document(r, depth-1)
}

func document(r *rand.Rand, depth int) bson.D {
	doc := bson.D{{Key: "public", Value: true}}
	for range r.IntN(12) {
		doc = append(doc, bson.E{Key: names[r.IntN(len(names))], Value: value(r, depth)})
	}
	return doc
}

// TestMakeOfAnything: every record has a valid mark with values of the promised types.
func TestMakeOfAnything(t *testing.T) {
	r := rand.New(rand.NewPCG(12, 2026))
	o := options(t, public)
	for range 300 {
		var docs []bson.Raw
		for range 10 {
			doc, err := bson.Marshal(document(r, 4))
			if err != nil {
				t.Fatal(err)
			}
			docs = append(docs, doc)
		}
		d := mark.NewDirectory(o, docs, docs, docs)
		for _, record := range docs {
			for _, view := range views {
				made, _, err := d.Make(view, record)
				if err != nil || made == nil || raw.Check(made) != nil {
					t.Fatalf("%s: %s gives %s, %v", view, record, made, err)
				}
				checkTypes(t, view, made)
			}
		}
	}
}

// checkTypes fails unless a mark has the types that lists rely on.
func checkTypes(t *testing.T, view string, made bson.Raw) {
	t.Helper()
	wrong := func(e raw.Element) { t.Fatalf("%s: %s is a %s in %s", view, e.Key, e.Type, made) }
	for e := range raw.All(made) {
		switch name := string(e.Key); name {
		case "public":
			if e.Type != bson.TypeBoolean {
				wrong(e)
			}
		case "year":
			if e.Type != bson.TypeInt32 {
				wrong(e)
			}
		case "type", "subtype":
			if e.Type != bson.TypeString {
				wrong(e)
			}
		default:
			for v := range raw.Elements(e.Value()) {
				doc, isDoc := v.DocumentOK()
				if isDoc == (name == "in") || isDoc && raw.StringField(doc, "id") == "" {
					wrong(e)
				}
			}
		}
	}
}

func BenchmarkMake(b *testing.B) {
	d := directory(b)
	record := parse(b, `{"type":"publication","subtype":"article","title":"Moths","year":2021,"units":["LAB","BIO","INST"],
		"authors":[{"first":"A","last":"B","user":"ann","units":["LAB"]},{"first":"A","last":"B","user":"bob"},{"last":"C"},{"last":"D"}],
		"projects":["MOTH"],"catalog":{"topics":[{"id":"T1","name":"Moths"},{"id":"T2","name":"Lamps"},{"id":"T3","name":"Light"}]}}`)
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := d.Make(rules.ViewActivities, record); err != nil {
			b.Fatal(err)
		}
	}
}
