package kept

import (
	"io"
	"net/http"
	"strings"
	"syscall"
	"testing"

	"vitrine/cmd/vitrine/programtest"
	"vitrine/proxy/proxytest/osiristest"
)

// TestKeptReloaded: a reload takes over the rules. What is kept goes on being sent only as the new rules allow.
func TestKeptReloaded(t *testing.T) {
	t.Parallel()
	const key = "portal-key-0123456789"
	p := newPortal(t, keepAll)
	programtest.Setenv(p.dir, "VITRINE_AUTH_PORTFOLIO_KEY", key)
	s := p.start()
	want := p.rights()
	p.visit(s, want) // without a key: the rule needs none
	p.asked(1, "cold")
	const target = "/portfolio/units"
	reload := func(keep string) {
		t.Helper()
		p.configure(keep)
		if err := s.Cmd.Process.Signal(syscall.SIGHUP); err != nil {
			t.Fatal(err)
		}
	}

	reload(strings.Replace(keepAll, "auth: none", "auth: portfolio", 1))
	programtest.Await(t, "the page needs a key", func() string {
		status, _ := s.Get(target)
		return programtest.Unless(status != http.StatusOK)
	})
	for target, body := range want {
		if status, got := s.Get(target); status == http.StatusOK {
			t.Errorf("%s without a key: %d %s", target, status, got)
		}
		res, got := askAs(t, s.Base+target, "X-API-Key", key)
		if res.StatusCode != http.StatusOK || got != body ||
			!strings.Contains(res.Header.Get("Cache-Control"), "private") {
			t.Errorf("%s with a key: %d %s %s", target, res.StatusCode, res.Header.Get("Cache-Control"), got)
		}
	}
	p.asked(0, "with a key")

	reload(strings.Replace(keepAll, "/portfolio/]", "/portfolio/unit/]", 1))
	programtest.Await(t, "pages without a rule are forwarded", func() string {
		askAs(t, s.Base+target, "X-API-Key", key)
		return programtest.Unless(p.old.Count(target) > 0)
	})
	const unit = "/portfolio/unit/" + osiristest.Unit
	if status, got := s.Get(unit); status != http.StatusOK || got != want[unit] || p.old.Count(unit) != 0 {
		t.Errorf("a page with a rule: %d %s, asked %d times", status, got, p.old.Count(unit))
	}

	reload(" []")
	programtest.Await(t, "nothing is kept", func() string {
		askAs(t, s.Base+unit, "X-API-Key", key)
		return programtest.Unless(p.old.Count(unit) > 0)
	})
}

// TestKeptExplained: explain says which rule keeps an answer, under which key and since when, and asks nothing.
func TestKeptExplained(t *testing.T) {
	t.Parallel()
	p := newPortal(t, keepAll)
	s := p.start()
	const unit = "/portfolio/unit/" + osiristest.Unit
	s.Get(unit + "?limit=3&x=y")
	asked := p.old.Total()
	text := programtest.Run(t, p.dir, "explain", "--config", "v.yml", "--store", p.uri,
		"--admin-listen", strings.TrimPrefix(s.Admin, "http://"), unit+"?x=y&limit=3")
	for _, want := range []string{"/portfolio/", unit + "?limit=3", "kept: since"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in %s", want, text)
		}
	}
	if n := p.old.Total(); n != asked {
		t.Errorf("explain asked the old server %d times", n-asked)
	}
}

// askAs is ask with headers given as name, value pairs.
func askAs(t *testing.T, url string, headers ...string) (*http.Response, string) {
	t.Helper()
	req := programtest.NewRequest(url)
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	res, err := programtest.Patient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res, string(body)
}
