package programtest

import (
	"crypto/sha256"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

var (
	metricName = regexp.MustCompile(`\bvitrine_[a-z_]+`)
	metricHelp = regexp.MustCompile(`(?m)^# HELP (vitrine_[a-z_]+) `)
)

// startWhole starts the demo with what is off by default: another server behind it, a cache in front of it, and a key of
// the name portal, with which it asks something.
func startWhole(t *testing.T, dir string) *server {
	t.Helper()
	const key = "a named key"
	set(dir, "VITRINE_UPSTREAM_URL", "http://127.0.0.1:1")
	set(dir, "VITRINE_UPSTREAM_PATHS", "/old")
	set(dir, "VITRINE_COMPARE_SHADOW_URL", "http://127.0.0.1:1")
	set(dir, "VITRINE_PURGE_TARGETS", "front=varnish http://127.0.0.1:1")
	write(t, filepath.Join(dir, "vitrine.yml"), fmt.Sprintf("auth: {keys: {portal: {sha256: [%x]}}}", sha256.Sum256([]byte(key))))
	s := startServer(t, dir, "--demo", "--config", "vitrine.yml").ready()
	s.get("/api/html?limit=1", "X-API-Key", key)
	return s
}

// exported lists the program's own metrics that a running server exports.
func exported(t *testing.T) []string {
	t.Helper()
	dir := t.TempDir()
	set(dir, snapshots, "files")
	s := startWhole(t, dir)
	names := map[string]bool{}
	_, text := fetch(t, http.MethodGet, s.admin+"/metrics")
	for _, found := range metricHelp.FindAllStringSubmatch(text, -1) {
		names[found[1]] = true
	}
	var all []string
	for name := range names {
		all = append(all, name)
	}
	slices.Sort(all)
	return all
}

// TestOperations compares docs/operations.md and the alert rules with the program: the page
// explains every metric and names no other, and every alert says what to do.
func TestOperations(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../../docs/operations.md")
	if err != nil {
		t.Fatal(err)
	}
	rules, err := os.ReadFile("../../../docs/deploy/alerts.yml")
	if err != nil {
		t.Fatal(err)
	}
	metrics := exported(t)
	for _, name := range metrics {
		if !strings.Contains(string(page), "`"+name+"`") {
			t.Errorf("docs/operations.md does not explain %s", name)
		}
	}
	named := func(file, text string) {
		for _, name := range metricName.FindAllString(text, -1) {
			plain := name
			for _, part := range []string{"_bucket", "_count", "_sum"} {
				plain = strings.TrimSuffix(plain, part)
			}
			if !slices.Contains(metrics, plain) && !slices.Contains([]string{"vitrine_materializer", "vitrine_front"}, name) &&
				!strings.HasPrefix(name, "vitrine_view_file_") { // written once the store has confirmed the view, which may be later
				t.Errorf("%s names %s, but the program has no such metric", file, name)
			}
		}
	}
	named("docs/operations.md", string(page))

	var file struct {
		Groups []struct {
			Rules []struct {
				Alert, Expr, For string
				Labels           struct{ Severity string }
				Annotations      struct{ Summary string }
			}
		}
	}
	if err := yaml.Unmarshal(rules, &file); err != nil {
		t.Fatal(err)
	}
	count := 0
	for _, group := range file.Groups {
		for _, rule := range group.Rules {
			count++
			named(rule.Alert, rule.Expr)
			if rule.Labels.Severity != "page" && rule.Labels.Severity != "ticket" || rule.Annotations.Summary == "" {
				t.Errorf("%s lacks a severity or a summary", rule.Alert)
			}
			if !strings.Contains(string(page), "\n### "+rule.Alert+"\n") {
				t.Errorf("docs/operations.md does not say what to do about %s", rule.Alert)
			}
			if strings.Count(rule.Expr, "(") != strings.Count(rule.Expr, ")") {
				t.Errorf("%s: brackets do not match", rule.Alert)
			}
		}
	}
	if said := strings.Count(string(page), "\n### Vitrine"); said != count || count == 0 {
		t.Errorf("%d alerts, %d paragraphs about them", count, said)
	}
}
