package bench

import (
	"context"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"iter"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/origin"
	"vitrine/cache/origin/bolt"
	"vitrine/cache/origin/dump"
	"vitrine/cmd/vitrine/internal/bench/load"
	"vitrine/cmd/vitrine/internal/bench/serving"
	"vitrine/configs/demo"
	"vitrine/rules"
	"vitrine/rules/filter"
)

// institute is the demo institute in an embedded store.
func institute(t testing.TB) origin.Store {
	t.Helper()
	store, err := bolt.Open(t.TempDir()+"/demo.db", bolt.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	d, err := dump.OpenFS(demo.FS(), ".", dump.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	if _, err := dump.Load(t.Context(), store, d, dump.LoadOptions{}); err != nil {
		t.Fatal(err)
	}
	return store
}

func words(t testing.TB) *vocabulary {
	t.Helper()
	v, err := collect(t.Context(), institute(t), 0)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// TestFreshQuestionsDiffer checks the promise that no question of a fresh case is
// ever asked twice, by what the front end tells questions apart by: the meaning of
// the filter, not its spelling.
func TestFreshQuestionsDiffer(t *testing.T) {
	cases, missing := words(t).cases()
	if len(missing) > 0 {
		t.Errorf("the demo has no words for %v", missing)
	}
	lists := map[string]string{} // of /api/activities?limit=20, by the filter's key
	for _, c := range cases {
		if !c.Fresh {
			continue
		}
		seen := map[string]bool{}
		for n := range min(c.Supply, 3000) {
			path := c.Path(n)
			key := keyOfPath(t, path)
			if seen[key] {
				t.Fatalf("%s: question %d was asked before: %s", c.Name, n, path)
			}
			seen[key] = true
			if other, ok := lists[key]; ok {
				t.Fatalf("%s: question %d was asked by %s: %s", c.Name, n, other, path)
			}
			lists[key] = c.Name
		}
	}
}

// keyOfPath is what an answer is kept by: the path, with the filter in its
// canonical form.
func keyOfPath(t *testing.T, path string) string {
	t.Helper()
	u, err := url.Parse(path)
	if err != nil {
		t.Fatal(err)
	}
	q := u.Query()
	if text := q.Get("json"); text != "" {
		f, err := filter.Parse([]byte(text), filter.Options{})
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		q.Set("json", f.Key())
	}
	return u.Path + "?" + q.Encode()
}

// TestFiltersFindSomething checks that most filters select rows: a benchmark of
// empty answers would flatter.
func TestFiltersFindSomething(t *testing.T) {
	store := institute(t)
	v, err := collect(t.Context(), store, 0)
	if err != nil {
		t.Fatal(err)
	}
	rows, err := records(t.Context(), store, collectionActivities)
	if err != nil {
		t.Fatal(err)
	}
	least := map[string]int{"filter-equality": 2, "filter-elem": 10} // of 40: conjunctions
	for _, c := range v.filters() {
		if c.Query == nil {
			continue
		}
		found := 0
		for n := range 40 {
			q, err := c.Query(n * 97 % c.Supply)
			if err != nil {
				t.Fatalf("%s: %v", c.Name, err)
			}
			f, err := filter.FromBSON(q.Filter, filter.Options{})
			if err != nil {
				t.Fatalf("%s: %v", c.Name, err)
			}
			if slices.ContainsFunc(rows, func(row bson.Raw) bool { ok, _ := f.Match(row); return ok }) {
				found++
			}
		}
		want, ok := least[c.Name]
		if !ok {
			want = 25
		}
		if found < want {
			t.Errorf("%s: %d of 40 filters find something, want %d", c.Name, found, want)
		}
	}
}

func TestDigits(t *testing.T) {
	seen := map[string]bool{}
	for n := range 2 * 3 * 5 {
		d := digits(n)
		seen[fmt.Sprint(d.next(2), d.next(3), d.next(5))] = true
	}
	if len(seen) != 30 {
		t.Errorf("30 numbers have %d different digits", len(seen))
	}
}

func TestChoice(t *testing.T) {
	tests := []struct {
		names  []string
		has    []string
		hasNot []string
		wrong  bool
	}{
		{nil, []string{"list", "start", "refresh"}, nil, false},
		{[]string{"filter", "memory"}, []string{"filter-in", "filter-mixed", "memory"}, []string{"list", "start"}, false},
		{[]string{"list"}, []string{"list", "list-304"}, []string{"filter-in"}, false},
		{[]string{"all-gzip"}, []string{"all-gzip"}, []string{"all"}, false},
		{[]string{"lis"}, nil, nil, true},
	}
	for _, tt := range tests {
		c, err := newChoice(tt.names)
		if (err != nil) != tt.wrong {
			t.Errorf("%v: %v", tt.names, err)
		}
		for _, name := range tt.has {
			if !c.has(name) {
				t.Errorf("%v: lacks %s", tt.names, name)
			}
		}
		for _, name := range tt.hasNot {
			if c.has(name) {
				t.Errorf("%v: has %s", tt.names, name)
			}
		}
	}
	if err := errorOf(Run(t.Context(), Options{Cases: []string{"nothing"}})); err == nil {
		t.Error("Run with an unknown case: no error")
	}
}

func errorOf(_ Report, err error) error { return err }

func TestGrow(t *testing.T) {
	store := institute(t)
	for _, size := range []int{1000, 1000, 250} {
		if err := grow(t.Context(), store, size); err != nil {
			t.Fatal(err)
		}
		all, err := ids(t.Context(), store, collectionActivities)
		if err != nil || len(all) != size {
			t.Errorf("grown to %d: %d activities, %v", size, len(all), err)
		}
	}
}

func TestSums(t *testing.T) {
	of := func(n int, took ...time.Duration) side {
		s := side{cpu: time.Duration(n)}
		s.Elapsed, s.Bytes, s.Hits, s.Misses = time.Second, int64(10*n), n, n
		for i := range n {
			s.Requests = append(s.Requests, load.Request{Took: took[i%len(took)]})
		}
		return s
	}
	ours := []side{of(100, 3), of(300, 1), of(200, 2)}
	theirs := []side{of(200, 1), of(300, 1), of(100, 1)}
	var r Result
	r.sum(ours)
	r.against(ours, theirs)
	if r.Rate != 200 || r.P50 != 2 || r.CPU != 200 || r.Bytes != 10 || r.Hits != 0.5 || r.Seen != 600 {
		t.Errorf("sum: %+v", r)
	}
	if b := r.Bare; b.Rate != 200 || b.Ratio != 1 || b.Low != 0.5 || b.High != 2 {
		t.Errorf("ratios 0.5, 1 and 2 came to %+v", b)
	}
	r = Result{}
	if r.against(ours, nil); r.Bare != nil {
		t.Error("without a bare handler there is a ratio")
	}
}

func TestRefreshSum(t *testing.T) {
	began := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	at := func(ms int) time.Time { return began.Add(time.Duration(ms) * time.Millisecond) }
	one := refreshed{
		Changed:     serving.Changed{Started: at(2000), Published: at(2300), Visible: at(2400)},
		steadyUntil: at(1990),
	}
	one.Sample.Began = began
	for ms := 0; ms < 3500; ms += 10 {
		took := time.Millisecond
		if ms >= 2000 && ms < 2900 {
			took = 3 * time.Millisecond
		}
		one.Requests = append(one.Requests, load.Request{At: time.Duration(ms) * time.Millisecond, Took: took})
	}
	var r Refresh
	r.sum([]refreshed{one})
	if r.Visible != 400*time.Millisecond || r.Publish != 300*time.Millisecond || r.Swap != 100*time.Millisecond {
		t.Errorf("visible %v, publish %v, swap %v", r.Visible, r.Publish, r.Swap)
	}
	if r.SteadyP99 != time.Millisecond || r.P99 != 3*time.Millisecond || r.Ratio != 3 {
		t.Errorf("steady %v, meanwhile %v, ratio %v", r.SteadyP99, r.P99, r.Ratio)
	}
	if n := len(r.Trace.Points); n != 175 {
		t.Errorf("%d points of 20 ms in 3.5 s", n)
	}
	if !slices.IsSortedFunc(r.Trace.Points, func(a, b Point) int { return int(a.At - b.At) }) {
		t.Error("the trace is not in order")
	}
}

// source answers every query with the same number of documents, or refuses.
type source struct {
	origin.Source
	err     error
	queries []origin.Query
}

func (s *source) Find(_ context.Context, _ string, q origin.Query) iter.Seq2[bson.Raw, error] {
	s.queries = append(s.queries, q)
	return func(yield func(bson.Raw, error) bool) {
		if s.err != nil {
			yield(nil, s.err)
			return
		}
		yield(bson.Raw{5, 0, 0, 0, 0}, nil)
	}
}

func TestAskStore(t *testing.T) {
	failed := errors.New("gone")
	tests := []struct {
		name    string
		err     error
		refused bool
		wrong   bool
	}{
		{"answers", nil, false, false},
		{"a query it does not know", fmt.Errorf("x: %w", origin.ErrUnsupported), true, false},
		{"a query it takes for wrong", fmt.Errorf("x: %w", rules.ErrWrongCall), true, false},
		{"a store that fails", failed, false, true},
	}
	for _, tt := range tests {
		s := &source{err: tt.err}
		b := &bench{words: words(t), wanted: choice{"filter-in"}}
		b.Options = b.withDefaults()
		if err := b.askStore(t.Context(), asking{kind: "scan", store: s}); (err != nil) != tt.wrong {
			t.Errorf("%s: %v", tt.name, err)
		}
		if tt.wrong {
			continue
		}
		asked := b.asked["filter-in"]
		if len(asked) != 1 || asked[0].Store != "scan" || (asked[0].Error != "") != tt.refused {
			t.Errorf("%s: %+v", tt.name, asked)
		}
		if q := s.queries[0]; q.Limit != pageSize || len(q.Sort) != 2 || q.Filter == nil {
			t.Errorf("%s: asked %+v", tt.name, q)
		}
		if n := len(s.queries); !tt.refused && n != storeTimes {
			t.Errorf("%s: asked %d times", tt.name, n)
		}
	}
}

func TestWriteTable(t *testing.T) {
	r := Report{Runs: []Measurement{{
		Rows: 100_000, BSON: 290e6, Fill: 8 * time.Second, Build: 9 * time.Second,
		Starts: []Start{{3 * time.Second}, {time.Second}, {2 * time.Second}},
		Memory: &Memory{Rows: 404e6}, Pauses: &Pauses{Cycles: 3}, Refresh: &Refresh{Changed: 100, Ratio: 1.5, Rounds: 1}, Notes: []string{"no wind"},
		Results: []Result{
			{Name: "list", Rate: 50_000, Bare: &Bare{Rate: 60_000, Ratio: 0.83}, Stores: []Asked{{Store: "scan", P50: time.Second, Factor: 1234}}},
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

// report is one of two sizes, with every case in it.
func report() Report {
	run := func(rows int) Measurement {
		m := Measurement{
			Rows: rows, BSON: int64(rows), Starts: []Start{{time.Second}}, Memory: &Memory{Rows: 1e6, Most: 2e6},
			Refresh: &Refresh{Visible: time.Second, Trace: Trace{Points: []Point{{1, 2}}}}, Notes: []string{"no wind"},
		}
		for _, c := range (&vocabulary{}).every() {
			m.Results = append(m.Results, Result{
				Name: c.Name, Title: c.Title, Fresh: c.Fresh, Conns: max(c.Conns, 1), P50: time.Duration(rows) * time.Microsecond,
				Bare: &Bare{Ratio: 0.9, Low: 0.8, High: 1}, Stores: []Asked{{Store: "scan", Factor: 90, By: byScan}},
			})
		}
		return m
	}
	return Report{Runs: []Measurement{run(100), run(1000)}}
}

func TestDraw(t *testing.T) {
	dir := t.TempDir()
	if err := Draw(dir, report()); err != nil {
		t.Fatal(err)
	}
	drawn := map[string]string{}
	for _, name := range []string{"ratio", "ratio-fresh", "fresh", "stores", "sizes", "memory", "refresh-100", "refresh-1000"} {
		text, err := os.ReadFile(filepath.Join(dir, name+".svg"))
		if err != nil {
			t.Fatal(err)
		}
		if err := xml.Unmarshal(text, new(struct{})); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		drawn[name] = string(text)
	}
	for _, c := range (&vocabulary{}).every() {
		charts := []string{"stores", "ratio"}
		if c.Fresh {
			charts = []string{"stores", "ratio-fresh"}
			if c.Conns <= 1 {
				charts = append(charts, "fresh")
			}
		}
		for _, name := range charts {
			if !strings.Contains(drawn[name], ">"+c.Name+"<") {
				t.Errorf("%s.svg is without %s", name, c.Name)
			}
		}
	}
}

func TestFill(t *testing.T) {
	const doc = "# Figures\n<!-- vitrine bench: goals -->\nold\n<!-- end -->\nbetween\n<!-- vitrine bench: cases -->\n<!-- end -->\n<!-- vitrine bench: sizes -->\n<!-- end -->\nlast\n"
	got, err := Fill([]byte(doc), report())
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
	again, err := Fill(got, report())
	if err != nil || string(again) != string(got) {
		t.Errorf("filled twice, it differs: %v", err)
	}
	for _, broken := range []string{"", "<!-- vitrine bench: goals -->\n"} {
		if _, err := Fill([]byte(broken), report()); err == nil {
			t.Errorf("Fill(%q): no error", broken)
		}
	}
}

func TestJoin(t *testing.T) {
	r := report()
	other := Report{Runs: []Measurement{
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
	list := m.result("list")
	if list.P50 == 1 || len(list.Stores) != 2 || list.asked("scan").Factor != 90 || list.asked("against").Factor != 7 {
		t.Errorf("list came to %+v", list)
	}
	if m.result("new") == nil || m.Against != "elsewhere" || len(m.Notes) != 2 {
		t.Errorf("not joined: %+v", m)
	}
}

func TestGoals(t *testing.T) {
	r := report()
	r.Runs[0].Rows, r.Runs[1].Rows = goalRows, mostRows
	small, large := &r.Runs[0], &r.Runs[1]
	for i, asked := range []Asked{{By: byIndex, Factor: 49}, {By: byIndex, Factor: 70}, {By: byScan, Factor: 600}, {By: byScan, Factor: 1, Error: "refused"}} {
		asked.Store = "against"
		name := []string{"filter-in", "filter-prefix", "filter-infix", "filter-not"}[i]
		small.result(name).Stores = append(small.result(name).Stores, asked)
	}
	small.result("filter-range").P50 = 2 * time.Millisecond
	large.result("filter-range").P50 = 30 * time.Millisecond
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
	for _, g := range Goals(Report{Runs: []Measurement{{Rows: 7}}}) {
		if g.Rows != 0 || g.How == "" || g.verdict() != "not measured" {
			t.Errorf("of nothing: %+v", g)
		}
	}
}
