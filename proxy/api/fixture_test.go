package api_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"sync"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/citation"
	"vitrine/cache/origin"
	"vitrine/proxy"
	"vitrine/proxy/proxytest"
	"vitrine/rules"
	"vitrine/rules/access"
	"vitrine/rules/display"
	"vitrine/rules/filter"
	"vitrine/rules/label"
	"vitrine/rules/raw"
	"vitrine/rules/spectrum"
	"vitrine/rules/units"
)

// ofDepartment reads a collection of the small made-up department.
func ofDepartment(t testing.TB, collection string) []bson.Raw {
	t.Helper()
	return proxytest.Documents(t, "testdata/department/"+collection+".jsonl")
}

// department returns a store with the views of the department, made by their jobs.
func department(t testing.TB) *proxytest.Store {
	t.Helper()
	s := proxytest.NewStore()
	persons, groups, activities := ofDepartment(t, "persons"), ofDepartment(t, "groups"), ofDepartment(t,
		"activities")
	s.Publish(rules.ViewPersons, persons...)
	s.Publish(rules.ViewActivities, activities...)
	s.Publish(rules.ViewEvents, ofDepartment(t, "conferences")...)
	s.Publish(rules.ViewDeadlines, ofDepartment(t, "deadlines")...)
	names := units.NewNames(groups)
	for _, p := range persons {
		row, err := names.Row(p)
		if err != nil {
			t.Fatal(err)
		}
		s.Publish(rules.ViewUserUnits, row)
	}
	s.Publish(rules.ViewSpectrum, summary(t, ofDepartment(t, "catalogue"), activities)...)
	return s
}

// summary returns the spectrum view of activities.
func summary(t testing.TB, catalogue, activities []bson.Raw) []bson.Raw {
	t.Helper()
	sum := spectrum.New(spectrum.Options{}, spectrum.Sources{
		Catalogue: catalogue, Units: ofDepartment(t, "groups"), Persons: ofDepartment(t, "persons"),
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

// departmentOptions returns the options for the department's golden answers.
func departmentOptions(t testing.TB) proxy.Options {
	t.Helper()
	rights := access.New(access.Options{
		Anonymous: []access.Permission{access.PortfolioSpectrum},
	})
	o := proxytest.Options(t)
	o.Access = rights
	o.Labels = label.Sets{
		label.Text: {"User not found": {EN: "User not found", DE: "Person nicht gefunden"}},
	}
	return o
}

// sources is a source of the institute's collections, in memory.
type sources struct {
	mu          sync.Mutex
	collections map[string][]bson.Raw
	asked       []string // collections requested from Find, in order
	err         error
	held        chan struct{} // if not nil, Find waits until it is closed
}

// Find implements api.Records.
func (r *sources) Find(ctx context.Context, collection string, q origin.Query) iter.Seq2[bson.Raw, error] {
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

// times returns how often Find was called for a collection.
func (r *sources) times(collection string) (n int) {
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
func (r *sources) set(collection string, docs ...bson.Raw) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.collections == nil {
		r.collections = map[string][]bson.Raw{}
	}
	r.collections[collection] = docs
}

// fail makes every Find fail, or succeed again.
func (r *sources) fail(failing bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.err = nil
	if failing {
		r.err = errors.New("no route to the store")
	}
}

// ofHoldings reads a collection of the small record set for tests of projects, proposals and searches.
func ofHoldings(t testing.TB, collection string) []bson.Raw {
	t.Helper()
	return proxytest.Documents(t, "testdata/holdings/"+collection+".jsonl")
}

// holdings returns a store with the views of that set, made by their jobs.
func holdings(t testing.TB) *proxytest.Store {
	t.Helper()
	s := proxytest.NewStore()
	directory := display.NewDirectory(ofHoldings(t, "organizations"), ofHoldings(t, "persons"))
	for view, collection := range map[string]string{rules.ViewProjects: "projects",
		rules.ViewProposals: "proposals"} {
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

// holdingsOptions returns options that let all callers see everything, in English.
func holdingsOptions(t testing.TB) proxy.Options {
	t.Helper()
	rights := access.New(access.Options{Anonymous: []access.Permission{access.ProjectsView, access.ProposalsView}})
	o := proxytest.Options(t)
	o.Access = rights
	o.Labels = label.Sets{
		label.ProjectType: {"third-party": {EN: "Third-party funded", DE: "Drittmittel"},
			"own": {EN: "Own", DE: "Eigen"}},
		label.Funder:        {"eu": {EN: "European Union", DE: "Europäische Union"}},
		label.ProjectRole:   {"partner": {EN: "Partner"}},
		label.ProjectStatus: {"ongoing": {EN: "Ongoing", DE: "Laufend"}},
		label.Text:          {"today": {EN: "today", DE: "heute"}},
	}
	return o
}

// The content of the citation index.
const (
	knownProfile = `{"total_citations":"1.234","citations_per_year":{"2023":"7"},"publications":[` +
		`{"title":"A \u003cb\u003e \u0026 c","link":"u-x6o8","authors":"A Ahn","venue":"Soil 1","citations":"7",` +
		`"year":"2023"},` +
		`{"title":"B","link":"qjMa","authors":"B Bee","venue":"","citations":0,"year":0}]}`
	emptyProfile  = `{"total_citations":null,"citations_per_year":[],"publications":[]}`
	knownDocument = `{"title":"A","doi":"","Autoren":["A Ahn","B Bee"],"Band":"3"}`
)

// citations is a citation index with one profile and one document.
type citations struct {
	asked []string
}

// Profile returns the profile of the known user.
func (x *citations) Profile(_ context.Context, user string) (citation.Answer, error) {
	x.asked = append(x.asked, user)
	switch user {
	case "Known":
		return citation.Answer{Age: time.Hour, Text: []byte(knownProfile)}, nil
	case "Empty":
		return citation.Answer{Age: time.Hour, Stale: true, Text: []byte(emptyProfile)}, nil
	case "Blocked":
		return citation.Answer{}, fmt.Errorf("page: %w", citation.ErrBlocked)
	case "Slow":
		return citation.Answer{}, fmt.Errorf("wait: %w", context.DeadlineExceeded)
	case "Broken":
		return citation.Answer{}, errors.New("a secret of the house")
	}
	return citation.Answer{}, fmt.Errorf("citation index: %w", rules.ErrNotFound)
}

// Document returns the known document.
func (x *citations) Document(_ context.Context, user, doc string) (citation.Answer, error) {
	x.asked = append(x.asked, user+":"+doc)
	if doc == "" {
		return citation.Answer{}, rules.Wrongf("doc", "", "want 1 to 64 characters")
	}
	return citation.Answer{Text: []byte(knownDocument)}, nil
}

// Knows reports whether a user is the known one.
func (x *citations) Knows(user string) bool { return user == "Known" }
