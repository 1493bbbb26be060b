package kept

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"vitrine/cmd/vitrine/programtest"
	"vitrine/proxy/proxytest"
	"vitrine/proxy/proxytest/osiristest"
)

// portal has the system that an institute's portal asks, and a folder for a program in front of it. The program's
// store holds the same records.
type portal struct {
	t        *testing.T
	old      *osiristest.Server
	twin     *osiristest.Server // has the same records and never fails, so that a test knows what is right
	dir, uri string
}

// portalConfig configures the program: the address of the old server and the rules follow.
const portalConfig = `
mongo: {batch: 50}
access: {anonymous: [projects.view, proposals.view, portfolio-spectrum]}
views:
  poll: 500ms
  optional: [proposals, journals, events, deadlines, user_units]
materialize: {lease: 6s, full: ""}
log: {requests: false}
`

// keepAll is a rule for all pages of the portal. It depends on one view only: an edit that several views show is
// several changes, since they are published one after the other.
const keepAll = `
    - paths: [/portfolio/]
      until: [activities]
      parameters: [limit, offset]
      auth: none
      rate: 1000
`

// newPortal starts an old server, imports its records to an embedded store, and configures rules. more has further
// lines of the section upstream.
func newPortal(t *testing.T, keep string, more ...string) *portal {
	t.Helper()
	p := &portal{t: t, old: osiristest.Start(t), twin: osiristest.Start(t), dir: t.TempDir()}
	p.uri = "bolt://" + filepath.Join(p.dir, "v.db")
	p.configure(keep, more...)
	p.load()
	return p
}

// configure writes the configuration.
func (p *portal) configure(keep string, more ...string) {
	p.t.Helper()
	lines := append([]string{portalConfig, "upstream:", "  url: " + p.old.URL()}, more...)
	programtest.WriteLines(p.t, filepath.Join(p.dir, "v.yml"), append(lines, "  keep:"+keep)...)
}

// edit changes the old server's records, but not those in the program's store.
func (p *portal) edit(change func(osiristest.Institute)) {
	p.old.Edit(change)
	p.twin.Edit(change)
}

// load imports the old server's records to the program's store, which no process may have open if it is embedded.
func (p *portal) load(collections ...string) {
	p.t.Helper()
	dump := p.t.TempDir()
	p.old.Institute().Dump(p.t, dump, collections...)
	programtest.Run(p.t, p.dir, "import", "--config", "v.yml", "--store", p.uri, dump)
}

// start starts the program and waits until it is ready.
func (p *portal) start(args ...string) *programtest.Server {
	p.t.Helper()
	return programtest.Start(p.t, p.dir, append([]string{"--config", "v.yml", "--store", p.uri}, args...)...).Ready()
}

// right returns the right body of a target.
func (p *portal) right(target string) string {
	p.t.Helper()
	_, body := programtest.Ask(p.t, p.twin.URL()+target)
	return body
}

// rights returns the right bodies of the portal's pages, by target.
func (p *portal) rights() map[string]string {
	p.t.Helper()
	all := map[string]string{}
	for _, e := range osiristest.Examples() {
		all[e.Target] = p.right(e.Target)
	}
	return all
}

// visit gets all pages of the portal, which must have the bodies in want.
func (p *portal) visit(s *programtest.Server, want map[string]string) {
	p.t.Helper()
	for target, body := range want {
		if res, got := programtest.Ask(p.t, s.Base+target); res.StatusCode != http.StatusOK || got != body {
			p.t.Errorf("%s: %d %s %.300s, want %s", target, res.StatusCode, res.Header.Get("Cache-Status"), got, body)
		}
	}
}

// becomes waits until all pages of the portal have the bodies in want. Until then they may have those of earlier
// states.
func (p *portal) becomes(s *programtest.Server, want map[string]string, earlier ...map[string]string) {
	p.t.Helper()
	was := func(target, body string) bool {
		return slices.ContainsFunc(earlier, func(state map[string]string) bool { return state[target] == body })
	}
	targets := slices.Collect(maps.Keys(want))
	// A page that stays the same does not show whether it is of the new state: those that change come first.
	slices.SortFunc(targets, func(a, b string) int {
		return strings.Compare(fmt.Sprint(was(a, want[a])), fmt.Sprint(was(b, want[b])))
	})
	for _, target := range targets {
		body := want[target]
		programtest.Await(p.t, target+" has changed", func() string {
			res, got := programtest.Ask(p.t, s.Base+target)
			if res.StatusCode != http.StatusOK || got != body && !was(target, got) {
				p.t.Fatalf("%s: %d %s %.300s", target, res.StatusCode, res.Header.Get("Cache-Status"), got)
			}
			return programtest.Unless(got == body && !saysStale(res))
		})
	}
}

