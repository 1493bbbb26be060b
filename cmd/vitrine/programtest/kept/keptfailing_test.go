package kept

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"vitrine/cmd/vitrine/programtest"
	"vitrine/proxy/proxytest/osiristest"
)

// brief is keepAll with answers that are stale after a second.
var brief = strings.Replace(keepAll, "auth:", "for: 1s\n      stale: 24h\n      auth:", 1)

// serves checks that a page has a body. It returns "" if the answer says that it is stale, or does not, as expected.
func (p *portal) serves(s *programtest.Server, target, body string, stale bool) string {
	p.t.Helper()
	res, got := programtest.Ask(p.t, s.Base+target)
	if res.StatusCode != http.StatusOK || got != body {
		p.t.Fatalf("%s: %d %s %.300s, want %s", target, res.StatusCode, res.Header.Get("Cache-Status"), got, body)
	}
	if saysStale(res) == stale {
		return ""
	}
	return res.Header.Get("Cache-Status")
}

// TestKeptWhileFailing: a page whose requests fail in any way goes on being served with its last good answer, which
// says so. Other pages are fetched as before. When the failure is over, the new answer comes.
func TestKeptWhileFailing(t *testing.T) {
	t.Parallel()
	p := newPortal(t, brief)
	s := p.start()
	before := p.rights()
	p.visit(s, before)
	p.edit(func(i osiristest.Institute) { i.Touch("system") })
	want := p.rights()
	failing := map[string]osiristest.Failure{}
	for i, failure := range osiristest.Failures() {
		if failure != osiristest.Stopped {
			target := osiristest.Examples()[i].Target
			failing[target] = failure
			p.old.FailAt(target, failure)
		}
	}
	for target, failure := range failing {
		programtest.Await(t, target+" says that it is stale: "+failure.String(), func() string {
			return p.serves(s, target, before[target], true)
		})
	}
	for target, body := range want {
		if _, fails := failing[target]; !fails {
			programtest.Await(t, target+" has changed", func() string {
				_, got := s.Get(target)
				return programtest.Unless(got == body)
			})
		}
	}
	for target := range failing {
		p.serves(s, target, before[target], true)
	}
	p.old.Fail(osiristest.Healthy)
	p.becomes(s, want, before)
}

// TestKeptWhileAllFails: while every request to the old server fails, every page that is kept is served, and those
// that are not say that the old server is at fault.
func TestKeptWhileAllFails(t *testing.T) {
	programtest.WholeOnly(t)
	t.Parallel()
	p := newPortal(t, brief)
	s := p.start()
	before := p.rights()
	p.visit(s, before)
	for i, failure := range []osiristest.Failure{
		osiristest.Stopped, osiristest.Hangs, osiristest.DatabaseAway, osiristest.LoginRedirect,
	} {
		p.old.Fail(failure)
		p.edit(func(i osiristest.Institute) { i.Touch("system") })
		for target, body := range before {
			programtest.Await(t, target+" says that it is stale: "+failure.String(), func() string {
				return p.serves(s, target, body, true)
			})
		}
		if failure != osiristest.Hangs { // that takes as long as the time-out
			target := fmt.Sprint("/portfolio/persons?limit=", i+1)
			if status, got := s.Get(target); got == p.right(target) {
				t.Errorf("%s: %d for a page that is not kept: %s", failure, status, got)
			}
		}
		p.old.Fail(osiristest.Healthy)
		want := p.rights()
		p.becomes(s, want, before)
		before = want
	}
}

// TestKeptWhileSlow: a request for a stale page waits for the new answer, but not long; then it gets the old one,
// which says so. Meanwhile the old server is asked once.
func TestKeptWhileSlow(t *testing.T) {
	t.Parallel()
	p := newPortal(t, brief)
	s := p.start()
	const target = "/portfolio/units"
	before := p.right(target)
	s.Get(target)
	p.edit(func(i osiristest.Institute) { i.Touch("groups") })
	after := p.right(target)
	p.old.Fail(osiristest.Slow)
	const patience = 2 * time.Second
	began := time.Now() // before the request to the old server, if one is under way
	programtest.Await(t, "the slow answer comes", func() string {
		res, got := programtest.Ask(t, s.Base+target)
		// On a busy machine the new answer may take longer than requests wait.
		if got != before && got != after || saysStale(res) && time.Since(began) < patience {
			t.Fatalf("%d %s %s", res.StatusCode, res.Header.Get("Cache-Status"), got)
		}
		if !saysStale(res) {
			began = time.Now()
		}
		// otherwise a request to the old server is still under way
		return programtest.Unless(got == after && !saysStale(res))
	})
	p.old.Fail(osiristest.Healthy)
	p.edit(func(i osiristest.Institute) { i.Touch("groups") })
	release := p.old.Hold()
	p.old.Forget()
	programtest.Await(t, "the old answer says that it is stale",
		func() string { return p.serves(s, target, after, true) })
	for range 20 {
		p.serves(s, target, after, true)
	}
	if n := p.old.Total(); n != 1 {
		t.Errorf("asked %d times while it had not answered, want 1", n)
	}
	release()
	p.edit(func(osiristest.Institute) {})
	want := p.right(target)
	programtest.Await(t, "the new answer comes",
		func() string { return programtest.Unless(programtest.Body(s, target) == want) })
}

// TestKeptFirstAnswer: a failure that comes first is not kept if the rule names the media type: the next request gets
// the right answer.
func TestKeptFirstAnswer(t *testing.T) {
	t.Parallel()
	p := newPortal(t, strings.Replace(keepAll, "auth:", "type: application/json\n      auth:", 1))
	s := p.start()
	failing := map[string]osiristest.Failure{}
	for i, failure := range osiristest.Failures() {
		if failure != osiristest.Stopped && failure != osiristest.Hangs { // that takes as long as the time-out
			target := osiristest.Examples()[i].Target
			failing[target] = failure
			p.old.FailAt(target, failure)
		}
	}
	for target, failure := range failing {
		if status, got := s.Get(target); status == http.StatusOK && got == p.right(target) {
			t.Errorf("%s: %s: %d %s", target, failure, status, got)
		}
	}
	p.old.Fail(osiristest.Healthy)
	for target, failure := range failing {
		if status, got := s.Get(target); status != http.StatusOK || got != p.right(target) {
			t.Errorf("%s after %s: %d %s", target, failure, status, got)
		}
	}
}

// TestKeptWrongPage: an operator drops a page that was kept although it was wrong: without a media type in the rule,
// a login page that comes first is as good as any.
func TestKeptWrongPage(t *testing.T) {
	t.Parallel()
	p := newPortal(t, keepAll)
	s := p.start()
	const target = "/portfolio/units"
	p.old.FailAt(target, osiristest.LoginPage)
	if _, got := s.Get(target); !strings.Contains(got, "Login") {
		t.Errorf("the first answer: %s", got)
	}
	p.old.Fail(osiristest.Healthy)
	if status, got := programtest.Fetch(t, http.MethodPost,
		s.Admin+"/admin/refresh?drop=1&path="+target); status/100 != 2 {
		t.Fatalf("refresh: %d %s", status, got)
	}
	programtest.Await(t, "the page is right", func() string {
		_, got := s.Get(target)
		return programtest.Unless(got == p.right(target))
	})
}
