package main

import (
	"log/slog"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/origin"
	"vitrine/configs"
	"vitrine/materialize"
)

// TestEmptiedCollections: if a collection is emptied, every view keeps its rows, and the views made
// from that collection say why, until the collection is back.
func TestEmptiedCollections(t *testing.T) {
	t.Parallel()
	cfg := configs.Default()
	cfg.Store = configs.URI("bolt://" + t.TempDir() + "/v.db")
	store, err := openStore(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = store.Close() }()
	log := slog.New(slog.DiscardHandler)
	inst, err := newInstitute(cfg, store, log)
	if err != nil {
		t.Fatal(err)
	}
	o, err := runnerOptions(t.Context(), cfg, store, inst, log)
	if err != nil {
		t.Fatal(err)
	}
	runner, err := materialize.New(o)
	if err != nil {
		t.Fatal(err)
	}
	// run builds all views and returns the held ones with the reason.
	run := func(published bool) map[string]string {
		t.Helper()
		outcomes, err := runner.RunOnce(t.Context(), materialize.Request{}, nil)
		if err != nil {
			t.Fatal(err)
		}
		held := map[string]string{}
		for _, o := range outcomes {
			switch {
			case o.Result == materialize.Held && o.Meta.Health.Status == origin.HealthHeld:
				held[o.View] = o.Meta.Health.Error
			case o.Result != materialize.Unchanged && !published:
				t.Errorf("view %s: %s, %v", o.View, o.Result, o.Err)
			}
		}
		return held
	}
	restore := func(published bool) {
		t.Helper()
		if err := loadDemo(t.Context(), store); err != nil {
			t.Fatal(err)
		}
		if held := run(published); len(held) > 0 {
			t.Errorf("held though no records are missing: %v", held)
		}
	}
	restore(true)
	for collection, views := range map[string][]string{
		"persons":       {"persons", "user_units", "activities", "projects", "proposals", "events", "spectrum"},
		"groups":        {"persons", "user_units", "activities", "projects", "events", "spectrum"},
		"projects":      {"projects", "activities"},
		"organizations": {"projects", "proposals"}, "catalog_topics": {"spectrum"},
		"activities": {"activities", "spectrum"},
	} {
		if _, err := store.Retain(t.Context(), collection, func(bson.RawValue) bool { return false }); err != nil {
			t.Fatal(err)
		}
		held := run(false)
		for _, view := range views {
			reason := held[view]
			if !strings.Contains(reason, "collection "+collection+" has 0 records and had ") &&
				!strings.HasPrefix(reason, "would remove ") {
				t.Errorf("%s emptied, view %s: held for %q", collection, view, reason)
			}
			delete(held, view)
		}
		if len(held) > 0 {
			t.Errorf("%s emptied: also held: %v", collection, held)
		}
		restore(false)
	}
}
