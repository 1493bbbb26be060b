package report

import (
	"encoding/json"
	"encoding/xml"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

func TestWriteTable(t *testing.T) {
	r := Report{Runs: []Run{{
		Rows: 100_000, BSON: 290e6, Fill: 8 * time.Second, Build: 9 * time.Second,
		Starts: []time.Duration{3 * time.Second, time.Second, 2 * time.Second}, Against: "elsewhere",
		Memory: Memory{Rows: 404e6}, Refresh: Refresh{Changed: 100, Ratio: 1.5, Rounds: 1}, Notes: []string{"no wind"},
		Results: []Result{
			{Name: "list", Rate: 50_000, Bare: &Bare{Ratio: 0.83}, Other: &Asked{P50: time.Second, Factor: 1234}},
			{Name: "full", P50: 1500 * time.Millisecond, Other: &Asked{Error: "unknown operator"}},
		},
	}}}
	var b strings.Builder
	if err := WriteTable(&b, r); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"100,000 activities", "290 MB", "50,000", "0.83", "1,234", "refused", "1.5s", "2s", "1.5 ×", "activities: no wind"} {
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

// cases are enough for every table and chart.
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
			Rows: rows, BSON: int64(rows), Starts: []time.Duration{time.Second}, Memory: Memory{Rows: 1e6},
			Refresh: Refresh{Visible: time.Second}, Notes: []string{"no wind"},
		}
		for _, c := range cases {
			c.Title, c.P50 = "title of "+c.Name, time.Duration(rows)*time.Microsecond
			c.Bare = &Bare{Ratio: 0.9, Low: 0.8, High: 1}
			m.Results = append(m.Results, c)
		}
		return m
	}
	return Report{Runs: []Run{run(100), run(1000)}}
}

func TestDraw(t *testing.T) {
	dir := t.TempDir()
	if err := draw(dir, twoSizes()); err != nil {
		t.Fatal(err)
	}
	drawn := map[string]string{}
	for _, name := range []string{"ratio", "fresh", "sizes", "memory"} {
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
		for chart, want := range map[string]bool{"ratio": !c.Fresh, "fresh": c.Fresh && c.Conns == 1} {
			if strings.Contains(drawn[chart], ">"+c.Name+"<") != want {
				t.Errorf("%s.svg shows %s: want %t", chart, c.Name, want)
			}
		}
	}
}

func TestFill(t *testing.T) {
	const doc = "# Figures\n<!-- vitrine bench: machine -->\nold\n<!-- end -->\nbetween\n<!-- vitrine bench: cases -->\n<!-- end -->\n<!-- vitrine bench: sizes -->\n<!-- end -->\nlast\n"
	got, err := fill(doc, twoSizes())
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"# Figures\n", "\nbetween\n", "\nlast\n", "### 1,000 activities", "| filter-pattern | ", "| 0.9 |", "| case | what is asked |", "start to ready"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	if strings.Contains(got, "old") {
		t.Error("what stood there before is still there")
	}
	again, err := fill(got, twoSizes())
	if err != nil || again != got {
		t.Errorf("filled twice, it differs: %v", err)
	}
	for _, broken := range []string{"", "<!-- vitrine bench: machine -->\n"} {
		if _, err := fill(broken, twoSizes()); err == nil {
			t.Errorf("fill(%q): no error", broken)
		}
	}
}

// TestDocument checks that the tables of docs/performance.md and its plots are those of the
// report that is kept beside it.
func TestDocument(t *testing.T) {
	docs := filepath.Join("..", "..", "..", "..", "..", "docs")
	text, err := os.ReadFile(filepath.Join(docs, "performance", "report.json"))
	if err != nil {
		t.Fatal(err)
	}
	var whole Report
	if err := json.Unmarshal(text, &whole); err != nil {
		t.Fatal(err)
	}
	doc, err := os.ReadFile(filepath.Join(docs, "performance.md"))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	copied := filepath.Join(dir, "performance.md")
	if err := os.WriteFile(copied, doc, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := Update(copied, whole); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(copied); err != nil || string(got) != string(doc) {
		t.Errorf("vitrine bench draw would change docs/performance.md: %v", err)
	}
	for _, image := range regexp.MustCompile(`\(performance/(.+\.svg)\)`).FindAllSubmatch(doc, -1) {
		name := string(image[1])
		drawn, err := os.ReadFile(filepath.Join(dir, "performance", name))
		shown, failed := os.ReadFile(filepath.Join(docs, "performance", name))
		if err != nil || failed != nil || string(drawn) != string(shown) {
			t.Errorf("vitrine bench draw would change %s: %v, %v", name, err, failed)
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
		{number(0.0126), "0.013"},
		{number(0.126), "0.13"},
		{number(12.34), "12.3"},
		{number(999.4), "999"},
		{number(12345.6), "12,346"},
		{number(0.1 + 0.2), "0.3"},
		{size(0), "–"},
		{size(1_234_567), "1.23 MB"},
		{size(12_345_678_900), "12,346 MB"},
		{number(1_234_567), "1,234,567"},
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
