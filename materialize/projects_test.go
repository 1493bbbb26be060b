package materialize_test

import (
	"context"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/materialize"
)

// refers holds the references of a row in the form that rows store.
func refers(ref, id, name string) m {
	return m{{Key: "organizations",
		Value: bson.A{m{{Key: "ref", Value: ref}, {Key: "id", Value: id}, {Key: "name", Value: name}}}}}
}

func TestResolvedRows(t *testing.T) {
	deps := materialize.Deps{
		"organizations": {doc(m{{Key: "_id", Value: "moon"}, {Key: "name", Value: "Moon"}})},
		"persons": {
			doc(m{{Key: "_id", Value: 1}, {Key: "username", Value: "ann"}, {Key: "first", Value: "Ann"}})},
	}
	tests := []struct {
		name         string
		record, want m
	}{
		{"nothing to resolve",
			m{{Key: "_id", Value: 1}, {Key: "title", Value: "A"}},
			m{{Key: "_id", Value: 1}, {Key: "title", Value: "A"}}},
		{"an organisation",
			m{{Key: "_id", Value: 1}, {Key: "scholarship", Value: "moon"}},
			m{{Key: "_id", Value: 1}, {Key: "scholarship", Value: "moon"},
				{Key: "_resolved", Value: refers("moon", "moon", "Moon")}}},
		{"a person",
			m{{Key: "_id", Value: 1}, {Key: "contact", Value: "ann"}},
			m{{Key: "_id", Value: 1}, {Key: "contact", Value: "ann"}, {Key: "_resolved", Value: m{
				{Key: "persons", Value: bson.A{m{{Key: "user", Value: "ann"}, {Key: "name", Value: "Ann"}}}}}}}},
		{"the reserved field is ours",
			m{{Key: "_id", Value: 1}, {Key: "_resolved", Value: "forged"}, {Key: "title", Value: "A"}},
			m{{Key: "_id", Value: 1}, {Key: "title", Value: "A"}}},
	}
	for _, job := range []materialize.Job{materialize.Plain("projects"), materialize.Plain("proposals")} {
		row, err := job.Rows(deps)
		if err != nil {
			t.Fatal(err)
		}
		for _, tt := range tests {
			t.Run(job.View+" "+tt.name, func(t *testing.T) {
				got, err := row(context.Background(), doc(tt.record))
				if err != nil || string(got) != string(doc(tt.want)) {
					t.Errorf("got %s (%v), want %s", got, err, doc(tt.want))
				}
			})
		}
	}
}
