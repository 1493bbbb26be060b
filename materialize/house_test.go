package materialize_test

import (
	"cmp"
	"context"
	"errors"
	"io"
	"iter"
	"log/slog"
	"maps"
	"sync/atomic"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/origin"
	"vitrine/materialize"
)

// m is short for a document.
type m = bson.D

// rec is a source record: an id and a title.
func rec(id int32, title string) m { return m{{Key: "_id", Value: id}, {Key: "title", Value: title}} }

// quiet is a logger that discards everything, for tests that check what they need themselves.
func quiet() *slog.Logger { return slog.New(slog.NewTextHandler(io.Discard, nil)) }

// shouting is a job that adds a mark to each record's title, counts its renders, and fails on some
// titles.
type shouting struct {
	renders atomic.Int64
	rules   string
	deps    []string
}

func (s *shouting) job() materialize.Job {
	return materialize.Job{
		View: "loud", Source: "records", Deps: s.deps, Fingerprint: s.rules,
		Rows: func(deps materialize.Deps) (materialize.RowFunc, error) {
			mark := s.rules
			for _, d := range deps["marks"] {
				mark += d.Lookup("mark").StringValue()
			}
			return func(_ context.Context, record bson.Raw) (bson.Raw, error) {
				s.renders.Add(1)
				return shout(record, mark)
			}, nil
		},
	}
}

func shout(record bson.Raw, mark string) (bson.Raw, error) {
	title := record.Lookup("title").StringValue()
	switch title {
	case "refused":
		return nil, errors.New("no template")
	case "panics":
		panic("template went mad")
	case "hidden":
		return nil, nil
	case "malformed":
		return bson.Raw{1, 2, 3}, nil
	case "astray":
		return doc(rec(2, "b")), nil
	case "huge":
		return doc(m{{Key: "_id", Value: record.Lookup("_id")}, {Key: "x", Value: make([]byte, 16<<20)}}), nil
	}
	return doc(m{{Key: "_id", Value: record.Lookup("_id")}, {Key: "loud", Value: title + mark}}), nil
}

// newRunner makes a runner and fills in the options that all tests share.
func newRunner(t testing.TB, o materialize.Options) *materialize.Runner {
	t.Helper()
	if o.Log == nil {
		o.Log = quiet()
	}
	o.Lease = cmp.Or(o.Lease, 30*time.Second)
	r, err := materialize.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// once runs all jobs once and returns the only outcome.
func once(t testing.TB, r *materialize.Runner, q materialize.Request) materialize.Outcome {
	t.Helper()
	outs, err := r.RunOnce(t.Context(), q, nil)
	if err != nil || len(outs) != 1 {
		t.Fatalf("RunOnce: %d outcomes, error %v", len(outs), err)
	}
	return outs[0]
}

// loud reads the view "loud" as a map from ids to texts.
func loud(t testing.TB, views origin.Views) map[int32]string {
	t.Helper()
	got := map[int32]string{}
	newest := map[int32]uint64{}
	meta, err := views.Rows(t.Context(), "loud", 0, func(r origin.Row) error {
		id := r.ID.Int32()
		if r.Generation >= newest[id] {
			newest[id] = r.Generation
			delete(got, id)
			if r.Doc != nil {
				got[id] = r.Doc.Lookup("loud").StringValue()
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if meta.Rows != len(got) {
		t.Errorf("%d rows in the meta, %d in the view", meta.Rows, len(got))
	}
	return got
}

func wantLoud(t testing.TB, views origin.Views, want map[int32]string) {
	t.Helper()
	if got := loud(t, views); !maps.Equal(got, want) {
		t.Errorf("view: got %v, want %v", got, want)
	}
}

func wantCounts(t testing.TB, out materialize.Outcome, result materialize.Result, want materialize.Counts) {
	t.Helper()
	if out.Result != result || out.Counts != want {
		t.Errorf("outcome: got %s %+v (%v), want %s %+v", out.Result, out.Counts, out.Err, result, want)
	}
}

// house is a store whose source collections a test can set.
type house interface {
	materialize.Store
	replace(collection string, docs ...any)
}

// lengths is a summary: it joins the titles of each length.
func lengths(_ context.Context, in materialize.Input) (iter.Seq[bson.Raw], error) {
	joined := map[int]string{}
	for record, err := range in.Records {
		if err != nil {
			return nil, err
		}
		switch title := record.Lookup("title").StringValue(); title {
		case "refused":
			in.Skip(record.Lookup("_id"), errors.New("too long"))
		case "panics":
			panic("no such length")
		default:
			joined[len(title)] += title
		}
	}
	return func(yield func(bson.Raw) bool) {
		for n, titles := range joined {
			if !yield(doc(m{{Key: "_id", Value: int32(n)}, {Key: "loud", Value: titles}})) {
				return
			}
		}
	}, nil
}
