package operations

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"vitrine/cmd/vitrine/programtest"
	"vitrine/proxy/api"
)

// TestServeDemo runs the README's first command, and requests that a newcomer tries next.
func TestServeDemo(t *testing.T) {
	t.Parallel()
	s := programtest.Start(t, t.TempDir(), "--demo").Ready()
	tests := []struct {
		path  string
		count int // 0: at least one row
		rows  int // -1: any number
	}{
		{"/api/activities", 600, 600},
		{"/api/activities?limit=3", 600, 3},
		{"/api/activities?full=1&limit=2", 600, 2},
		{"/api/activities?aggregate=type", 0, -1},
		{"/api/activities?json=" + url.QueryEscape(`{"year":{"$gte":2024}}`), 0, -1},
		{"/api/activities?filter[type]=publication&columns[]=title", 0, -1},
		{"/api/html?limit=4", 0, 4},
		{"/api/all-activities", 600, 600},
		{"/api/all-activities?page=portal&type=publication", 0, -1},
	}
	for _, tt := range tests {
		status, body := s.Get(tt.path)
		e := programtest.Decode(t, body)
		if status != http.StatusOK || e.Status != http.StatusOK || len(e.Data) == 0 ||
			tt.count > 0 && e.Count != tt.count || tt.rows >= 0 && len(e.Data) != tt.rows {
			t.Errorf("%s: status %d, count %d, %d rows: %.200s", tt.path, status, e.Count, len(e.Data), body)
		}
	}
	if status, body := s.Get("/api/spectrum-activities?spectrum=none"); status != http.StatusOK ||
		!strings.Contains(body, `"data":[]`) {
		t.Errorf("spectrum-activities: %d %s", status, body)
	}
	if status, body := programtest.Fetch(t, http.MethodGet, s.Admin+"/metrics"); status != http.StatusOK ||
		!strings.Contains(body, "vitrine_view_rows") {
		t.Errorf("metrics: %d", status)
	}
	if code := s.Stop(); code != 0 {
		t.Errorf("SIGTERM: exit code %d\n%s", code, s.Log())
	}
}

// TestTour: the demo prints what to try after the log of the start, and the first records that it
// and the README show are typical ones.
func TestTour(t *testing.T) {
	programtest.WholeOnly(t)
	t.Parallel()
	cmd := programtest.Command(t.TempDir(), "serve", "--demo", "--listen", "127.0.0.1:0", "--admin-listen",
		"127.0.0.1:0",
		"--log-format", "json")
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	s := (&programtest.Server{T: t, Cmd: cmd}).Start()
	var calls []string
	for lines := bufio.NewScanner(stdout); lines.Scan() && !strings.Contains(lines.Text(), "/admin/views"); {
		if call, ok := strings.CutPrefix(lines.Text(), "  curl -g '"+s.Base); ok {
			calls = append(calls, strings.TrimSuffix(call, "'"))
		}
	}
	if status, body := s.Get("/readyz"); status != http.StatusOK {
		t.Errorf("the demo prints the calls before it can answer them: %d %.300s", status, body)
	}
	if _, body := programtest.Fetch(t, http.MethodGet, s.Admin+"/metrics"); strings.Count(body,
		"vitrine_job_seconds_count{") !=
		len(api.Views()) {
		t.Error("the demo prints the calls before every job has run")
	}
	if len(calls) != 9 {
		t.Errorf("the demo prints %d calls, want 9", len(calls))
	}
	for _, call := range calls {
		status, body := s.Get(call)
		if status != http.StatusOK {
			t.Errorf("%s: status %d", call, status)
		}
		var closest struct{ Similarity float64 }
		if strings.HasPrefix(call, "/api/levenshtein") {
			if err := json.Unmarshal([]byte(body), &closest); err != nil || closest.Similarity < 90 {
				t.Errorf("%s finds nothing: %s", call, body)
			}
			continue
		}
		for _, row := range programtest.Decode(t, body).Data[:3] {
			_, text := row["year"].(string)
			value, group := row["value"]
			if title, titled := row["title"]; text || group && value == nil || titled && title == "" ||
				strings.Contains(fmt.Sprint(row), "alert(") {
				t.Errorf("%s: an odd record is among the first: %v", call, row)
			}
		}
	}
	readme, err := os.ReadFile("../../../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	samples := regexp.MustCompile(`\$ curl -g 'http://127.0.0.1:8080(.*)'\n +(.*)`).
		FindAllStringSubmatch(string(readme), -1)
	if len(samples) < 4 {
		t.Errorf("the README has %d samples", len(samples))
	}
	for _, sample := range samples {
		pattern := "^" + strings.ReplaceAll(regexp.QuoteMeta(sample[2]), "…", ".*") + "$"
		if _, body := s.Get(programtest.Encoded(sample[1])); !regexp.MustCompile(pattern).MatchString(body) {
			t.Errorf("%s: the README shows\n%s\nand the answer is\n%.500s", sample[1], sample[2], body)
		}
	}
}

func TestServeRefuses(t *testing.T) {
	programtest.WholeOnly(t)
	t.Parallel()
	dir := t.TempDir()
	programtest.WriteLines(t, filepath.Join(dir, "things.jsonl"), `{"_id":1}`)
	programtest.Run(t, dir, "import", "--store", "bolt://one.db", "things.jsonl")
	s := programtest.Start(t, dir, "--store", "bolt://one.db")
	tests := []struct {
		name string
		args []string
		want string // a part of the message
	}{
		{"a port in use", []string{"--store", "bolt://one.db", "--listen", strings.TrimPrefix(s.Base, "http://"),
			"--admin-listen", ""}, "address already in use"},
		{"a store in use", []string{"--store", "bolt://one.db", "--listen", "127.0.0.1:0", "--admin-listen", ""},
			"one.db"},
		{"an operator's listener that is open to all",
			[]string{"--store", "bolt://one.db", "--listen", "127.0.0.1:0", "--admin-listen", "0.0.0.0:0"},
			"admin.open"},
		{"an unknown store", []string{"--store", "redis://x", "--listen", "127.0.0.1:0"}, "--store"},
		{"MongoDB without a database", []string{"--store", "mongodb://127.0.0.1:1", "--listen", "127.0.0.1:0",
			"--admin-listen", ""}, "database"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var out, errs strings.Builder
			cmd := programtest.Command(dir, append([]string{"serve"}, tt.args...)...)
			cmd.Stdout, cmd.Stderr = &out, &errs
			if err := cmd.Run(); err == nil {
				t.Fatal("serve started")
			}
			if !strings.Contains(errs.String(), tt.want) {
				t.Errorf("got %q, want an error with %q", errs.String(), tt.want)
			}
		})
	}
}
