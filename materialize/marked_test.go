package materialize_test

import (
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/materialize"
	"vitrine/rules/ejson"
	"vitrine/rules/filter"
	"vitrine/rules/mark"
)

// docOf parses a document from JSON.
func docOf(t testing.TB, json string) bson.Raw {
	t.Helper()
	d, err := ejson.Parse([]byte(json), ejson.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// marked holds the options of a test: a filter that it may change, and its clock.
type marked struct {
	public string
	now    time.Time
}

func (o *marked) options() mark.Options {
	f, err := filter.Parse([]byte(o.public), filter.Options{})
	if err != nil {
		panic(err)
	}
	return mark.Options{Public: f, Now: o.now}
}

// marksOf returns the marks of a view's rows by _id, "-" for rows without one. It leaves out the
// time at which the record was entered, which all marks have.
func marksOf(t *testing.T, store house, view string) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, row := range liveRows(t, store, view) {
		text := "-"
		if m := mark.Of(row); m != nil {
			text = string(ejson.AppendDocument(nil, m))
			entered := fmt.Sprintf(`,"entered":%d}`, mark.EnteredOf(row))
			if !strings.HasSuffix(text, entered) {
				t.Errorf("%s does not end with %s", text, entered)
			}
			text = strings.TrimSuffix(text, entered) + "}"
		}
		all[ejson.IDText(row.Lookup("_id"))] = text
	}
	return all
}

// TestMarksFollow: if a change makes a record public or not, or changes the content of its mark,
// the next run renders exactly the rows concerned.
func TestMarksFollow(t *testing.T) {
	onEachStore(t, func(t *testing.T, store house) {
		set := func(collection string, docs ...string) {
			var all []any
			for _, d := range docs {
				all = append(all, docOf(t, d))
			}
			store.replace(collection, all...)
		}
		o := &marked{public: `{"hide":{"$ne":true},"workflow.status":{"$ne":"rejected"}}`,
			now: time.Date(2026, 11, 22, 23, 0, 0, 0, time.UTC)}
		r := newRunner(t, materialize.Options{Store: store, Jobs: []materialize.Job{
			materialize.Marked(materialize.Activities(func(bson.Raw) (bson.Raw, error) { return doc(m{}), nil },
				"rules/1"), o.options),
		}})
		const (
			byAnn = `{"_id":"1","authors":[{"user":"ann"}],"units":["LAB"]}`
			byBob = `{"_id":"2","authors":[{"user":"bob"}],"projects":"MOTH"}`
			alone = `{"_id":"3","year":"2021","type":"talk"}`
		)
		persons := []string{`{"_id":1,"username":"ann","last":"Ada"}`, `{"_id":2,"username":"bob","last":"Bob"}`,
			`{"_id":3,"username":"eve","last":"Eve"}`}
		groups := []string{`{"_id":1,"id":"LAB","name":"Lab","parent":"INST"}`,
			`{"_id":2,"id":"INST","name":"Institute"}`}
		set("activities", byAnn, byBob, alone)
		set("persons", persons...)
		set("groups", groups...)
		set("projects", `{"_id":1,"name":"MOTH","title":"Moths","public":true}`)
		tests := []struct {
			name    string
			change  func()
			changed int
			id, has string // a row, and a part of its mark
		}{
			{"at first", func() {}, 3, "1", `"persons":[{"id":"ann","name":"Ada"}]`},
			{"nothing", func() {}, 0, "1", `"in":["LAB","INST"]`},
			{"a record is hidden", func() {
				set("activities", byAnn, byBob, `{"_id":"3","year":"2021","hide":true}`)
			}, 1, "3", "-"},
			{"a record is shown again", func() { set("activities", byAnn, byBob, alone) }, 1, "3",
				`{"public":true,"type":"talk"}`},
			{"a record is rejected", func() {
				set("activities", byAnn, byBob, `{"_id":"3","workflow":{"status":"rejected"}}`)
			}, 1, "3", "-"},
			{"a record brings a mark of its own", func() {
				set("activities", byAnn, byBob, `{"_id":"3","hide":true,"_list":{"public":true}}`)
			}, 1, "3", "-"},
			{"a unit is renamed", func() {
				set("groups", `{"_id":1,"id":"LAB","name":"Labor","parent":"INST"}`, groups[1])
			}, 1, "1", `"units":[{"id":"LAB","name":"Labor"}]`},
			{"a unit moves", func() { set("groups", `{"_id":1,"id":"LAB","name":"Labor"}`, groups[1]) }, 1, "1",
				`"in":["LAB"]`},
			{"a unit that no row has", func() {
				set("groups", `{"_id":1,"id":"LAB","name":"Labor"}`, `{"_id":2,"id":"INST"}`)
			}, 0, "1", `"in":["LAB"]`},
			{"a person is hidden", func() {
				set("persons", persons[0], `{"_id":2,"username":"bob","last":"Bob","hide":true}`, persons[2])
			}, 1, "2", `{"public":true,"projects":[{"id":"MOTH","title":"Moths"}]}`},
			{"a person changes otherwise", func() {
				set("persons", `{"_id":1,"username":"ann","last":"Ada","mail":"x"}`,
					`{"_id":2,"username":"bob","last":"Bob","hide":true}`, persons[2])
			}, 0, "1", `"id":"ann"`},
			{"a project is no longer public", func() { set("projects", `{"_id":1,"name":"MOTH","title":"Moths"}`) },
				1, "2", `{"public":true}`},
			{"another rule for what is public",
				func() { o.public = `{"year":{"$exists":false},"authors.user":{"$ne":"bob"}}` }, 2, "2", "-"},
		}
		for _, tt := range tests {
			tt.change()
			want := materialize.Counts{Scanned: 3, Rendered: tt.changed, Changed: tt.changed}
			result := materialize.Published
			if tt.changed == 0 {
				result = materialize.Unchanged
			}
			t.Log(tt.name)
			wantCounts(t, once(t, r, materialize.Request{}), result, want)
			if got := marksOf(t, store, "activities")[tt.id]; !strings.Contains(got, tt.has) {
				t.Errorf("%s: row %s has the mark %s, want %s", tt.name, tt.id, got, tt.has)
			}
		}
	})
}

// TestFirstPublished: a public record without a date of entry keeps the time at which its row was
// first published, whatever changes in it, and whichever process renders it again.
func TestFirstPublished(t *testing.T) {
	onEachStore(t, func(t *testing.T, store house) {
		o := &marked{public: `{"hide":{"$ne":true}}`, now: time.Date(2026, 11, 22, 23, 0, 0, 0, time.UTC)}
		now := time.Unix(1000, 0)
		runner := func(rules string) *materialize.Runner {
			return newRunner(t,
				materialize.Options{Store: store, Now: func() time.Time { return now }, Jobs: []materialize.Job{
					materialize.Marked(materialize.Activities(func(bson.Raw) (bson.Raw, error) {
						return doc(m{}), nil
					},
						rules), o.options),
				}})
		}
		first := runner("rules/1")
		dated := `{"_id":"d","created":"1970-01-02"}`
		for i, step := range []struct {
			by      *materialize.Runner
			full    bool
			records []string
			want    map[string]int64
		}{
			{first, false, []string{`{"_id":"a"}`, `{"_id":"b"}`, `{"_id":"h","hide":true}`, dated},
				map[string]int64{"a": 1000, "b": 1000, "h": 0, "d": 86400}},
			{first, false, []string{`{"_id":"a","year":1}`, `{"_id":"b"}`, `{"_id":"c"}`, `{"_id":"h"}`, dated},
				map[string]int64{"a": 1000, "b": 1000, "c": 1001, "h": 1001, "d": 86400}},
			{runner("rules/1"), false, []string{`{"_id":"a","year":2}`, `{"_id":"b"}`, `{"_id":"c","year":1}`,
				`{"_id":"e"}`, `{"_id":"h"}`, dated},
				map[string]int64{"a": 1000, "b": 1000, "c": 1001, "e": 1002, "h": 1001, "d": 86400}},
			{runner("rules/2"), false, []string{`{"_id":"a"}`, `{"_id":"c"}`, dated},
				map[string]int64{"a": 1000, "c": 1001, "d": 86400}},
			{runner("rules/2"), true, []string{`{"_id":"a","year":3}`, `{"_id":"b"}`, `{"_id":"c"}`, dated},
				map[string]int64{"a": 1000, "b": 1004, "c": 1001, "d": 86400}},
		} {
			now = time.Unix(1000+int64(i), 0)
			var all []any
			for _, d := range step.records {
				all = append(all, docOf(t, d))
			}
			store.replace("activities", all...)
			once(t, step.by, materialize.Request{Full: step.full})
			got := map[string]int64{}
			for _, row := range liveRows(t, store, "activities") {
				got[ejson.IDText(row.Lookup("_id"))] = mark.EnteredOf(row)
			}
			if !maps.Equal(got, step.want) {
				t.Errorf("run %d: got %v, want %v", i, got, step.want)
			}
		}
		if out := once(t, runner("rules/2"), materialize.Request{Full: true}); out.Changed != 0 {
			t.Errorf("a full run finds %d rows changed", out.Changed)
		}
	})
}

// TestMarksOfPersons: a person's mark has the unit until the membership ends.
func TestMarksOfPersons(t *testing.T) {
	store := newFakeStore()
	store.replace("persons", member(1, "ada", "2026-11-22"), member(2, "bob", "2030-01-01"))
	o := &marked{public: `{}`, now: time.Date(2026, 11, 22, 23, 0, 0, 0, time.UTC)}
	r := newRunner(t, materialize.Options{Store: store,
		Jobs: []materialize.Job{materialize.Marked(materialize.Plain("persons"), o.options)}})
	for _, changed := range []int{2, 0, 1, 0} {
		if out := once(t, r, materialize.Request{}); out.Changed != changed {
			t.Errorf("at %s: %d rows changed, want %d", o.now, out.Changed, changed)
		}
		o.now = o.now.Add(30 * time.Minute)
	}
}

// TestUndecidedMark: if a run cannot evaluate the rule for a record, the record keeps its row,
// appears in no list, and every run names it in the view's health.
func TestUndecidedMark(t *testing.T) {
	store := newFakeStore()
	store.replace("conferences", m{{Key: "_id", Value: 1}, {Key: "level", Value: "high"}},
		m{{Key: "_id", Value: 2}, {Key: "level", Value: 7}})
	o := &marked{public: `{"$expr":{"$gt":[{"$abs":"$level"},1]}}`}
	r := newRunner(t, materialize.Options{Store: store,
		Jobs: []materialize.Job{materialize.Marked(materialize.Plain("events"), o.options)}})
	for range 2 {
		out := once(t, r, materialize.Request{})
		if out.Skipped != 1 || len(out.Skips) != 1 ||
			!strings.Contains(out.Skips[0].Err.Error(), "left out of lists: lists.public: ") {
			t.Errorf("got %s, skips %v", out.Result, out.Skips)
		}
	}
	rows := 0
	for range store.views["events"].rows {
		rows++
	}
	if rows != 2 {
		t.Errorf("%d rows, want 2", rows)
	}
}

// TestOnlySomeViewsHaveMarks: the option does not change jobs of other views.
func TestOnlySomeViewsHaveMarks(t *testing.T) {
	for view, marks := range map[string]bool{"persons": true, "projects": true, "events": true, "journals": false,
		"proposals": false, "user_units": false} {
		job := materialize.Marked(materialize.Plain(view), (&marked{public: `{}`}).options)
		if (job.Mark != nil) != marks {
			t.Errorf("%s: has marks: %v", view, !marks)
		}
	}
}

// TestMarkedBy: a change in a collection of settings renders the rows whose mark changes, and no others.
func TestMarkedBy(t *testing.T) {
	onEachStore(t, func(t *testing.T, store house) {
		o := marked{public: `{}`, now: time.Date(2026, 11, 22, 23, 0, 0, 0, time.UTC)}
		options := func(docs materialize.Deps) mark.Options {
			with := o.options()
			with.Portal = &mark.Portal{}
			if docs == nil {
				return with
			}
			shown := []any{}
			for _, d := range docs["settings"] {
				shown = append(shown, d.Lookup("shows").StringValue())
			}
			with.Portal.Activities = filter.OneOf("subtype", shown...)
			return with
		}
		render := func(bson.Raw) (bson.Raw, error) { return doc(m{}), nil }
		job := materialize.MarkedBy(materialize.Activities(render, "rules/1"), []string{"settings"}, options)
		r := newRunner(t, materialize.Options{Store: store, Jobs: []materialize.Job{job}})
		store.replace("activities", docOf(t, `{"_id":"1","subtype":"a"}`), docOf(t, `{"_id":"2","subtype":"b"}`))
		for _, tt := range []struct {
			settings []any
			changed  int
			one, two string
		}{
			{[]any{docOf(t, `{"_id":1,"shows":"a"}`)}, 2, `{"public":true,"subtype":"a"}`, "-"},
			{[]any{docOf(t, `{"_id":1,"shows":"a","other":1}`)}, 0, `{"public":true,"subtype":"a"}`, "-"},
			{[]any{docOf(t, `{"_id":1,"shows":"b"}`)}, 2, "-", `{"public":true,"subtype":"b"}`},
			{[]any{docOf(t, `{"_id":1,"shows":"b"}`), docOf(t, `{"_id":2,"shows":"a"}`)}, 1,
				`{"public":true,"subtype":"a"}`, `{"public":true,"subtype":"b"}`},
		} {
			store.replace("settings", tt.settings...)
			result := materialize.Published
			if tt.changed == 0 {
				result = materialize.Unchanged
			}
			wantCounts(t, once(t, r, materialize.Request{}), result,
				materialize.Counts{Scanned: 2, Rendered: tt.changed, Changed: tt.changed})
			if got := marksOf(t, store, "activities"); got["1"] != tt.one || got["2"] != tt.two {
				t.Errorf("%s: marks %q", tt.settings, got)
			}
		}
	})
}
