package report

import (
	"encoding/json"
	"encoding/xml"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestWriteTable(t *testing.T) {
	r := Report{Runs: []Run{{
		Rows: 100_000, BSON: 290e6, Fill: 8 * time.Second, Build: 9 * time.Second,
		Starts: []Start{{3 * time.Second}, {time.Second}, {2 * time.Second}},
		Memory: &Memory{Rows: 404e6}, Refresh: &Refresh{Changed: 100, Ratio: 1.5, Rounds: 1}, Notes: []string{"no wind"},
		Results: []Result{
			{Name: "list", Rate: 50_000, Bare: &Bare{Ratio: 0.83}, Stores: []Asked{{Store: "scan", P50: time.Second, Factor: 1234}}},
			{Name: "full", P50: 1500 * time.Millisecond, Stores: []Asked{{Store: "against", Error: "unknown operator"}}},
		},
	}}}
	var b strings.Builder
	if err := WriteTable(&b, r); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"100,000 activities", "290 MB", "50,000", "0.83", "1,234", "refused", "1.5s", "2s (3)", "1.50 ×", "activities: no wind"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, b.String())
		}
	}
	text, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	var back Report
	if err := json.Unmarshal(text, &back); err != nil || back.Runs[0].Results[0].Bare.Ratio != 0.83 {
		t.Errorf("read back: %v", err)
	}
}

// cases are enough for every table, chart and goal.
var cases = []Result{
	{Name: "list", Conns: 16}, {Name: "all", Conns: 2}, {Name: "filter-mixed", Fresh: true, Conns: 16}, fresh("levenshtein"),
	fresh("filter-equality"), fresh("filter-range"), fresh("filter-in"), fresh("filter-prefix"), fresh("filter-infix"),
	fresh("filter-pattern"), fresh("filter-not"),
}

func fresh(name string) Result { return Result{Name: name, Fresh: true, Conns: 1} }

// twoSizes is a report with two numbers of activities and all cases.
func twoSizes() Report {
	run := func(rows int) Run {
		m := Run{
			Rows: rows, BSON: int64(rows), Starts: []Start{{time.Second}}, Memory: &Memory{Rows: 1e6, Most: 2e6},
			Refresh: &Refresh{Visible: time.Second}, Notes: []string{"no wind"},
		}
		for _, c := range cases {
			c.Title, c.P50 = "title of "+c.Name, time.Duration(rows)*time.Microsecond
			c.Bare, c.Stores = &Bare{Ratio: 0.9, Low: 0.8, High: 1}, []Asked{{Store: Embedded, Factor: 90, By: ByScan}}
			m.Results = append(m.Results, c)
		}
		return m
	}
	return Report{Runs: []Run{run(100), run(1000)}}
}

func TestDraw(t *testing.T) {
	dir := t.TempDir()
	if err := Draw(dir, twoSizes()); err != nil {
		t.Fatal(err)
	}
	drawn := map[string]string{}
	for _, name := range []string{"ratio", "ratio-fresh", "fresh", "stores", "sizes", "memory"} {
		text, err := os.ReadFile(filepath.Join(dir, name+".svg"))
		if err != nil {
			t.Fatal(err)
		}
		if err := xml.Unmarshal(text, new(struct{})); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		drawn[name] = string(text)
	}
	for _, c := range cases {
		charts := []string{"stores", "ratio"}
		if c.Fresh {
			charts = []string{"stores", "ratio-fresh"}
			if c.Conns == 1 {
				charts = append(charts, "fresh")
			}
		}
		for _, chart := range charts {
			if !strings.Contains(drawn[chart], ">"+c.Name+"<") {
				t.Errorf("%s.svg is without %s", chart, c.Name)
			}
		}
	}
}

