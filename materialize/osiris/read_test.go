package osiris_test

import (
	"context"
	"errors"
	"iter"
	"reflect"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	osirisdb "vitrine/materialize/osiris"
	"vitrine/rules/osiris"
)

// source is a database in memory that can fail.
type source struct {
	docs map[string][]bson.Raw
	err  error
	read []string
}

func (s *source) Scan(_ context.Context, collection string) iter.Seq2[bson.Raw, error] {
	s.read = append(s.read, collection)
	return func(yield func(bson.Raw, error) bool) {
		for _, doc := range s.docs[collection] {
			if !yield(doc, nil) {
				return
			}
		}
		if s.err != nil {
			yield(nil, s.err)
		}
	}
}

func TestRead(t *testing.T) {
	src := &source{docs: map[string][]bson.Raw{
		osiris.General: {
			raw(t, bson.D{{Key: "_id", Value: 1}, {Key: "key", Value: "startyear"}, {Key: "value", Value: 2001}})},
		osiris.Fields: {raw(t, bson.D{{Key: "_id", Value: 1}, {Key: "id", Value: "a"}})},
	}}
	s, err := osirisdb.Read(t.Context(), src, osiris.ForAnswers()...)
	if err != nil || s.StartYear != 2001 || s.Render.Fields != nil {
		t.Errorf("got %+v, %v", s, err)
	}
	if !reflect.DeepEqual(src.read, osiris.ForAnswers()) {
		t.Errorf("read %v", src.read)
	}
	src.err = errors.New("gone")
	if _, err := osirisdb.Read(t.Context(), src, osiris.General); !errors.Is(err, src.err) ||
		!strings.Contains(err.Error(), "adminGeneral") {
		t.Errorf("error %v", err)
	}
}

func raw(t *testing.T, doc bson.D) bson.Raw {
	t.Helper()
	raw, err := bson.Marshal(doc)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}
