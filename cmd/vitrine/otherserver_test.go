package main

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"vitrine/configs"
	"vitrine/proxy/explain"
	"vitrine/proxy/upstream/traffic"
)

// TestStatusOfOtherServer: `vitrine status` says that the other server fails, since when and why, and has the traffic
// by path.
func TestStatusOfOtherServer(t *testing.T) {
	t.Parallel()
	broken := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusBadGateway)
	}))
	defer broken.Close()
	cfg := configs.Default()
	cfg.Upstream.URL = broken.URL
	r := runConfigured(t, cfg, func(r *running) { r.put("activities", activity("a1", "First")) })
	cfg.Store, cfg.Admin.Listen = configs.URI(r.store.Name()), strings.TrimPrefix(r.admin, "http://")
	res, err := http.Get(r.base + "/portal/x")
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	report, err := servedStatus(context.Background(), cfg, r.store.Name(), storeTime)
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	if err := output.ExecuteTemplate(&out, "other server", report.Upstream); err != nil {
		t.Fatal(err)
	}
	if err := output.ExecuteTemplate(&out, "forwarded", trafficOf(report.Upstream)); err != nil {
		t.Fatal(err)
	}
	text := out.String()
	for _, part := range []string{
		"other server: " + broken.URL + ": failing for ", "s: status 502; failed requests: 1, the last ",
		"last answer: never\n", "\n/\t1\t0\t0\t1\t1\t", ": status 502\n",
	} {
		if !strings.Contains(text, part) {
			t.Errorf("no %q in\n%s", part, text)
		}
	}
}

// TestStatusOfAnsweringServer: what `vitrine status` and `vitrine explain` print while all is well.
func TestStatusOfAnsweringServer(t *testing.T) {
	at, p50, p99 := time.Now().Add(-time.Minute), 41.26, 1230.5
	s := &traffic.Status{
		URL: "http://old", Host: "portal.example.org", LastSuccess: &at, Routes: []string{"/api/projects"},
		Public: traffic.Public{State: traffic.Answering, Since: &at},
	}
	rows := []traffic.Row{{Path: "/portfolio/", Rule: "/portfolio/", Asked: 9, Kept: 7, Stale: 1, Forwarded: 2,
		P50: &p50, P99: &p99}, {Path: "/api/projects", Moved: true}}
	plain := explain.Explanation{Forwarded: &explain.Forwarded{
		To: "http://old/x", By: "a setting", Why: "no rule", Callers: "everyone", Server: "The other server answers.",
	}, Error: "a key is needed"}
	for name, of := range map[string]struct {
		data any
		want string
	}{
		"other server": {s, "\nother server: http://old as portal.example.org: answering, last answer 1m0s ago\n" +
			"moved to it: /api/projects\n"},
		"forwarded": {rows, "\nFORWARDED\tASKED\tKEPT\tSTALE\tSENT ON\tFAILED\tP50\tP99\tFAILING\n" +
			"/portfolio/ (kept)\t9\t7\t1\t2\t0\t41.3ms\t1.2305s\t-\n/api/projects (moved)\t0\t0\t0\t0\t0\t-\t-\t-\n"},
	} {
		var out strings.Builder
		if err := output.ExecuteTemplate(&out, name, of.data); err != nil || out.String() != of.want {
			t.Errorf("%s: %v, got\n%s\nwant\n%s", name, err, out.String(), of.want)
		}
	}
	const want = "forwarded: to http://old/x, for everyone\nbecause: a setting\nnot kept by rule: no rule; " +
		"Vitrine keeps the answer only as far as its own headers allow\nThe other server answers.\n" +
		"this request does not get it: a key is needed\n"
	var out strings.Builder
	if err := plain.WriteText(&out); err != nil || out.String() != want {
		t.Errorf("%v, got\n%s\nwant\n%s", err, out.String(), want)
	}
}