// keeps waits until a server knows of a number of kept answers, from which time on it asks the old server for none of
// them. It is ready earlier, and a request that reaches the old server is not yet an answer.
func keeps(s *programtest.Server, want int) {
	s.T.Helper()
	programtest.Await(s.T, fmt.Sprintf("%d answers are kept", want), func() string {
		_, body := programtest.Fetch(s.T, http.MethodGet, s.Admin+"/admin/views")
		var views struct{ Kept []struct{ Answers int } }
		if err := json.Unmarshal([]byte(body), &views); err != nil {
			s.T.Fatal(err)
		}
		n := 0
		for _, rule := range views.Kept {
			n += rule.Answers
		}
		return programtest.Unless(n >= want)
	})
}

// saysStale reports whether an answer says that it is older than it should be.
func saysStale(res *http.Response) bool {
	status := res.Header.Get("Cache-Status")
	return strings.Contains(status, "detail=")
}

// asked checks how often the old server was asked for each page since the last call.
func (p *portal) asked(want int, when string) {
	p.t.Helper()
	for _, e := range osiristest.Examples() {
		if n := p.old.Count(e.Target); n != want {
			p.t.Errorf("%s: the old server was asked %d times for %s, want %d", when, n, e.Target, want)
		}
	}
	p.old.Forget()
}

// askedAtMost is asked for a bound.
func (p *portal) askedAtMost(most int, when string) {
	p.t.Helper()
	for _, e := range osiristest.Examples() {
		if n := p.old.Count(e.Target); n > most {
			p.t.Errorf("%s: the old server was asked %d times for %s, at most %d", when, n, e.Target, most)
		}
	}
	p.old.Forget()
}

// TestKeptColdAndWarm: however many clients ask for the portal's pages, in any form, the old server is asked once for
// each. What they get are answers of ours, without a trace of the session in which the old server gave them.
func TestKeptColdAndWarm(t *testing.T) {
	t.Parallel()
	p := newPortal(t, keepAll)
	s := p.start()
	want := p.rights()
	var clients sync.WaitGroup
	for range 8 {
		clients.Go(func() { p.visit(s, want) })
	}
	clients.Wait()
	p.asked(1, "cold")
	for target, body := range want {
		res, got := programtest.Ask(t, s.Base+target)
		h := res.Header
		tag := h.Get("ETag")
		if got != body || !strings.HasPrefix(tag, `"`) || !strings.Contains(h.Get("Cache-Status"), "hit") ||
			h.Get("Age") == "" || h.Get("Vitrine-Data-Age") == "" ||
			!strings.HasPrefix(h.Get("Content-Type"), "application/json") {
			t.Errorf("%s: %v", target, h)
		}
		for _, name := range []string{"Set-Cookie", "Pragma", "Expires", "X-Powered-By"} {
			if h.Get(name) != "" {
				t.Errorf("%s: %s: %s", target, name, h.Get(name))
			}
		}
		if strings.Contains(h.Get("Cache-Control"), "no-store") || h.Get("Access-Control-Allow-Origin") != "*" {
			t.Errorf("%s: %v", target, h)
		}
		if status, got := s.Get(target, "If-None-Match", tag); status != http.StatusNotModified || got != "" {
			t.Errorf("%s with its tag: %d %s", target, status, got)
		}
		if status, got := programtest.Fetch(t, http.MethodHead, s.Base+target); status != http.StatusOK || got != "" {
			t.Errorf("HEAD %s: %d %s", target, status, got)
		}
		for _, coding := range []string{"identity", "gzip", "br", "zstd"} {
			if res, got := programtest.GetEncoded(t, s.Base+target, coding); plain(t, res, got) != body {
				t.Errorf("%s in %s: %v", target, coding, res.Header)
			}
		}
		if status, got := s.Get(target + "?utm_source=letter"); status != http.StatusOK || got != body {
			t.Errorf("%s with a tracker's parameter: %d %s", target, status, got)
		}
	}
	p.asked(0, "warm")
	page := p.right("/portfolio/persons?limit=1&offset=2")
	for _, query := range []string{"?limit=1&offset=2", "?offset=2&limit=1", "?x=y&limit=1&offset=2"} {
		if status, got := s.Get("/portfolio/persons" + query); status != http.StatusOK || got != page {
			t.Errorf("persons%s: %d %s", query, status, got)
		}
	}
	if n := p.old.Total(); n != 1 {
		t.Errorf("one page in three spellings: %v", p.old.Counts())
	}
}

// TestKeptNothing: what does not exist is asked for once a minute, and what an envelope refuses is not kept.
func TestKeptNothing(t *testing.T) {
	t.Parallel()
	p := newPortal(t, keepAll)
	s := p.start()
	for range 3 {
		status, body := s.Get("/portfolio/unit/none")
		if status != http.StatusNotFound || !strings.Contains(body, `"status": 404`) {
			t.Errorf("a unit that does not exist: %d %s", status, body)
		}
	}
	if n := p.old.Count("/portfolio/unit/none"); n != 1 {
		t.Errorf("asked %d times for a unit that does not exist, want 1", n)
	}
	p.old.FailAt("/portfolio/units", osiristest.Refused)
	if status, body := s.Get("/portfolio/units"); !strings.Contains(body, `"status": 403`) {
		t.Errorf("refused: %d %s", status, body)
	}
	p.old.Fail(osiristest.Healthy)
	if status, body := s.Get("/portfolio/units"); status != http.StatusOK || body != p.right("/portfolio/units") {
		t.Errorf("no longer refused: %d %s", status, body)
	}
}

