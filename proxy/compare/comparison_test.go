package compare_test

import (
	"bytes"
	"context"
	"encoding/gob"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"vitrine/proxy/compare"
)

// TestRules: every rule that is built in is a line of docs/osiris.md, and every line that answers depend on has a
// rule.
func TestRules(t *testing.T) {
	page, err := os.ReadFile("../../docs/osiris.md")
	if err != nil {
		t.Fatal(err)
	}
	_, differs, _ := strings.Cut(string(page), "## What differs from OSIRIS\n")
	lines := strings.Split(strings.TrimSpace(strings.ReplaceAll(differs, "\n  ", " ")), "\n")
	lines = slices.DeleteFunc(lines, func(line string) bool { return !strings.HasPrefix(line, "- ") })
	reasons := map[string]bool{}
	for _, r := range compare.OSIRIS() {
		reasons["- "+r.Reason] = true
	}
	for _, line := range lines {
		if !reasons[line] && !strings.Contains(line, "have the role `user` only") { // seen with a session only
			t.Errorf("no rule for %q", line)
		}
		delete(reasons, line)
	}
	for reason := range reasons {
		t.Errorf("docs/osiris.md does not have %q", reason)
	}
}

func TestAccept(t *testing.T) {
	rules, err := compare.ParseAccepted("own.yaml", []byte("- {reason: ours, endpoint: /api/x*, path: '$.data[*].a'}\n"+
		"- {reason: html, endpoint: /api/y, path: ['$.b*', '$.c*'], except: '*d', kind: html, ignore: 'x+'}\n"))
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		endpoint string
		d        compare.Difference
		accepted bool
	}{
		{"/api/xy", compare.Difference{Kind: compare.FieldChanged, Path: "$.data[7].a"}, true},
		{"/api/xy", compare.Difference{Kind: compare.FieldChanged, Path: "$.data[7].ab"}, false},
		{"/api/xy", compare.Difference{Kind: compare.FieldChanged, Path: "$.data[7].b[1].a"}, false},
		{"/api/z", compare.Difference{Kind: compare.FieldChanged, Path: "$.data[7].a"}, false},
		{"/api/xy", compare.Difference{Kind: compare.Failed, Path: "$.data[7].a"}, false},
		{"/api/y", compare.Difference{Kind: compare.Words, Path: "$.b a", Old: "1 xx", New: "1"}, true},
		{"/api/y", compare.Difference{Kind: compare.Tag, Path: "$.c a", Old: "1 xx", New: "1"}, true},
		{"/api/y", compare.Difference{Kind: compare.Words, Path: "$.c d", Old: "1 xx", New: "1"}, false},
		{"/api/y", compare.Difference{Kind: compare.Attribute, Path: "$.c a@b", Old: "1 xx", New: "2"}, false},
		{"/api/y", compare.Difference{Kind: compare.Text, Path: "$.c a@b", Old: "1 xx", New: "1"}, false},
	} {
		if got := rules.Accept(tt.endpoint, tt.d) != nil; got != tt.accepted {
			t.Errorf("%s %+v: accepted %v", tt.endpoint, tt.d, got)
		}
	}
	for _, r := range compare.OSIRIS() { // a rule about one value accepts mistakes that look like it
		if r.Relation.Name() == "" || r.Old != nil || r.New != nil || r.Ignore != nil {
			t.Errorf("the rule %q has no relation", r.Reason)
		}
	}
	for text, want := range map[string]string{
		"- {reason: x}":                    "own.yaml: rule 1: want a reason, and one of",
		"- {kind: order}":                  "own.yaml: rule 1: want a reason",
		"- {reason: x, old: '('}":          "own.yaml: error parsing regexp: missing closing ): `(`",
		"- {reason: x, fild: a}":           "field fild not found",
		"- {reason: x, kind: a}\n- {b: ":   "own.yaml: ",
		"- {reason: x, relation: similar}": `line 1: relation "similar"; want one of ["status of the envelope"`,
		"- {reason: x, kind: ordr}":        `own.yaml: rule 1: kind "ordr"`,
	} {
		if _, err := compare.ParseAccepted("own.yaml", []byte(text)); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
	if rules, err := compare.ParseAccepted("own.yaml", nil); err != nil || len(rules) > 0 {
		t.Errorf("an empty file: %v, %v", rules, err)
	}
}

