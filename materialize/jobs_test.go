package materialize_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/configs"
	"vitrine/materialize"
)

func TestActivityRows(t *testing.T) {
	tests := []struct {
		name     string
		record   m
		rendered m
		want     m
	}{
		{"nothing rendered yet",
			m{{Key: "_id", Value: 1}, {Key: "title", Value: "A"}},
			m{{Key: "web", Value: "<b>A</b>"}},
			m{{Key: "_id", Value: 1}, {Key: "title", Value: "A"},
				{Key: "rendered", Value: m{{Key: "web", Value: "<b>A</b>"}}}}},
		{"rendered stays in its place",
			m{{Key: "_id", Value: 1}, {Key: "rendered", Value: m{{Key: "web", Value: "x"}}},
				{Key: "title", Value: "A"}},
			m{{Key: "web", Value: "y"}, {Key: "print", Value: "z"}},
			m{{Key: "_id", Value: 1}, {Key: "rendered",
				Value: m{{Key: "web", Value: "y"}, {Key: "print", Value: "z"}}}, {Key: "title", Value: "A"}}},
		{"rendered was something else",
			m{{Key: "_id", Value: 1}, {Key: "rendered", Value: nil}},
			m{},
			m{{Key: "_id", Value: 1}, {Key: "rendered", Value: m{}}}},
		{"only on the top level",
			m{{Key: "_id", Value: 1}, {Key: "old", Value: m{{Key: "rendered", Value: 1}}}},
			m{},
			m{{Key: "_id", Value: 1}, {Key: "old", Value: m{{Key: "rendered", Value: 1}}},
				{Key: "rendered", Value: m{}}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			job := materialize.Activities(func(bson.Raw) (bson.Raw, error) { return doc(tt.rendered), nil },
				"rules/1")
			got, err := rowOf(t, job, doc(tt.record))
			if err != nil || string(got) != string(doc(tt.want)) {
				t.Errorf("got %s (%v), want %s", got, err, doc(tt.want))
			}
		})
	}
}

func TestActivityThatCannotBeRendered(t *testing.T) {
	broken := errors.New("unknown subtype")
	job := materialize.Activities(func(bson.Raw) (bson.Raw, error) { return nil, broken }, "rules/1")
	if _, err := rowOf(t, job, doc(m{{Key: "_id", Value: 1}})); !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
	job = materialize.Activities(func(bson.Raw) (bson.Raw, error) { return doc(m{}), nil }, "rules/1")
	if _, err := rowOf(t, job, bson.Raw{9, 0, 0, 0, 2, 'a', 0, 0, 0}); err == nil {
		t.Error("no error for a malformed record")
	}
}

func TestRecordsAsRows(t *testing.T) {
	tests := []struct {
		job          materialize.Job
		view, source string
	}{
		{materialize.Plain("persons"), "persons", "persons"},
		{materialize.Plain("projects"), "projects", "projects"},
		{materialize.Plain("proposals"), "proposals", "proposals"},
		{materialize.Plain("journals"), "journals", "journals"},
		{materialize.Plain("events"), "events", "conferences"},
		{materialize.Plain("deadlines"), "deadlines", "deadlines"},
	}
	record := doc(m{{Key: "_id", Value: "x"}, {Key: "start", Value: nil}})
	for _, tt := range tests {
		t.Run(tt.view, func(t *testing.T) {
			if tt.job.View != tt.view || tt.job.Source != tt.source {
				t.Errorf("view %s from %s, want %s from %s", tt.job.View, tt.job.Source, tt.view, tt.source)
			}
			if got, err := rowOf(t, tt.job, record); err != nil || string(got) != string(record) {
				t.Errorf("got %s (%v), want %s", got, err, record)
			}
		})
	}
}

// rowOf renders one record by a job without dependencies.
func rowOf(t *testing.T, job materialize.Job, record bson.Raw) (bson.Raw, error) {
	t.Helper()
	row, err := job.Rows(materialize.Deps{})
	if err != nil {
		t.Fatal(err)
	}
	return row(context.Background(), record)
}

// TestActivitiesBy: a change in a collection makes those rows stale that the rules name, and no
// others.
func TestActivitiesBy(t *testing.T) {
	store := newFakeStore()
	store.replace("activities", m{{Key: "_id", Value: 1}}, m{{Key: "_id", Value: 2}})
	job := materialize.ActivitiesBy([]string{"templates"},
		func(deps materialize.Deps) (materialize.RenderFunc, string) {
			text := ""
			for _, d := range deps["templates"] {
				text += d.Lookup("text").StringValue()
			}
			return func(bson.Raw) (bson.Raw, error) { return doc(m{{Key: "web", Value: text}}), nil }, text
		})
	r, err := materialize.New(materialize.Options{
		Store: store, Jobs: []materialize.Job{job}, Materialize: configs.Materialize{Lease: 30 * time.Second},
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name      string
		templates m
		changed   int
	}{
		{"at first", m{{Key: "_id", Value: 1}, {Key: "text", Value: "a"}}, 2},
		{"the same", m{{Key: "_id", Value: 1}, {Key: "text", Value: "a"}}, 0},
		{"something beside them", m{{Key: "_id", Value: 1}, {Key: "text", Value: "a"}, {Key: "edited", Value: 3}}, 0},
		{"a template", m{{Key: "_id", Value: 1}, {Key: "text", Value: "b"}}, 2},
	} {
		store.replace("templates", tt.templates)
		outcomes, err := r.RunOnce(t.Context(), materialize.Request{}, nil)
		if err != nil || len(outcomes) != 1 || outcomes[0].Err != nil {
			t.Fatalf("%s: %+v, %v", tt.name, outcomes, err)
		}
		if got := outcomes[0].Changed; got != tt.changed {
			t.Errorf("%s: %d rows changed, want %d", tt.name, got, tt.changed)
		}
	}
}