func TestFill(t *testing.T) {
	const doc = "# Figures\n<!-- vitrine bench: goals -->\nold\n<!-- end -->\nbetween\n<!-- vitrine bench: cases -->\n<!-- end -->\n<!-- vitrine bench: sizes -->\n<!-- end -->\nlast\n"
	got, err := Fill([]byte(doc), twoSizes())
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"# Figures\n", "\nbetween\n", "\nlast\n", "### 1,000 activities", "| filter-pattern | ", "| 0.90 |", "| what | bar |", "start to ready"} {
		if !strings.Contains(string(got), want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	if strings.Contains(string(got), "old") {
		t.Error("what stood there before is still there")
	}
	again, err := Fill(got, twoSizes())
	if err != nil || string(again) != string(got) {
		t.Errorf("filled twice, it differs: %v", err)
	}
	for _, broken := range []string{"", "<!-- vitrine bench: goals -->\n"} {
		if _, err := Fill([]byte(broken), twoSizes()); err == nil {
			t.Errorf("Fill(%q): no error", broken)
		}
	}
}

func TestJoin(t *testing.T) {
	r := twoSizes()
	other := Report{Runs: []Run{
		{Rows: 500, BSON: 500},
		{Rows: 100, BSON: 100, Against: "elsewhere", Notes: []string{"rain"}, Results: []Result{
			{Name: "list", P50: 1, Stores: []Asked{{Store: "scan"}, {Store: "against", Factor: 7}}}, {Name: "new"},
		}},
	}}
	r.Join(other)
	if len(r.Runs) != 3 || r.Runs[1].Rows != 500 {
		t.Fatalf("joined to %d runs, the second of %d activities", len(r.Runs), r.Runs[1].Rows)
	}
	m := r.Runs[0]
	list := m.Result("list")
	if list.P50 == 1 || len(list.Stores) != 2 || list.asked("scan").Factor != 90 || list.asked("against").Factor != 7 {
		t.Errorf("list came to %+v", list)
	}
	if m.Result("new") == nil || m.Against != "elsewhere" || len(m.Notes) != 2 {
		t.Errorf("not joined: %+v", m)
	}
}

func TestGoals(t *testing.T) {
	r := twoSizes()
	r.Runs[0].Rows, r.Runs[1].Rows = goalRows, mostRows
	small, large := &r.Runs[0], &r.Runs[1]
	for i, asked := range []Asked{{By: ByIndex, Factor: 49}, {By: ByIndex, Factor: 70}, {By: ByScan, Factor: 600}, {By: ByScan, Factor: 1, Error: "refused"}} {
		asked.Store = "against"
		name := []string{"filter-in", "filter-prefix", "filter-infix", "filter-not"}[i]
		small.Result(name).Stores = append(small.Result(name).Stores, asked)
	}
	small.Result("filter-range").P50 = 2 * time.Millisecond
	large.Result("filter-range").P50 = 30 * time.Millisecond
	want := map[string]bool{
		"a cached list": true, "equality": false, "regex on title": true, "its indexes": false, "must scan": true,
		"from job start": false, "p99 of traffic": true, "start to ready": true, "resident memory": true, "closest title": true,
		"within 12 GB": true, "grow no faster": false,
	}
	goals := Goals(r)
	if len(goals) != len(want) {
		t.Errorf("%d goals, want %d", len(goals), len(want))
	}
	for part, met := range want {
		i := slices.IndexFunc(goals, func(g Goal) bool { return strings.Contains(g.What, part) })
		if i < 0 || goals[i].Rows == 0 || goals[i].Met != met {
			t.Errorf("%s: want met %t in %+v", part, met, goals)
		}
	}
	for _, g := range Goals(Report{Runs: []Run{{Rows: 7}}}) {
		if g.Rows != 0 || g.How == "" || g.verdict() != "not measured" {
			t.Errorf("of nothing: %+v", g)
		}
	}
}

// TestDocument checks that the tables of docs/performance.md are those of the reports that
// are kept beside it.
func TestDocument(t *testing.T) {
	docs := filepath.Join("..", "..", "..", "..", "..", "docs")
	var whole Report
	for _, name := range []string{"report.json", "server.json"} {
		text, err := os.ReadFile(filepath.Join(docs, "performance", name))
		if err != nil {
			t.Fatal(err)
		}
		var one Report
		if err := json.Unmarshal(text, &one); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		whole.Join(one)
	}
	doc, err := os.ReadFile(filepath.Join(docs, "performance.md"))
	if err != nil {
		t.Fatal(err)
	}
	if got, err := Fill(doc, whole); err != nil || string(got) != string(doc) {
		t.Errorf("vitrine bench draw would change docs/performance.md: %v", err)
	}
	dir := t.TempDir()
	if err := Draw(dir, whole); err != nil {
		t.Fatal(err)
	}
	for _, image := range regexp.MustCompile(`\(performance/(.+\.svg)\)`).FindAllSubmatch(doc, -1) {
		if _, err := os.Stat(filepath.Join(dir, string(image[1]))); err != nil {
			t.Errorf("vitrine bench draw does not make a plot of the document: %v", err)
		}
	}
}

func TestFigures(t *testing.T) {
	tests := []struct{ got, want string }{
		{short(0), "–"},
		{short(1234), "1µs"},
		{short(1_234_567), "1.23ms"},
		{short(123_456_789), "123ms"},
		{short(1_234_567_890), "1.23s"},
		{short(12_345_678_900), "12.3s"},
		{rate(0.126), "0.13"},
		{rate(12.34), "12.3"},
		{rate(123.4), "123"},
		{rate(12345.6), "12,346"},
		{ratio(0.0126), "0.013"},
		{ratio(0.126), "0.13"},
		{size(0), "–"},
		{size(1_234_567), "1.2 MB"},
		{size(123_456_789), "123 MB"},
		{size(12_345_678_900), "12.3 GB"},
		{grouped(1_234_567), "1,234,567"},
		{number(0.00001), "0"},
		{number(0.1 + 0.2), "0.3"},
		{number(1e6), "1,000,000"},
		{given(false, "%d", 1), "–"},
		{given(true, "%d ×", 1), "1 ×"},
	}
	for i, tt := range tests {
		if tt.got != tt.want {
			t.Errorf("figure %d: got %s, want %s", i, tt.got, tt.want)
		}
	}
}

func TestMedian(t *testing.T) {
	tests := []struct {
		name    string
		figures []float64
		want    float64
	}{
		{"of none", nil, 0},
		{"of one", []float64{7}, 7},
		{"of three", []float64{9, 1, 2}, 2},
		{"of four", []float64{4, 1, 2, 9}, 3},
	}
	for _, tt := range tests {
		if got := MedianOf(tt.figures); got != tt.want {
			t.Errorf("%s: got %v, want %v", tt.name, got, tt.want)
		}
		if got := Median(tt.figures, func(f float64) float64 { return -f }); got != -tt.want {
			t.Errorf("%s, negated: got %v, want %v", tt.name, got, -tt.want)
		}
	}
}
