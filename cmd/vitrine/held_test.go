package main

import (
	"bufio"
	"bytes"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/configs"
	"vitrine/proxy/health"
	"vitrine/rules/osiris"
)

// TestHeldSaysWhy: settings may be deleted, but not all of a collection. Then /readyz, the cockpit and `vitrine
// status` name the held view and the collection, and none of them says that the view has no records.
func TestHeldSaysWhy(t *testing.T) {
	t.Parallel()
	cfg, err := configs.Load(configs.Sources{Environ: []string{"VITRINE_PRESET=osiris"}})
	if err != nil {
		t.Fatal(err)
	}
	r := &osirisRun{runConfigured(t, cfg, func(r *running) {
		r.put("activities", osirisActivity("a1", "First", 2021), osirisActivity("a2", "Second", 2020))
		for n := range 6 {
			(&osirisRun{r}).general(fmt.Sprint("own", n), "x")
		}
	})}
	refresh := func() (int, string) {
		return fetch(t, http.MethodPost, r.admin+"/admin/refresh?view=activities&wait=1")
	}
	keep := func(left string) {
		t.Helper()
		_, err := r.store.Retain(t.Context(), osiris.General,
			func(v bson.RawValue) bool { return v.StringValue() == left })
		if err != nil {
			t.Fatal(err)
		}
	}
	const held = "The last runs of these views published nothing: activities: "
	keep("own3")
	if status, body := refresh(); status != http.StatusOK {
		t.Errorf("with one of six settings: %d %s", status, body)
	}
	if _, body := fetch(t, http.MethodGet, r.base+"/readyz"); strings.Contains(body, held) {
		t.Errorf("readyz with one of six settings: %s", body)
	}
	keep("none")
	const reason = "collection adminGeneral has 0 records and had 6 within the last day"
	if status, body := refresh(); status != http.StatusInternalServerError || !strings.Contains(body, reason) {
		t.Errorf("without settings: %d %s", status, body)
	}
	var body string
	await(t, "readyz says why", func() string { // the outcome of a run is known a moment after it
		_, body = fetch(t, http.MethodGet, r.base+"/readyz")
		return unless(strings.Contains(body, held+reason))
	})
	for _, want := range []string{`"state":"degraded"`, `"view":"activities"`, `"empty":false`,
		`"job_held":"` + reason} {
		if !strings.Contains(body, want) {
			t.Errorf("readyz lacks %s: %s", want, body)
		}
	}
	if n := strings.Count(body, `"empty":false`); n != 1 {
		t.Errorf("%d views that are not empty in %s", n, body)
	}
	metas, err := r.store.Metas(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	views := make([]health.ViewStatus, len(metas))
	for i, m := range metas {
		views[i] = health.StatusOf(m)
	}
	var out bytes.Buffer
	if err := output.ExecuteTemplate(&out, "status of views", views); err != nil {
		t.Fatal(err)
	}
	if text := out.String(); !strings.Contains(text, "held: activities: "+reason) ||
		strings.Contains(text, "empty: activities") {
		t.Errorf("status: %s", text)
	}
	if event := cockpitEvent(t, r.running); !strings.Contains(event, held+reason) {
		t.Errorf("cockpit: %.2000s", event)
	}
}

// cockpitEvent returns the first event of the operator's page.
func cockpitEvent(t *testing.T, r *running) string {
	t.Helper()
	res, err := http.Get(r.admin + "/admin/live")
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	for lines := bufio.NewReader(res.Body); ; {
		line, err := lines.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasPrefix(line, "data: {") {
			return line
		}
	}
}