// TestReport: reports are the same whatever comes first, and bounded.
func TestReport(t *testing.T) {
	old, new := sides(t, answering(""), answering(""))
	answer := func(n int, took time.Duration) compare.Answer {
		body := fmt.Sprintf(`{"data":[{"id":"\u001b[2J%d","a":"%s"}]}`, n%7, strings.Repeat("x", n))
		return compare.Answer{Status: 200, Type: "application/json", Body: []byte(body), Took: took}
	}
	report := func(order []int) compare.Report {
		c := compare.NewComparison(old, new, compare.Settings{Examples: 3})
		for _, n := range order {
			r := compare.Request{Method: "GET", Target: fmt.Sprintf("/api/x?n=%d", n)}
			c.Add(t.Context(), r,
				[2]compare.Answer{answer(n, time.Duration(n)*time.Millisecond), answer(n+1, time.Second)}, [2]error{})
		}
		c.Add(t.Context(), compare.Request{Method: "GET", Target: "/api/y"}, [2]compare.Answer{},
			[2]error{nil, errors.New("refused")})
		r := c.Report()
		r.Since, r.Until = time.Time{}, time.Time{}
		return r
	}
	var up []int
	for n := 1; n <= 1000; n++ {
		up = append(up, n)
	}
	down := slices.Clone(up)
	slices.Reverse(down)
	first, _ := json.Marshal(report(up)) // cannot fail: numbers and texts
	second, _ := json.Marshal(report(down))
	if string(first) != string(second) {
		t.Errorf("reports differ:\n%s\n%s", first, second)
	}
	r := report(up)
	if e := r.Endpoints[0]; e.Asked != 1000 || e.Differ != 1000 || e.Old.P50 != 501 || e.Old.P99 != 991 ||
		e.New.P50 != 1000 {
		t.Errorf("endpoint %+v", e)
	}
	if r.Total.Failed != 1 || r.Endpoints[1].Failed != 1 || len(r.Differences()[0].Examples) != 3 ||
		len(first) > 20_000 || strings.Contains(r.Differences()[0].Examples[0].Row, "\x1b") {
		t.Errorf("report of %d bytes: %.2000s", len(first), first)
	}
	c := compare.NewComparison(old, new, compare.Settings{Examples: 3})
	ok := compare.Answer{Status: 200, Body: []byte(`{}`), Took: time.Millisecond}
	for n := range 3000 {
		r := compare.Request{Method: "GET", Target: fmt.Sprintf("/api/x%d", n)}
		c.Add(t.Context(), r, [2]compare.Answer{ok, {Status: 404}}, [2]error{})
		c.Add(t.Context(), r, [2]compare.Answer{ok,
			{Status: 200, Body: []byte(fmt.Sprintf(`{"a%d":1}`, n)), Took: 2 * time.Millisecond}}, [2]error{})
	}
	if r := c.Report(); len(r.Endpoints) != 201 || len(r.Differences()) != 1001 ||
		!slices.ContainsFunc(r.Differences(),
			func(g compare.Group) bool { return g.Endpoint == "others" && g.Answers > 2000 }) ||
		r.Total.Asked != 6000 || r.Total.Old.P99 != 1 || r.Total.New.P99 != 2 {
		t.Errorf("%d endpoints, %d groups, %+v", len(r.Endpoints), len(r.Differences()), r.Total)
	}
}

// targets returns requests for /api/x?0 to n-1.
func targets(n int, then func(i int)) iter.Seq2[compare.Request, error] {
	return func(yield func(compare.Request, error) bool) {
		for i := range n {
			then(i)
			if !yield(compare.Request{Method: "GET", Target: fmt.Sprintf("/api/x?%d", i)}, nil) {
				return
			}
		}
	}
}

