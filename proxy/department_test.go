package proxy_test

import (
	"context"
	"errors"
	"iter"
	"runtime"
	"sync"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/origin"
	"vitrine/proxy"
	"vitrine/rules"
	"vitrine/rules/access"
	"vitrine/rules/filter"
	"vitrine/rules/label"
	"vitrine/rules/spectrum"
	"vitrine/rules/units"
)

// ofDepartment reads a collection of the small made-up department.
func ofDepartment(t testing.TB, collection string) []bson.Raw {
	t.Helper()
	return documents(t, "testdata/department/"+collection+".jsonl")
}

// department is a store with the views of the department, as their jobs make them.
func department(t testing.TB) *store {
	t.Helper()
	s := newStore()
	persons, groups, activities := ofDepartment(t, "persons"), ofDepartment(t, "groups"), ofDepartment(t, "activities")
	s.publish(rules.ViewPersons, persons...)
	s.publish(rules.ViewActivities, activities...)
	s.publish(rules.ViewEvents, ofDepartment(t, "conferences")...)
	s.publish(rules.ViewDeadlines, ofDepartment(t, "deadlines")...)
	names := units.NewNames(groups)
	for _, p := range persons {
		row, err := names.Row(p)
		if err != nil {
			t.Fatal(err)
		}
		s.publish(rules.ViewUserUnits, row)
	}
	s.publish(rules.ViewSpectrum, summary(t, ofDepartment(t, "catalogue"), activities)...)
	return s
}

// summary is the spectrum view of activities.
func summary(t testing.TB, catalogue, activities []bson.Raw) []bson.Raw {
	t.Helper()
	sum := spectrum.New(spectrum.Options{}, spectrum.Sources{
		Catalogue: catalogue, Units: ofDepartment(t, "groups"), Persons: ofDepartment(t, "persons"),
	})
	for _, a := range activities {
		if err := sum.Add(a); err != nil {
			t.Fatal(err)
		}
	}
	var rows []bson.Raw
	for row := range sum.Rows() {
		rows = append(rows, row)
	}
	return rows
}

// departmentOptions are those of the department's golden answers.
func departmentOptions(t testing.TB) proxy.Options {
	t.Helper()
	rights := access.New(access.Options{
		Anonymous: []access.Permission{access.PortfolioSpectrum},
	})
	o := options(t)
	o.Access = rights
	o.Labels = label.Sets{
		label.Text: {"User not found": {EN: "User not found", DE: "Person nicht gefunden"}},
	}
	return o
}

// records is a source of the institute's collections, held in memory.
type records struct {
	mu          sync.Mutex
	collections map[string][]bson.Raw
	asked       []string // the collections of Find, in order
	err         error
	held        chan struct{} // if not nil, Find waits until it is closed
}

func (r *records) Find(ctx context.Context, collection string, q origin.Query) iter.Seq2[bson.Raw, error] {
	return func(yield func(bson.Raw, error) bool) {
		r.mu.Lock()
		r.asked = append(r.asked, collection)
		docs, err, held := r.collections[collection], r.err, r.held
		r.mu.Unlock()
		if held != nil {
			<-held
		}
		f := filter.All()
		if err == nil && q.Filter != nil {
			f, err = filter.FromBSON(q.Filter, filter.Options{})
		}
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			yield(nil, err)
			return
		}
		for _, doc := range docs {
			if ok, err := f.Match(doc); (ok || err != nil) && !yield(doc, err) {
				return
			}
		}
	}
}

// times returns how often a collection was asked for.
func (r *records) times(collection string) (n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, c := range r.asked {
		if c == collection {
			n++
		}
	}
	return n
}

// set replaces a collection.
func (r *records) set(collection string, docs ...bson.Raw) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.collections == nil {
		r.collections = map[string][]bson.Raw{}
	}
	r.collections[collection] = docs
}

// fail makes every Find fail, or none.
func (r *records) fail(failing bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.err = nil
	if failing {
		r.err = errors.New("no route to the store")
	}
}

// refresh publishes rows and waits until they are seen.
func (s *site) refresh(view string, rows ...bson.Raw) {
	s.t.Helper()
	s.store.publish(view, rows...)
	meta, err := s.store.Meta(s.t.Context(), view)
	if err != nil {
		s.t.Fatal(err)
	}
	s.views.Notify(view)
	for {
		snapshot, err := s.views.Snapshot(view)
		if err != nil {
			s.t.Fatal(err)
		}
		if snapshot.Meta().Generation == meta.Generation {
			return
		}
		runtime.Gosched()
	}
}
