package registry

import (
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/origin"
)

// TestLeaseOfAnyDocument: a lease comes back from BSON unchanged; a document that is not one is a free lease, which
// keeps the token and the revision if these can be read.
func TestLeaseOfAnyDocument(t *testing.T) {
	whole := Lease{
		Lease:    origin.Lease{Name: "l", Holder: "a", Token: 7, Expires: storedTime(time.Unix(1e9, 0))},
		Revision: Revision{9}, Term: time.Minute,
	}
	with := func(field string, v any) bson.Raw {
		doc := bson.D{{Key: "_id", Value: "l"}, {Key: "holder", Value: "a"}, {Key: "token", Value: int64(7)},
			{Key: "expires", Value: whole.Expires}, {Key: "rev", Value: int64(9)},
			{Key: "term", Value: int64(time.Minute)}}
		for i := range doc {
			if doc[i].Key == field {
				doc[i].Value = v
			}
		}
		raw, err := bson.Marshal(doc)
		if err != nil {
			t.Fatal(err)
		}
		return raw
	}
	free := func(token, revision uint64) Lease {
		return Lease{Lease: origin.Lease{Token: token}, Revision: Revision{revision}}
	}
	for name, c := range map[string]struct {
		doc  bson.Raw
		want Lease
	}{
		"whole":                 {with("", nil), whole},
		"integers as doubles":   {with("rev", 9.0), whole},
		"a holder of 7":         {with("holder", 7), free(7, 9)},
		"a term in words":       {with("term", "30s"), free(7, 9)},
		"a token in words":      {with("token", "seven"), free(0, 9)},
		"a negative token":      {with("token", -7), free(0, 9)},
		"a revision of 9.5":     {with("rev", 9.5), free(7, 0)},
		"no number, a document": {with("rev", bson.D{}), free(7, 0)},
		"no time":               {with("expires", "soon"), free(7, 9)},
		"cut off":               {with("", nil)[:20], free(0, 0)},
		"nothing":               {nil, free(0, 0)},
	} {
		got := Lease{Lease: origin.Lease{Holder: "before"}, Term: time.Hour}
		if err := got.UnmarshalBSON(c.doc); err != nil || got != c.want {
			t.Errorf("%s: %+v, %v; want %+v", name, got, err, c.want)
		}
		if got.current() != (got == whole) {
			t.Errorf("%s: current is %t", name, got.current())
		}
	}
}

// TestLeaseWithoutTerm: a term in which no lease runs out makes it free.
func TestLeaseWithoutTerm(t *testing.T) {
	for term, want := range map[time.Duration]bool{
		-1: false, 0: false, 1: true, origin.MaxTerm: true, origin.MaxTerm + 1: false,
		100 * 365 * 24 * time.Hour: false,
	} {
		if got := (Lease{Lease: origin.Lease{Holder: "a"}, Term: term}).current(); got != want {
			t.Errorf("term %v: current is %t", term, got)
		}
	}
}