// TestRunResumes: an interrupted run reports what it did, and its state continues where it was.
func TestRunResumes(t *testing.T) {
	var mu sync.Mutex
	times := map[string]int{}
	var broken atomic.Bool
	broken.Store(true)
	old, new := sides(t, func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		times[r.RequestURI]++
		mu.Unlock()
		_, _ = fmt.Fprintf(w, `{"a":%q}`, r.RequestURI)
	}, func(w http.ResponseWriter, r *http.Request) {
		if r.RequestURI == "/api/x?7" && broken.Load() {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
		_, _ = fmt.Fprintf(w, `{"a":%q}`, strings.Replace(r.RequestURI, "?5", "?changed", 1))
	})
	file := filepath.Join(t.TempDir(), "state")
	run := func() (*compare.Comparison, error) {
		c := compare.NewComparison(old, new, compare.Settings{Examples: 3, Concurrency: 3, State: file})
		return c, c.Resume()
	}
	c, err := run()
	if err != nil {
		t.Fatal(err)
	}
	ctx, interrupt := context.WithCancel(t.Context())
	r, err := c.Run(ctx, targets(1000, func(i int) {
		if i == 100 {
			interrupt()
		}
	}))
	if err != nil || r.Stopped != "interrupted" || r.Total.Asked < 90 || r.Total.Asked > 101 {
		t.Fatalf("interrupted: %v, %s after %d", err, r.Stopped, r.Total.Asked)
	}
	broken.Store(false)
	if c, err = run(); err != nil {
		t.Fatal(err)
	}
	if r, err = c.Run(t.Context(), targets(1000, func(int) {})); err != nil {
		t.Fatal(err)
	}
	if r.Total.Asked != 1000 || r.Total.Failed != 0 || r.Total.Agree != 889 || r.Total.Differ != 111 ||
		r.Total.Requests != 1000 || len(r.Differences()) != 1 {
		t.Errorf("total %+v, %d differences", r.Total, len(r.Differences()))
	}
	if _, err := os.Stat(file); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the state is still there: %v", err)
	}
	again := 0
	for target, n := range times {
		if n > 1 && target != "/api/x?7" {
			again += n - 1
		}
	}
	if again > 3 { // those that were under way
		t.Errorf("%d requests were asked again", again)
	}
	if r, err = c.Run(canceled(t), targets(1, func(int) {})); err != nil || r.Stopped == "" {
		t.Fatal(r.Stopped, err)
	}
	var earlier bytes.Buffer // the content before Form was a part of it
	if err := gob.NewEncoder(&earlier).Encode(struct{ Old, New string }{"a", "b"}); err != nil {
		t.Fatal(err)
	}
	state, err := os.ReadFile(file)
	if err = errors.Join(err, os.WriteFile(file, earlier.Bytes(), 0o600)); err != nil {
		t.Fatal(err)
	}
	if _, err := run(); err == nil || !strings.HasSuffix(err.Error(),
		"state: is of another version of vitrine: remove it to begin anew") {
		t.Errorf("the state of another version: %v", err)
	}
	if err := os.WriteFile(file, state, 0o600); err != nil {
		t.Fatal(err)
	}
	other, _ := sides(t, answering(""), answering(""))
	c = compare.NewComparison(other, new, compare.Settings{State: file})
	if err := c.Resume(); err == nil || !strings.Contains(err.Error(), "is of the comparison of") {
		t.Errorf("the state of another comparison: %v", err)
	}
	for _, text := range []string{"", "{}", `{"Report":{"endpoints":[null],"differences":[null]}}`, "\x00"} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := run(); err == nil {
			t.Errorf("%q is a state", text)
		}
	}
}

// roundTrip is a transport that answers itself.
type roundTrip func(*http.Request) *http.Response

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r), nil }

