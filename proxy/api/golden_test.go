package api_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"testing"

	"vitrine/proxy/proxytest"
)

var update = flag.Bool("update", false,
	"write the golden answers anew; then check each against the API's description")

// TestGolden compares whole answers. The files hold the body as sent, one row a line, so that
// people can read a change.
func TestGolden(t *testing.T) {
	q := url.QueryEscape
	s := proxytest.Open(t, proxytest.Institute(t), proxytest.Options(t))
	tests := []struct{ name, target string }{
		{"activities", "/api/activities"},
		{"activities_json", "/api/activities?json=" + q(`{"year":{"$gte":2022}}`)},
		{"activities_page", "/api/activities?limit=2&offset=1"},
		{"activities_page_past_end", "/api/activities?limit=2&offset=100"},
		{"activities_none", "/api/activities?json=" + q(`{"type":"unheard"}`)},
		{"activities_columns",
			"/api/activities?columns[]=web&columns[]=print&columns[]=icon&columns[]=type&columns[]=subtype&" +
				"columns[]=authors&columns[]=title&columns[]=departments"},
		{"activities_columns_stored",
			"/api/activities?columns[]=year&columns[]=doi&columns[]=_id&columns[]=id&columns[]=score&" +
				"columns[]=when&columns[]=big&columns[]=rendered.quarter&columns[]=nothing"},
		{"activities_columns_dotted",
			"/api/activities?columns=authors.user,authors.last,nested.b.c,nested.a.x,workflow.status&json=" +
				q(`{"_id":{"$in":["64a000000000000000000001","64a00000000000000000000a","64a00000000000000000000c",`+
					`"named-record"]}}`)},
		{"activities_aggregate", "/api/activities?aggregate=type"},
		{"activities_aggregate_authors", "/api/activities?aggregate=authors.user"},
		{"activities_aggregate_json", "/api/activities?aggregate=subtype&json=" + q(`{"type":"publication"}`)},
		{"activities_aggregate_page", "/api/activities?aggregate=type&limit=1&offset=1"},
		{"activities_aggregate_units", "/api/activities?aggregate=units"},
		{"activities_full", "/api/activities?full=1"},
		{"activities_full_page", "/api/activities?full=true&limit=1&json=" + q(`{"type":"review"}`)},
		{"html", "/api/html"},
		{"html_limit", "/api/html?limit=1"},
		{"all_activities", "/api/all-activities"},
		{"all_activities_portal", "/api/all-activities?page=portal&type=publication"},
		{"all_activities_path",
			"/api/all-activities?path=https%3A%2F%2Fwww.example.org%2Fresearch&page=portal&type=publication"},
		{"spectrum_activities", "/api/spectrum-activities?spectrum=Soil"},
		{"spectrum_activities_single", "/api/spectrum-activities?spectrum=Lone"},
		{"spectrum_activities_none", "/api/spectrum-activities?spectrum=SOIL"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			res := s.Get(tt.target)
			if res.StatusCode != http.StatusOK {
				t.Fatalf("status %d: %s", res.StatusCode, res.Body)
			}
			if !json.Valid(res.Body) {
				t.Fatalf("no JSON: %s", res.Body)
			}
			if got := res.Header.Get("Content-Type"); got != "application/json; charset=utf-8" {
				t.Errorf("Content-Type = %q", got)
			}
			compare(t, filepath.Join("testdata", "golden", tt.name+".json"), res.Body)
		})
	}
}

func compare(t *testing.T, file string, body []byte) {
	t.Helper()
	got := bytes.ReplaceAll(body, []byte(`},{"`), []byte("},\n{\""))
	got = append(got, '\n')
	if *update {
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("answer differs from %s\ngot  %s\nwant %s", file, got, want)
	}
}
