package kept

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"vitrine/cmd/vitrine/programtest"
	"vitrine/proxy/proxytest/osiristest"
)

// TestKeptInOtherSpellings: whichever way a path is written, a page that needs a key is not sent without one, not
// from what is kept and not from the old server, whether or not that needs a key, which the program has.
func TestKeptInOtherSpellings(t *testing.T) {
	for _, oldKey := range []string{"old-key-0123456789", ""} {
		t.Run("key of the old server: "+oldKey, func(t *testing.T) {
			t.Parallel()
			spelledOtherwise(t, oldKey)
		})
	}
}

// spelledOtherwise is TestKeptInOtherSpellings with a key of the old server, or none if it is empty.
func spelledOtherwise(t *testing.T, oldKey string) {
	const key = "portal-key-0123456789"
	p := newPortal(t, "")
	programtest.Setenv(p.dir, "VITRINE_AUTH_PORTFOLIO_KEY", key)
	programtest.Setenv(p.dir, "VITRINE_UPSTREAM_KEY", oldKey)
	p.old.SetKey(oldKey)
	p.configure(strings.Replace(keepAll, "auth: none", "auth: portfolio", 1))
	s := p.start()
	const unit = "/portfolio/unit/" + osiristest.Unit
	right := p.right(unit)
	if res, got := askAs(t, s.Base+unit, "X-API-Key", key); res.StatusCode != http.StatusOK || got != right {
		t.Fatalf("with a key: %d %s", res.StatusCode, got)
	}
	spellings := []string{
		unit, unit + "/", "//portfolio/unit/BIO", "/portfolio//unit/BIO", "/portfolio/unit//BIO",
		"/portfolio/unit/%42IO", "/portfolio%2Funit/BIO", "/portfolio/unit%2fBIO", "/%70ortfolio/unit/BIO",
		"/PORTFOLIO/unit/BIO", "/Portfolio/unit/BIO", "/portfolio/./unit/BIO", "/./portfolio/unit/BIO",
		"/portal/../portfolio/unit/BIO", "/portal/%2e%2e/portfolio/unit/BIO", "/portal/..;/portfolio/unit/BIO",
		"/portfolio;x/unit/BIO", "/portfolio/unit/BIO;x", "/portfolio/unit/BIO%20", "/portfolio/unit/BIO.php",
		`/portfolio\unit/BIO`, "/portfolio/unit/BIO%00", "/portfolio/unit/BIO%3flimit=1",
		"/index.php/portfolio/unit/BIO", "/portfolio/unit/BIO?", "/portfolio/unit/BIO?&",
		"/portfolio/unit/BIO?limit=",
		"http://other.example/portfolio/unit/BIO",
	}
	for _, target := range spellings {
		status, got := raw(s, target)
		if status == http.StatusOK && strings.Contains(got, `"context"`) {
			t.Errorf("%s without a key: %d %s", target, status, got)
		}
		for _, r := range p.old.Requests()[1:] {
			if oldKey != "" && strings.Contains(r.Text(), oldKey) {
				t.Errorf("%s without a key reached the old server with the program's: %s", target, r.Target)
			}
		}
	}
	p.old.Forget()
	for _, target := range spellings {
		status, got := raw(s, target, "X-API-Key", key)
		if status == http.StatusOK && strings.Contains(got, `"context"`) && got != right {
			t.Errorf("%s with a key: %d %s", target, status, got)
		}
	}
	if n := p.old.CountPath(unit); n > 0 {
		t.Errorf("a page that is kept was fetched %d times for its other spellings", n)
	}
}

// raw sends a request for a target as it is written.
func raw(s *programtest.Server, target string, headers ...string) (status int, body string) {
	s.T.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(s.Base, "http://"))
	if err != nil {
		s.T.Fatal(err)
	}
	defer conn.Close()
	host := strings.TrimPrefix(s.Base, "http://")
	text := fmt.Sprintf("GET %s HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n", target, host)
	for i := 0; i < len(headers); i += 2 {
		text += headers[i] + ": " + headers[i+1] + "\r\n"
	}
	if _, err := io.WriteString(conn, text+"\r\n"); err != nil {
		s.T.Fatal(err)
	}
	res, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		s.T.Fatalf("%s: %v", target, err)
	}
	defer res.Body.Close()
	content, err := io.ReadAll(res.Body)
	if err != nil {
		s.T.Fatalf("%s: %v", target, err)
	}
	return res.StatusCode, string(content)
}