// TestRunKilled: a run that is killed has written what it compared some seconds before.
func TestRunKilled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		state := filepath.Join(t.TempDir(), "state")
		run := func(rate float64) *compare.Comparison {
			answer := roundTrip(func(*http.Request) *http.Response {
				return &http.Response{StatusCode: 200, Header: http.Header{},
					Body: io.NopCloser(strings.NewReader("{}"))}
			})
			old, oldErr := compare.NewSide("old", "http://old.example", compare.Keys{}, answer)
			new, newErr := compare.NewSide("new", "http://new.example", compare.Keys{}, answer)
			if err := errors.Join(oldErr, newErr); err != nil {
				t.Fatal(err)
			}
			return compare.NewComparison(old, new, compare.Settings{Examples: 3, Rate: rate, State: state})
		}
		c := run(10)
		r, err := c.Run(t.Context(), targets(1000, func(i int) {
			if i != 500 {
				return
			}
			again := run(0)
			if err := again.Resume(); err != nil || again.Report().Total.Agree < 400 {
				t.Errorf("%v, %+v", err, again.Report().Total)
			}
		}))
		if err != nil || r.Total.Agree != 1000 {
			t.Errorf("%v, %+v", err, r.Total)
		}
	})
}

// canceled returns a context that has ended.
func canceled(t *testing.T) context.Context {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	return ctx
}

// TestRunStops: a server that is away is not asked for all of a log.
func TestRunStops(t *testing.T) {
	var asked atomic.Int64
	old, new := sides(t, func(w http.ResponseWriter, _ *http.Request) {
		asked.Add(1)
		w.WriteHeader(http.StatusBadGateway)
	}, answering("{}"))
	r, err := compare.NewComparison(old, new, compare.Settings{Examples: 3}).Run(t.Context(),
		targets(1000, func(int) {}))
	if err != nil || r.Stopped != "20 requests in a row failed: old: 502 Bad Gateway" {
		t.Errorf("stopped by %q, %v", r.Stopped, err)
	}
	if n := asked.Load(); n < 20 || n > 25 {
		t.Errorf("asked %d times", n)
	}
	if g := r.Differences(); len(g) != 1 || g[0].Examples[0].Old != "502 Bad Gateway" || g[0].Path != "old" {
		t.Errorf("differences %+v", g)
	}
}

// TestTooLong: answers that are too long to be compared count as failed, and do not stop the others.
func TestTooLong(t *testing.T) {
	old, new := sides(t, answering(`{"a":"`+strings.Repeat("x", 2000)+`"}`),
		answering(`{"a":"`+strings.Repeat("y", 2000)+`"}`))
	old.Most, new.Most = 1000, 1000
	r, err := compare.NewComparison(old, new,
		compare.Settings{Accepted: compare.OSIRIS(), Examples: 3}).Run(t.Context(), targets(50, func(int) {}))
	if err != nil || r.Stopped != "" {
		t.Fatal(r.Stopped, err)
	}
	if r.Total.Failed != 50 || len(r.Differences()) != 1 || r.Differences()[0].Reason != "" {
		t.Errorf("%+v", r.Total)
	}
}

// TestPage: the page has what servers sent as text, and no key.
func TestPage(t *testing.T) {
	old, new := sides(t, answering(`{"a":"<script>alert(1)</script>","b":"Geheim7"}`),
		answering(`{"a":"<img src=x onerror=alert(2)>"}`))
	old.SetKeys(compare.Keys{API: "Geheim7"})
	r, err := compare.NewComparison(old, new, compare.Settings{Examples: 3}).Run(t.Context(),
		targets(1, func(int) {}))
	if err != nil {
		t.Fatal(err)
	}
	page, err := r.HTML()
	text := string(page)
	if err != nil || strings.Contains(text, "<script") || strings.Contains(text, "<img") ||
		strings.Contains(text, "Geheim") {
		t.Errorf("%v\n%s", err, text)
	}
	if !strings.Contains(text, "&lt;script&gt; alert(1)") {
		t.Errorf("%s", text)
	}
}
