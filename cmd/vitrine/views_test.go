package main

import (
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"vitrine/configs"
	"vitrine/materialize"
	"vitrine/proxy/api"
	"vitrine/rules/views"
)

// TestNewView finds what a row in the catalogue of views (rules/views) does not reach by itself: the settings, whose
// package imports nothing of ours, and the privileges in docs/operations.md. All else follows from the row.
func TestNewView(t *testing.T) {
	var all, indexed, marked []string
	for _, v := range views.All() {
		all = append(all, v.Name)
		if v.Marks != nil {
			marked = append(marked, v.Name)
		}
		if v.Source == "" || v.Rows.Make != nil && v.Rows.Fingerprint == "" {
			t.Errorf("view %s: want a source, and a fingerprint of how its rows are made", v.Name)
		}
	}
	for _, def := range api.Views() {
		indexed = append(indexed, def.Name)
	}
	activities, spectrum := materialize.Activities(nil, ""), materialize.Spectrum(materialize.SpectrumOptions{})
	var jobs []string
	// Jobs panics for a view whose row does not say how its rows are made.
	for _, job := range materialize.Jobs(activities, spectrum, nil) {
		jobs = append(jobs, job.View)
	}
	var built []string
	for _, v := range views.Built() {
		built = append(built, v.Name)
	}
	if !slices.Equal(jobs, built) || !slices.Equal(indexed, all) {
		t.Errorf("jobs of %v, want %v; indexes of %v, want %v", jobs, built, indexed, all)
	}

	if !slices.Equal(slices.Sorted(slices.Values(listed)), slices.Sorted(slices.Values(marked))) {
		t.Errorf("listed in fields.go has %v, want those with marks, %v", listed, marked)
	}

	slices.Sort(all)
	if got := slices.Sorted(maps.Keys(configs.Default().Materialize.Schedule)); !slices.Equal(got, all) {
		t.Errorf("configs/settings.yaml: the default of materialize.schedule has %v, want %v", got, all)
	}
	environ := []string{"VITRINE_VIEWS_OPTIONAL=" + strings.Join(all, ",")}
	for _, name := range all {
		environ = append(environ, "VITRINE_MATERIALIZE_SCHEDULE="+name+"=@hourly")
		if _, err := configs.Load(configs.Sources{Environ: environ}); err != nil {
			t.Errorf("configs/settings.yaml: entries of materialize.schedule, or check of views.optional: %v", err)
		}
		environ = environ[:1]
	}
	operations, err := os.ReadFile("../../docs/operations.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range all {
		if !strings.Contains(string(operations), `"`+name+`"`) {
			t.Errorf("docs/operations.md: the role vitrineViews lacks view_%s", name)
		}
	}
}
