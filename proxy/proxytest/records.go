package proxytest

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/zstd"
	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/origin"
	"vitrine/proxy"
	"vitrine/rules"
	"vitrine/rules/access"
	"vitrine/rules/display"
	"vitrine/rules/filter"
	"vitrine/rules/label"
	"vitrine/rules/raw"
	"vitrine/rules/spectrum"
	"vitrine/rules/units"
)

// OfDepartment reads a collection of the small made-up department.
func OfDepartment(t testing.TB, collection string) []bson.Raw {
	t.Helper()
	return Documents(t, "testdata/department/"+collection+".jsonl")
}

// Department returns a store with the views of the department, made by their jobs.
func Department(t testing.TB) *Store {
	t.Helper()
	s := NewStore()
	persons, groups, activities := OfDepartment(t, "persons"), OfDepartment(t, "groups"), OfDepartment(t, "activities")
	s.Publish(rules.ViewPersons, persons...)
	s.Publish(rules.ViewActivities, activities...)
	s.Publish(rules.ViewEvents, OfDepartment(t, "conferences")...)
	s.Publish(rules.ViewDeadlines, OfDepartment(t, "deadlines")...)
	names := units.NewNames(groups)
	for _, p := range persons {
		row, err := names.Row(p)
		if err != nil {
			t.Fatal(err)
		}
		s.Publish(rules.ViewUserUnits, row)
	}
	s.Publish(rules.ViewSpectrum, Summary(t, OfDepartment(t, "catalogue"), activities)...)
	return s
}

// Summary returns the spectrum view of activities.
func Summary(t testing.TB, catalogue, activities []bson.Raw) []bson.Raw {
	t.Helper()
	sum := spectrum.New(spectrum.Options{}, spectrum.Sources{
		Catalogue: catalogue, Units: OfDepartment(t, "groups"), Persons: OfDepartment(t, "persons"),
	})
	at := map[string]int{}
	for n, a := range activities {
		if err := sum.Put(n, a); err != nil {
			t.Fatal(err)
		}
		at[raw.Key(a.Lookup("_id"))] = n
	}
	rows, err := sum.Rows(at, nil)
	if err != nil {
		t.Fatal(err)
	}
	return slices.Collect(rows)
}

// DepartmentOptions returns the options for the department's golden answers.
func DepartmentOptions(t testing.TB) proxy.Options {
	t.Helper()
	rights := access.New(access.Options{
		Anonymous: []access.Permission{access.PortfolioSpectrum},
	})
	o := Options(t)
	o.Access = rights
	o.Labels = label.Sets{
		label.Text: {"User not found": {EN: "User not found", DE: "Person nicht gefunden"}},
	}
	return o
}

// Records is a source of the institute's collections, in memory.
type Records struct {
	mu          sync.Mutex
	collections map[string][]bson.Raw
	asked       []string // collections requested from Find, in order
	err         error
	Held        chan struct{} // if not nil, Find waits until it is closed
}

