package main

import (
	"log/slog"
	"testing"
	"time"

	"vitrine/cache/origin"
	"vitrine/configs"
)

// TestRunsReadAllUnlessEditsShow: without change streams, runs leave out reading only if a field shows edits, or if the
// configuration says so.
func TestRunsReadAllUnlessEditsShow(t *testing.T) {
	for _, tt := range []struct {
		field       string
		every, want time.Duration
	}{
		{"", 0, 0},
		{"", time.Minute, time.Minute},
		{"updated", 0, time.Hour},
		{"updated", time.Minute, time.Minute},
	} {
		cfg := configs.Default()
		cfg.Store = "mongodb://localhost/x"
		cfg.Materialize.ChangedField, cfg.Materialize.ReadAllEvery = tt.field, tt.every
		log := slog.New(slog.DiscardHandler)
		var store struct{ origin.Store }
		inst, err := newInstitute(cfg, store, log)
		if err != nil {
			t.Fatal(err)
		}
		o, err := runnerOptions(t.Context(), cfg, store, inst, log)
		if err != nil || o.ReadAllEvery != tt.want || o.ChangedField != tt.field || (o.Versioner != nil) != (tt.want > 0) {
			t.Errorf("%+v: read all every %v, field %q, versioner %v, error %v", tt, o.ReadAllEvery, o.ChangedField, o.Versioner, err)
		}
	}
}