// TestKeptChanged: with a new generation of a view the pages are fetched again when a client asks, each once.
func TestKeptChanged(t *testing.T) {
	t.Parallel()
	p := newPortal(t, keepAll)
	s := p.start()
	before := p.rights()
	p.visit(s, before)
	p.asked(1, "cold")
	for i := range 2 {
		if code := s.Stop(); code != 0 { // an embedded store has one process
			t.Fatalf("exit code %d\n%s", code, s.Log())
		}
		p.edit(func(i osiristest.Institute) { i.Touch("activities") })
		p.load("activities")
		s = p.start()
		want := p.rights()
		p.becomes(s, want, before)
		p.asked(1, fmt.Sprint("after change ", i))
		p.visit(s, want)
		p.asked(0, "warm again")
		before = want
	}
}

// TestKeptRefreshedByPath: an operator has single pages fetched again.
func TestKeptRefreshedByPath(t *testing.T) {
	t.Parallel()
	p := newPortal(t, keepAll)
	s := p.start()
	before := p.rights()
	p.visit(s, before)
	p.asked(1, "cold")
	p.edit(func(i osiristest.Institute) { i.Touch("groups") })
	const unit = "/portfolio/unit/" + osiristest.Unit
	if status, body := programtest.Fetch(t, http.MethodPost, s.Admin+"/admin/refresh?path="+unit); status/100 != 2 {
		t.Fatalf("refresh: %d %s", status, body)
	}
	programtest.Await(t, "the page has changed", func() string {
		_, got := s.Get(unit)
		return programtest.Unless(got == p.right(unit))
	})
	if n := p.old.Count(unit); n != 1 {
		t.Errorf("asked %d times for a page, want 1", n)
	}
	delete(before, unit)
	p.visit(s, before)
	if n := p.old.Total(); n != 1 {
		t.Errorf("asked for %v, want only %s", p.old.Counts(), unit)
	}
}

// TestKeptCallingBack: the old server asks itself at its public name, which is the program's, while it makes a page.
// Even if such pages take all connections of their rule, those that they need can still be fetched: they have
// another.
func TestKeptCallingBack(t *testing.T) {
	t.Parallel()
	few := strings.Replace(keepAll, "rate: 1000", "rate: 1000\n      connections: 2", 1)
	p := newPortal(t, strings.Replace(few, "/portfolio/]", "/portfolio/topics, /portfolio/units]", 1)+few)
	s := p.start()
	p.old.CallBack(s.Base)
	var clients sync.WaitGroup
	for _, page := range []string{"unit/BIO", "unit/CHE", "topic/soil", "topic/water"} {
		clients.Go(func() {
			target := "/portfolio/" + page
			if status, got := s.Get(target); status != http.StatusOK || got != p.right(target) {
				t.Errorf("%s: %d %s", target, status, got)
			}
		})
	}
	clients.Wait()
}

// plain returns a body that was requested in a coding.
func plain(t *testing.T, res *http.Response, body string) string {
	t.Helper()
	return proxytest.Plain(t, proxytest.Response{Response: res, Body: []byte(body)})
}

// TestKeptByPreset: the rules that the preset osiris brings have every page of the portal fetched again when one of
// the collections changes that it is made from.
func TestKeptByPreset(t *testing.T) {
	programtest.WholeOnly(t)
	t.Parallel()
	p := newPortal(t, "")
	programtest.WriteLines(t, filepath.Join(p.dir, "v.yml"), portalConfig, "preset: osiris",
		"upstream: {url: "+p.old.URL()+"}")
	s := p.start()
	before := p.rights()
	for target, body := range before {
		programtest.Await(t, target+" is kept", func() string {
			status, got := s.Get(target)
			return programtest.Unless(status == http.StatusOK && got == body)
		})
	}
	p.asked(1, "cold")
	needless := 0
	for collection := range p.old.Institute() {
		if code := s.Stop(); code != 0 {
			t.Fatalf("exit code %d\n%s", code, s.Log())
		}
		p.edit(func(i osiristest.Institute) { i.Touch(collection) })
		p.load(collection)
		p.old.Forget()
		s = p.start()
		want := p.rights()
		for _, e := range osiristest.Examples() {
			programtest.Await(t, e.Target+" has changed with "+collection, func() string {
				status, got := s.Get(e.Target)
				if status != http.StatusOK || got != want[e.Target] && got != before[e.Target] {
					t.Fatalf("%s: %d %s", e.Target, status, got)
				}
				return programtest.Unless(got == want[e.Target])
			})
			if n := p.old.Count(e.Target); n > 0 && !e.Depends(collection) {
				needless++
			}
		}
		before = want
	}
	t.Logf("%d pages were fetched again after a change that they do not depend on", needless)
}
