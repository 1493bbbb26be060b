package operations

import (
	"encoding/json"
	"maps"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"vitrine/cmd/vitrine/programtest"
)

var (
	metricName = regexp.MustCompile(`\bvitrine_[a-z_]+`)
	metricHelp = regexp.MustCompile(`(?m)^# HELP (vitrine_[a-z_]+) `)
)

// exported lists the program's own metrics that a running server exports.
func exported(t *testing.T) []string {
	t.Helper()
	dir := t.TempDir()
	programtest.Setenv(dir, programtest.SnapshotEnv, "files")
	s := programtest.StartWhole(t, dir)
	names := map[string]bool{}
	_, text := programtest.Fetch(t, http.MethodGet, s.Admin+"/metrics")
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
	page, err := os.ReadFile("../../../../docs/operations.md")
	if err != nil {
		t.Fatal(err)
	}
	rules, err := os.ReadFile("../../../../docs/deploy/alerts.yml")
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
			if !slices.Contains(metrics, plain) &&
				!slices.Contains([]string{"vitrine_materializer", "vitrine_front"}, name) &&
				!strings.HasPrefix(name, "vitrine_view_file_") {
				// written once the store has confirmed the view, which may be later
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
	for _, p := range readBoard(t) {
		for _, target := range p.Targets {
			named(p.Title, target.Expr)
		}
	}
}

// panel is a panel of the board.
type panel struct {
	ID      int
	Title   string
	GridPos struct{ X, Y, W, H int }
	Targets []struct{ Expr, RefID string }
}

// readBoard reads the board for Grafana. Its panels must have names, queries, and places of their own.
func readBoard(t *testing.T) []panel {
	t.Helper()
	text, err := os.ReadFile("../../../../docs/deploy/grafana.json")
	if err != nil {
		t.Fatal(err)
	}
	var board struct{ Panels []panel }
	if err := json.Unmarshal(text, &board); err != nil {
		t.Fatal(err)
	}
	ids, places := map[int]bool{}, map[[2]int]bool{}
	for _, p := range board.Panels {
		if p.Title == "" || len(p.Targets) == 0 || p.GridPos.X+p.GridPos.W > 24 || ids[p.ID] {
			t.Errorf("panel %d %q: %+v", p.ID, p.Title, p.GridPos)
		}
		ids[p.ID] = true
		for x := range p.GridPos.W {
			for y := range p.GridPos.H {
				at := [2]int{p.GridPos.X + x, p.GridPos.Y + y}
				if places[at] {
					t.Fatalf("panel %q covers another one", p.Title)
				}
				places[at] = true
			}
		}
		for _, target := range p.Targets {
			if target.RefID == "" || strings.Count(target.Expr, "(") != strings.Count(target.Expr, ")") ||
				!strings.Contains(target.Expr, "vitrine") {
				t.Errorf("panel %q asks %q", p.Title, target.Expr)
			}
		}
	}
	if len(ids) == 0 {
		t.Error("the board has no panels")
	}
	return board.Panels
}

// TestMonitoring: in docker-compose.yml every instance has its admin listener in a network that only Prometheus
// shares, and prometheus.yml scrapes them all, under the name that the alerts expect.
func TestMonitoring(t *testing.T) {
	t.Parallel()
	var compose struct {
		Services map[string]struct {
			Environment map[string]string
			Networks    yaml.Node
			Command     []string
		}
	}
	var prometheus struct {
		Jobs []struct {
			Name    string `yaml:"job_name"`
			Targets []struct {
				Targets []string
				Labels  map[string]string
			} `yaml:"static_configs"`
		} `yaml:"scrape_configs"`
	}
	for name, into := range map[string]any{"docker-compose.yml": &compose,
		"docs/deploy/prometheus.yml": &prometheus} {
		text, err := os.ReadFile("../../../../" + name)
		if err == nil {
			err = yaml.Unmarshal(text, into)
		}
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	}
	listeners, members := map[string]string{}, []string{}
	for name, s := range compose.Services {
		var all map[string]struct {
			Address string `yaml:"ipv4_address"`
		}
		if s.Networks.Kind == yaml.MappingNode {
			if err := s.Networks.Decode(&all); err != nil {
				t.Fatal(err)
			}
			if want := all["admin"].Address + ":8081"; s.Environment["VITRINE_ADMIN_LISTEN"] != want {
				t.Errorf("%s listens on %s, want %s", name, s.Environment["VITRINE_ADMIN_LISTEN"], want)
			}
			listeners[name] = s.Environment["VITRINE_ADMIN_LISTEN"]
		} else if len(s.Networks.Content) > 0 {
			members = append(members, name)
		}
		if serves := slices.Contains(s.Command, "serve"); serves != (listeners[name] != "") {
			t.Errorf("%s: serves %t, admin listener %q", name, serves, listeners[name])
		}
	}
	if !slices.Equal(members, []string{"prometheus"}) {
		t.Errorf("beside the instances the network has %v", members)
	}
	scraped := map[string]string{}
	for _, job := range prometheus.Jobs {
		for _, target := range job.Targets {
			scraped[target.Labels["instance"]] = strings.Join(target.Targets, " ")
		}
		if job.Name != "vitrine" {
			t.Errorf("job %q", job.Name)
		}
	}
	if !maps.Equal(scraped, listeners) || len(scraped) != 3 {
		t.Errorf("scraped %v, want %v", scraped, listeners)
	}
}
