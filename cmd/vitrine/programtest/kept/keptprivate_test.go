package kept

import (
	"bytes"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"vitrine/cmd/vitrine/programtest"
	"vitrine/proxy/proxytest/osiristest"
)

// canary is in everything that a caller sends about itself.
const canary = "canary7f3a"

// personal returns a request that carries the canary in all ways.
func personal(t *testing.T, url string, n int) *http.Request {
	t.Helper()
	mine := fmt.Sprintf("%s-%d", canary, n)
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range map[string]string{
		"Cookie": "PHPSESSID=" + mine + "; _ga=" + mine, "Authorization": "Basic " + mine, "Accept-Language": mine,
		"Referer": "https://example.org/" + mine, "User-Agent": "Browser/" + mine, "From": mine + "@example.org",
		"X-Forwarded-For": "192.0.2.7", "X-Forwarded-Host": mine + ".example.org", "X-Forwarded-Proto": mine,
		"Forwarded": "for=" + mine, "Client-IP": mine, "True-Client-IP": mine, "X-Real-IP": mine, "X-" + mine: mine,
		"Origin": "https://" + mine + ".example.org", "X-Requested-With": mine, "X-Original-URL": "/" + mine,
		"If-None-Match": `"` + mine + `"`, "Cache-Control": "no-cache, " + mine, "Pragma": "no-cache",
		"X-HTTP-Method-Override": mine, "Traceparent": mine,
	} {
		req.Header.Set(name, value)
	}
	if n%2 == 0 {
		req.Host = mine + ".example.org"
	}
	q := req.URL.Query()
	q.Set("token", mine)
	q.Set("utm_source", mine)
	req.URL.RawQuery = q.Encode()
	return req
}

// TestKeptNothingPersonal: callers with cookies, keys and other things of their own ask first, then callers without.
// No byte of the former reaches the old server, the store, the files or the answers of the latter.
func TestKeptNothingPersonal(t *testing.T) {
	t.Parallel()
	const key, oldKey = "canary7f3a-portal-key-0123456789", "old-key-0123456789"
	for _, closed := range []bool{false, true} {
		t.Run(fmt.Sprint("closed: ", closed), func(t *testing.T) {
			t.Parallel()
			p := newPortal(t, keepAll)
			settings := keepAll
			if closed {
				settings = strings.Replace(keepAll, "auth: none", "auth: portfolio", 1)
				programtest.Setenv(p.dir, "VITRINE_AUTH_PORTFOLIO_KEY", key)
				p.old.SetKey(oldKey)
				programtest.WriteLines(t, filepath.Join(p.dir, "key"), oldKey)
				p.configure(settings, "  key_file: key")
			}
			programtest.Setenv(p.dir, programtest.SnapshotEnv, "files")
			s := p.start()
			targets := osiristest.Examples()
			for n := range 200 {
				req := personal(t, s.Base+targets[n%len(targets)].Target, n)
				if n%2 == 0 {
					req.URL.RawQuery += "&apikey=" + key
				} else {
					req.Header.Set("X-API-Key", key)
				}
				res, err := http.DefaultTransport.RoundTrip(req)
				if err != nil {
					t.Fatal(err)
				}
				if res.Body.Close(); res.StatusCode != http.StatusOK {
					t.Fatalf("%s: %s", req.URL, res.Status)
				}
			}
			for n := range 200 {
				target := targets[n%len(targets)].Target
				req := programtest.NewRequest(s.Base + target)
				if closed {
					req.Header.Set("X-API-Key", key)
				}
				res, err := http.DefaultTransport.RoundTrip(req)
				if err != nil {
					t.Fatal(err)
				}
				var all bytes.Buffer
				_ = res.Write(&all)
				if text := all.String(); res.StatusCode != http.StatusOK || !strings.Contains(text, "hit") ||
					strings.Contains(text, canary) || !closed && !strings.Contains(text, p.right(target)) {
					t.Errorf("%s: %s", target, text)
				}
			}
			if closed {
				if status, got := s.Get(targets[0].Target); status == http.StatusOK {
					t.Errorf("without a key: %d %s", status, got)
				}
			}
			p.isImpersonal(targets, closed, oldKey)
			if code := s.Stop(); code != 0 {
				t.Errorf("exit code %d\n%s", code, s.Log())
			}
			p.leavesNo(canary)
			p.leavesNo("PHPSESSID")
			p.leavesNo(oldKey)
		})
	}
}

// isImpersonal checks the requests that reached the old server: one for each page, all alike.
func (p *portal) isImpersonal(targets []osiristest.Example, closed bool, key string) {
	p.t.Helper()
	for _, r := range p.old.Requests() {
		h := r.Header
		if strings.Contains(r.Text(), canary) || h.Get("Cookie")+h.Get("Authorization")+h.Get("Referer") != "" {
			p.t.Errorf("reached the old server: %s", r.Text())
		}
		if strings.Contains(r.Target, key) != closed {
			p.t.Errorf("the old server's key: %s", r.Target)
		}
	}
	for _, e := range targets {
		if n := p.old.CountPath(e.Target); n != 1 {
			p.t.Errorf("%s: asked %d times", e.Target, n)
		}
	}
}

// leavesNo checks the store and the files of an embedded program that has ended.
func (p *portal) leavesNo(word string) {
	p.t.Helper()
	err := filepath.WalkDir(p.dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Dir(name) == p.dir && filepath.Base(name) != "v.db" {
			return err
		}
		text, err := os.ReadFile(name)
		if bytes.Contains(text, []byte(word)) {
			p.t.Errorf("%s is in %s", word, name)
		}
		return err
	})
	if err != nil {
		p.t.Error(err)
	}
}

// TestNotKeptPerSession: paths without a rule, whose answers depend on the session, are forwarded with it and not
// kept.
func TestNotKeptPerSession(t *testing.T) {
	t.Parallel()
	p := newPortal(t, keepAll)
	s := p.start()
	for _, target := range osiristest.SessionPaths {
		for _, name := range []string{"one", "two", "one"} {
			status, got := s.Get(target, "Cookie", "PHPSESSID="+name)
			if status != http.StatusOK || !strings.Contains(got, `"`+name+`"`) {
				t.Errorf("%s as %s: %d %s", target, name, status, got)
			}
		}
	}
}