// Find implements api.Records.
func (r *Records) Find(ctx context.Context, collection string, q origin.Query) iter.Seq2[bson.Raw, error] {
	return func(yield func(bson.Raw, error) bool) {
		r.mu.Lock()
		r.asked = append(r.asked, collection)
		docs, err, held := r.collections[collection], r.err, r.Held
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

// Times returns how often Find was called for a collection.
func (r *Records) Times(collection string) (n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, c := range r.asked {
		if c == collection {
			n++
		}
	}
	return n
}

// Set replaces a collection.
func (r *Records) Set(collection string, docs ...bson.Raw) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.collections == nil {
		r.collections = map[string][]bson.Raw{}
	}
	r.collections[collection] = docs
}

// Fail makes every Find fail, or succeed again.
func (r *Records) Fail(failing bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.err = nil
	if failing {
		r.err = errors.New("no route to the store")
	}
}

// Refresh publishes rows and waits until they are visible.
func (s *Site) Refresh(view string, rows ...bson.Raw) {
	s.T.Helper()
	s.Store.Publish(view, rows...)
	meta, err := s.Store.Meta(s.T.Context(), view)
	if err != nil {
		s.T.Fatal(err)
	}
	s.Views.Notify(view)
	for {
		snapshot, err := s.Views.Snapshot(view)
		if err != nil {
			s.T.Fatal(err)
		}
		if snapshot.Meta().Generation == meta.Generation {
			return
		}
		runtime.Gosched()
	}
}

// ofHoldings reads a collection of the small record set for tests of projects, proposals and searches.
func ofHoldings(t testing.TB, collection string) []bson.Raw {
	t.Helper()
	return Documents(t, "testdata/holdings/"+collection+".jsonl")
}

// Holdings returns a store with the views of that set, made by their jobs.
func Holdings(t testing.TB) *Store {
	t.Helper()
	s := NewStore()
	directory := display.NewDirectory(ofHoldings(t, "organizations"), ofHoldings(t, "persons"))
	for view, collection := range map[string]string{rules.ViewProjects: "projects", rules.ViewProposals: "proposals"} {
		for _, record := range ofHoldings(t, collection) {
			s.Publish(view, resolved(t, directory, record))
		}
	}
	s.Publish(rules.ViewJournals, ofHoldings(t, "journals")...)
	s.Publish(rules.ViewPersons, ofHoldings(t, "persons")...)
	s.Publish(rules.ViewActivities, ofHoldings(t, "activities")...)
	s.Publish(rules.ViewEvents, ofHoldings(t, "conferences")...)
	return s
}

// resolved returns a record's row.
func resolved(t testing.TB, d *display.Directory, record bson.Raw) bson.Raw {
	t.Helper()
	names := d.Resolve(record)
	if names == nil {
		return record
	}
	elements, err := record.Elements()
	if err != nil {
		t.Fatal(err)
	}
	row := bson.D{}
	for _, e := range elements {
		row = append(row, bson.E{Key: e.Key(), Value: e.Value()})
	}
	raw, err := bson.Marshal(append(row, bson.E{Key: display.Reserved, Value: names}))
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// HoldingsOptions returns options that let all callers see everything, in English.
func HoldingsOptions(t testing.TB) proxy.Options {
	t.Helper()
	rights := access.New(access.Options{Anonymous: []access.Permission{access.ProjectsView, access.ProposalsView}})
	o := Options(t)
	o.Access = rights
	o.Labels = label.Sets{
		label.ProjectType:   {"third-party": {EN: "Third-party funded", DE: "Drittmittel"}, "own": {EN: "Own", DE: "Eigen"}},
		label.Funder:        {"eu": {EN: "European Union", DE: "Europäische Union"}},
		label.ProjectRole:   {"partner": {EN: "Partner"}},
		label.ProjectStatus: {"ongoing": {EN: "Ongoing", DE: "Laufend"}},
		label.Text:          {"today": {EN: "today", DE: "heute"}},
	}
	return o
}

// Many returns a store of n activities with citations of some length.
func Many(t testing.TB, n int) *Store {
	t.Helper()
	s := NewStore()
	docs := make([]bson.Raw, n)
	for i := range docs {
		web := fmt.Sprintf("<a href='/activities/view/%d'>Activity %d</a> %s", i, i, strings.Repeat("lorem ipsum ", 20))
		doc, err := bson.Marshal(bson.D{
			{Key: "_id", Value: i}, {Key: "type", Value: "publication"}, {Key: "year", Value: 1990 + i%35},
			{Key: "title", Value: fmt.Sprint("Activity ", i)},
			{Key: "rendered", Value: bson.D{{Key: "web", Value: web}, {Key: "print", Value: web}, {Key: "icon", Value: "i"}, {Key: "type", Value: "Publications"}}},
		})
		if err != nil {
			t.Fatal(err)
		}
		docs[i] = doc
	}
	s.Publish(rules.ViewActivities, docs...)
	s.Publish(rules.ViewPersons)
	return s
}

// Plain returns the body of a response, decompressed.
func Plain(t *testing.T, res Response) string {
	t.Helper()
	var r io.Reader = bytes.NewReader(res.Body)
	var err error
	switch res.Header.Get("Content-Encoding") {
	case "gzip":
		r, err = gzip.NewReader(r)
	case "br":
		r = brotli.NewReader(r)
	case "zstd":
		var d *zstd.Decoder
		if d, err = zstd.NewReader(r); err == nil {
			defer d.Close()
			r = d
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// LockedBuffer collects log lines from several goroutines.
type LockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

// Write implements io.Writer.
func (l *LockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

// Taken returns the text written since its last call.
func (l *LockedBuffer) Taken() []byte {
	l.mu.Lock()
	defer l.mu.Unlock()
	text := bytes.Clone(l.b.Bytes())
	l.b.Reset()
	return text
}

// String returns the written text.
func (l *LockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// Secret is part of every text that answers must not contain.
const Secret = "Xyzzyqua"
