package materialize_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/origin"
	"vitrine/materialize"
	"vitrine/rules/spectrum"
)

// liveRows reads a view's rows by the text of their _id.
func liveRows(t *testing.T, views origin.Views, view string) map[string]bson.Raw {
	t.Helper()
	last := map[string]origin.Row{}
	_, err := views.Rows(t.Context(), view, 0, func(r origin.Row) error {
		if id := r.ID.String(); last[id].Generation <= r.Generation {
			last[id] = r
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	rows := map[string]bson.Raw{}
	for id, r := range last {
		if r.Doc != nil {
			rows[id] = r.Doc
		}
	}
	return rows
}

// topicRow has the fields of a row in an answer that the tests compare.
type topicRow struct {
	ID          string
	Description *string
	Count       int
	Share       float64
	Timeline    []struct{ Year, Count int }
	Units       []struct{ ID string }
	Researchers []struct{ Displayname string }
	Activities  []struct {
		Year int
		HTML string
	}
}

// spectrumIn returns the answer that a caller gets from the view at a time.
func spectrumIn(t *testing.T, views origin.Views, now time.Time) (spectrum.Totals, map[string]topicRow) {
	t.Helper()
	var totals spectrum.Totals
	topics := map[string]topicRow{}
	rows := liveRows(t, views, "spectrum")
	for _, row := range rows {
		if all, ok := spectrum.ReadTotals(row); ok {
			totals = all
		}
	}
	for _, row := range rows {
		if _, ok := spectrum.ReadTotals(row); ok {
			continue
		}
		var topic topicRow
		if err := json.Unmarshal(spectrum.AppendRow(nil, row, now.Year(), totals), &topic); err != nil {
			t.Fatal(err)
		}
		topics[topic.ID] = topic
	}
	return totals, topics
}

// paper is an affiliated activity with some topics, without a rendered document.
func paper(id, year int32, topics ...string) m {
	assigned := bson.A{}
	for _, topic := range topics {
		assigned = append(assigned, m{{Key: "id", Value: topic}, {Key: "score", Value: 0.9}})
	}
	return m{
		{Key: "_id", Value: id}, {Key: "affiliated", Value: true}, {Key: "year", Value: year},
		{Key: "units", Value: bson.A{"A"}},
		{Key: "catalog", Value: m{{Key: "topics", Value: assigned}}},
	}
}

// byAda renders every activity as one of ada's.
func byAda(bson.Raw) (bson.Raw, error) {
	return doc(m{{Key: "web", Value: "<b>paper</b>"}, {Key: "users", Value: bson.A{"ada"}}}), nil
}

// fillHouse stores the collections that the summary takes names and texts from.
func fillHouse(store house) {
	store.replace("groups", m{{Key: "_id", Value: 1}, {Key: "id", Value: "A"}, {Key: "parent", Value: "ROOT"}})
	store.replace("persons",
		m{{Key: "_id", Value: 1}, {Key: "username", Value: "ada"}, {Key: "displayname", Value: "Ada"}})
	store.replace("catalog_topics",
		m{{Key: "_id", Value: 1}, {Key: "id", Value: "T1"}, {Key: "description", Value: "About T1"}})
}

func spectrumRunner(t *testing.T, store house, o materialize.SpectrumOptions) *materialize.Runner {
	t.Helper()
	return newRunner(t, materialize.Options{Store: store, Jobs: []materialize.Job{materialize.Spectrum(o)}})
}

func TestSpectrum(t *testing.T) {
	onEachStore(t, func(t *testing.T, store house) {
		fillHouse(store)
		store.replace("activities", paper(1, 2024, "T1", "T2"), paper(2, 2025, "T1"), rec(3, "no topics"))
		r := spectrumRunner(t, store, materialize.SpectrumOptions{Options: spectrum.Options{Render: byAda},
			Fingerprint: func() string { return "rules/1" }})
		wantCounts(t, once(t, r, materialize.Request{}), materialize.Published,
			materialize.Counts{Scanned: 3, Rendered: 3, Changed: 3})

		totals, topics := spectrumIn(t, store, time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
		if want := (spectrum.Totals{Activities: 2, Topics: 2, Catalogue: true}); totals != want {
			t.Errorf("totals: got %+v, want %+v", totals, want)
		}
		t1, t2 := topics["T1"], topics["T2"]
		if t1.Count != 2 || t1.Share != 1 || t2.Count != 1 || t2.Share != 0.5 {
			t.Errorf("counts and shares: got %+v and %+v", t1, t2)
		}
		if t1.Description == nil || *t1.Description != "About T1" || t2.Description != nil {
			t.Errorf("descriptions: got %v and %v", t1.Description, t2.Description)
		}
		if len(t1.Units) != 1 || t1.Units[0].ID != "A" || len(t1.Researchers) != 1 ||
			t1.Researchers[0].Displayname != "Ada" {
			t.Errorf("related: got %+v", t1)
		}
		if len(t1.Activities) != 2 || t1.Activities[0].Year != 2025 || t1.Activities[0].HTML != "<b>paper</b>" {
			t.Errorf("activities: got %+v", t1.Activities)
		}
	})
}

func TestSpectrumPublishesWhatChanged(t *testing.T) {
	store := newFakeStore()
	fillHouse(store)
	steps := []struct {
		name       string
		activities []any
		result     materialize.Result
		changed    int
		removed    int
	}{
		{"first", []any{paper(1, 2024, "T1"), paper(2, 2024, "T2")}, materialize.Published, 3, 0},
		{"nothing", []any{paper(1, 2024, "T1"), paper(2, 2024, "T2")}, materialize.Unchanged, 0, 0},
		{"another order", []any{paper(2, 2024, "T2"), paper(1, 2024, "T1")}, materialize.Unchanged, 0, 0},
		{"a year", []any{paper(1, 2025, "T1"), paper(2, 2024, "T2")}, materialize.Published, 1, 0},
		{"what is not shown", []any{append(paper(1, 2025, "T1"), bson.E{Key: "doi", Value: "x"}),
			paper(2, 2024, "T2")}, materialize.Unchanged, 0, 0},
		{"one more", []any{paper(1, 2025, "T1"), paper(2, 2024, "T2"), paper(3, 2024, "T2")}, materialize.Published,
			2, 0},
		{"a topic without activities", []any{paper(1, 2025, "T1"), paper(2, 2024, "T1"), paper(3, 2024, "T1")},
			materialize.Published, 2, 1},
	}
	r := spectrumRunner(t, store, materialize.SpectrumOptions{Options: spectrum.Options{Render: byAda}})
	for _, s := range steps {
		store.replace("activities", s.activities...)
		out := once(t, r, materialize.Request{})
		if out.Result != s.result || out.Changed != s.changed || out.Removed != s.removed {
			t.Errorf("%s: got %s with %d changed and %d removed (%v), want %s with %d and %d",
				s.name, out.Result, out.Changed, out.Removed, out.Err, s.result, s.changed, s.removed)
		}
	}
}

// The clock crosses New Year, and no job runs.
func TestSpectrumAtNewYear(t *testing.T) {
	store := newFakeStore()
	fillHouse(store)
	store.replace("activities", paper(1, 2021, "T1"), paper(2, 2022, "T1"))
	once(t, spectrumRunner(t, store, materialize.SpectrumOptions{Options: spectrum.Options{Render: byAda}}),
		materialize.Request{})
	zone := time.FixedZone("UTC+1", 60*60)
	clock := time.Date(2026, time.December, 31, 22, 59, 59, 0, time.UTC).In(zone)
	for _, want := range []int{2, 1} { // activities in the last second of 2026 and the first of 2027
		if _, topics := spectrumIn(t, store, clock); len(topics["T1"].Activities) != want || topics["T1"].Count != 2 {
			t.Errorf("at %s: got %+v, want %d activities", clock, topics["T1"], want)
		}
		clock = clock.Add(time.Second)
	}
}

func TestSpectrumCatalogue(t *testing.T) {
	store := newFakeStore()
	fillHouse(store)
	store.replace("activities", paper(1, 2024, "T1"))
	unreadable := errors.New("unreadable")
	var fromFile []bson.Raw
	var fileErr error
	collection := spectrumRunner(t, store, materialize.SpectrumOptions{})
	file := spectrumRunner(t, store, materialize.SpectrumOptions{
		Catalogue: func(context.Context) ([]bson.Raw, error) { return fromFile, fileErr },
	})
	steps := []struct {
		name        string
		change      func()
		runner      *materialize.Runner
		err         error
		there       bool
		description string
	}{
		{"in the collection", func() {}, collection, nil, true, "About T1"},
		{"the collection is emptied", func() { store.replace("catalog_topics") }, collection, nil, false, ""},
		{"no file's topics", func() {}, file, nil, false, ""},
		{"in a file", func() {
			fromFile = []bson.Raw{doc(m{{Key: "id", Value: "T1"}, {Key: "description", Value: "filed"}})}
		}, file, nil, true, "filed"},
		{"a file that cannot be read leaves all as it was", func() { fromFile, fileErr = nil, unreadable }, file,
			unreadable, true, "filed"},
	}
	for _, s := range steps {
		s.change()
		if out := once(t, s.runner, materialize.Request{}); !errors.Is(out.Err, s.err) {
			t.Errorf("%s: got error %v, want %v", s.name, out.Err, s.err)
		}
		totals, topics := spectrumIn(t, store, time.Now())
		got := ""
		if d := topics["T1"].Description; d != nil {
			got = *d
		}
		if totals.Catalogue != s.there || got != s.description || topics["T1"].Count != 1 {
			t.Errorf("%s: got catalogue %t, description %q, count %d", s.name, totals.Catalogue, got,
				topics["T1"].Count)
		}
	}
}

func TestSpectrumOfWhatCannotBeRendered(t *testing.T) {
	broken := errors.New("no template")
	store := newFakeStore()
	fillHouse(store)
	store.replace("activities", paper(1, 2024, "T1"), paper(2, 2024, "T1"), paper(3, 2024, "T1"))
	out := once(t, spectrumRunner(t, store,
		materialize.SpectrumOptions{Options: spectrum.Options{Render: func(record bson.Raw) (bson.Raw, error) {
			switch record.Lookup("_id").Int32() {
			case 1:
				return nil, broken
			case 2:
				panic("template went mad")
			}
			return byAda(record)
		}}}), materialize.Request{})
	if out.Result != materialize.Published || out.Skipped != 2 || out.Skips[0].ID == "" ||
		!errors.Is(out.Skips[0].Err, broken) {
		t.Errorf("got %s, skips %v", out.Result, out.Skips)
	}
	if _, topics := spectrumIn(t, store, time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)); topics["T1"].Count != 3 ||
		len(topics["T1"].Activities) != 1 {
		t.Errorf("got %+v, want 3 counted and 1 listed", topics["T1"])
	}
}

func TestSpectrumKeepsTheViewIfTheScanFails(t *testing.T) {
	store := newFakeStore()
	fillHouse(store)
	store.replace("activities", paper(1, 2024, "T1"), paper(2, 2024, "T2"))
	r := spectrumRunner(t, store, materialize.SpectrumOptions{})
	once(t, r, materialize.Request{})
	scanned := 0
	store.onScan = func(_ context.Context, collection string) error {
		if scanned++; collection == "activities" && scanned > 1 {
			return errSilent
		}
		return nil
	}
	if out := once(t, r, materialize.Request{}); out.Result != materialize.Failed || !errors.Is(out.Err, errSilent) {
		t.Errorf("got %s (%v)", out.Result, out.Err)
	}
	if totals, topics := spectrumIn(t, store, time.Now()); totals.Activities != 2 || len(topics) != 2 {
		t.Errorf("the view changed: %+v", topics)
	}
}
