package bench

import (
	"bytes"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"pgregory.net/rapid"
)

// shapes has a few activities, one of every shape that matters here.
func shapes(t testing.TB) []bson.Raw {
	t.Helper()
	const hex = "6222925f11fe5694aadce6b7"
	lines := []string{
		`{"_id":{"$oid":"` + hex + `"},"type":"review","title":"Review of Doctor Recommendation through Expertise Learning",
		  "authors":[{"last":"A","user":"ada","units":["IE"],"affiliated":true},{"last":"B","user":null},{"last":"C","user":"cem"}],
		  "year":2022,"start_date":"2022-05-15","end_date":null,"units":["IE","NLP"],"doi":"10.5555/1",
		  "rendered":{"web":"<a href='/activities/view/` + hex + `'>Review of Doctor Recommendation through Expertise Learning</a> <a href='/profile/ada'>A</a> (2022)",
		    "title":"Review of Doctor Recommendation through Expertise Learning","users":["ada","cem"],"quarter":"2022Q2"}}`,
		`{"_id":{"$oid":"7d752062dad867dc44abbf0a"},"type":"lecture","title":"Words &amp; Worlds Wandering","authors":[],"year":"1999","units":null,
		  "rendered":{"web":"Words &amp;amp; Worlds Wandering","users":[]}}`,
		`{"_id":7,"type":"software","authors":[{"user":"eve"}],"units":["HPC"]}`,
	}
	all := make([]bson.Raw, len(lines))
	for i, line := range lines {
		if err := bson.UnmarshalExtJSON([]byte(line), false, &all[i]); err != nil {
			t.Fatal(err)
		}
	}
	return all
}

// TestVariations: every variation has a fresh id, and the fields and types of its original.
func TestVariations(t *testing.T) {
	own := shapes(t)
	rapid.Check(t, func(t *rapid.T) {
		i := rapid.IntRange(len(own), 2_000_000).Draw(t, "i")
		got, err := variation(own, i)
		if err != nil {
			t.Fatal(err)
		}
		if again, _ := variation(own, i); !bytes.Equal(again, got) {
			t.Fatalf("two variations with the same number differ:\n%v\n%v", got, again)
		}
		if next, _ := variation(own, i+1); got.Lookup("_id").ObjectID().Hex() >= next.Lookup("_id").ObjectID().Hex() {
			t.Errorf("the ids of activities %d and %d do not ascend", i, i+1)
		}
		from := own[i%len(own)]
		sameShape(t, from, got)
	})
}

// sameShape checks that a variation has the fields of the original, in order and of
// the same types; an id may be of another type.
func sameShape(t *rapid.T, from, got bson.Raw) {
	want, _ := from.Elements()
	have, _ := got.Elements()
	if len(want) != len(have) {
		t.Fatalf("fields: got %v, want those of %v", got, from)
	}
	for i := range want {
		if want[i].Key() != have[i].Key() || want[i].Value().Type != have[i].Value().Type && want[i].Key() != "_id" {
			t.Errorf("field %d: got %v, want one like %v", i, have[i], want[i])
		}
	}
}

func TestVariationsDiffer(t *testing.T) {
	own := shapes(t)
	authors, titles := map[string]bool{}, map[string]bool{}
	for i := 3; i < 1200; i += 3 {
		raw, err := variation(own, i)
		if err != nil {
			t.Fatal(err)
		}
		authors[raw.Lookup("authors").String()] = true
		titles[raw.Lookup("title").StringValue()] = true
	}
	if len(authors) != 3 || len(titles) < 40 {
		t.Errorf("400 variations have %d lists of authors, %d titles", len(authors), len(titles))
	}
}

// TestIrregularRecords: a variation keeps the fields that it does not understand.
func TestIrregularRecords(t *testing.T) {
	for name, tt := range map[string]struct {
		record string
		same   []string // fields that keep their values
	}{
		"no year": {`{"_id":1,"start_date":"2000-02-03"}`, []string{"start_date"}},
		"authors that are not documents": {`{"_id":1,"authors":["x",7,null],"units":7}`,
			[]string{"authors", "units"}},
		"a title without words":    {`{"_id":1,"title":"","doi":""}`, []string{"title", "doi"}},
		"a title that is not text": {`{"_id":1,"title":{"de":"Titel"}}`, []string{"title"}},
		"a rendering that is not a document": {`{"_id":1,"title":"Plain words only","rendered":"x"}`,
			[]string{"rendered"}},
	} {
		var record bson.Raw
		if err := bson.UnmarshalExtJSON([]byte(tt.record), false, &record); err != nil {
			t.Fatal(err)
		}
		for i := 1; i < 50; i++ {
			got, err := variation([]bson.Raw{record}, i)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			for _, field := range tt.same {
				if !got.Lookup(field).Equal(record.Lookup(field)) {
					t.Errorf("%s: %s became %v", name, field, got.Lookup(field))
				}
			}
		}
	}
}

func BenchmarkVariation(b *testing.B) {
	own := shapes(b)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		if _, err := variation(own, 3+3*i); err != nil {
			b.Fatal(err)
		}
	}
}
