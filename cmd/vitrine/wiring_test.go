package main

import (
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"vitrine/cache/origin"
	"vitrine/configs"
)

// TestRunsReadAllUnlessEditsShow: without change streams, runs leave out reading only if a field shows edits, or if
// the configuration says so.
func TestRunsReadAllUnlessEditsShow(t *testing.T) {
	for _, tt := range []struct {
		field       string
		every, want time.Duration
	}{
		{"", 0, 0},
		{"", time.Minute, time.Minute},
		{"updated", 0, 0},
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
		if err != nil || o.ReadAllEvery != tt.want || o.ChangedField != tt.field && tt.want > 0 ||
			(o.Versioner != nil) != (tt.want > 0) {
			t.Errorf("%+v: read all every %v, field %q, versioner %v, error %v", tt, o.ReadAllEvery, o.ChangedField,
				o.Versioner, err)
		}
	}
}

// TestCatalogueFile: a catalogue that is gone, or no regular file, is an error and not an empty catalogue.
func TestCatalogueFile(t *testing.T) {
	dir := t.TempDir()
	name, pipe := filepath.Join(dir, "topics.json"), filepath.Join(dir, "pipe")
	if err := errors.Join(os.WriteFile(name, []byte(`[{"id": "T1"}, {"id": "T2"}]`), 0o600),
		syscall.Mkfifo(pipe, 0o600)); err != nil {
		t.Fatal(err)
	}
	for file, want := range map[string]string{name: "", pipe: "is a named pipe", dir: "is a directory",
		name + "x": "no such file or directory"} {
		topics, err := catalogueFile(file)(t.Context())
		if want == "" && (err != nil || len(topics) != 2) ||
			want != "" && (err == nil || !strings.Contains(err.Error(), "catalog.file: "+file+": "+want)) {
			t.Errorf("%s: %d topics, %v", file, len(topics), err)
		}
	}
}
