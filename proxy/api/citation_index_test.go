package api_test

import (
	"fmt"
	"net/http"
	"testing"

	"vitrine/proxy/proxytest"
)

// TestCitationIndexAge: an answer states its age, and whether it has expired.
func TestCitationIndexAge(t *testing.T) {
	o := proxytest.Options(t)
	o.Citations = &citations{}
	s := proxytest.Open(t, proxytest.Institute(t), o)
	for user, status := range map[string]string{"Known": "", "Empty": "vitrine; hit; detail=stale"} {
		res := s.Get("/api/citation-index?user=" + user)
		if got := res.Header.Get("Vitrine-Data-Age"); got != "3600" || res.Header.Get("Age") != "0" ||
			res.Header.Get("Cache-Status") != status {
			t.Errorf("%s: Age %s, Cache-Status %s, want %s", user, got, res.Header.Get("Cache-Status"), status)
		}
	}
}

func TestCitationIndex(t *testing.T) {
	tests := []struct {
		name, query string
		status      int
		body        string // for an error, its name
		asked       string
	}{
		{"profile", "?user=Known", 200, knownProfile, "Known"},
		{"profile without anything", "?user=Empty", 200, emptyProfile, "Empty"},
		{"limit, offset and key are not read", "?user=Empty&limit=x&offset=y&apikey=wrong", 200, emptyProfile,
			"Empty"},
		{"document", "?user=Known&doc=u-x6o8", 200, knownDocument, "Known:u-x6o8"},
		{"presence of doc selects the document", "?user=Known&doc=", 400, "WrongCall", "Known:"},
		{"no user", "", 200, "", ""},
		{"no user, but a document", "?doc=u-x6o8", 200, "", ""},
		{"empty user", "?user=", 200, "", ""},
		{"user as a list", "?user[]=Known", 400, "WrongCall", ""},
		{"doc as a list", "?user=Known&doc[]=a", 400, "WrongCall", ""},
		{"user is not UTF-8", "?user=%ff", 400, "WrongCall", ""},
		{"unknown user", "?user=Nobody", 404, "DataNotFound", "Nobody"},
		{"the index refuses", "?user=Blocked", 503, "Service unavailable", "Blocked"},
		{"the index is slow", "?user=Slow", 503, "Service unavailable", "Slow"},
		{"something else", "?user=Broken", 500, "Internal server error", "Broken"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			known := &citations{}
			o := departmentOptions(t)
			o.Citations, o.Auth.APIKey = known, "Right" // these endpoints need no key
			res := proxytest.Open(t, department(t), o).Get("/api/citation-index" + tt.query)
			if res.StatusCode != tt.status {
				t.Fatalf("status %d, want %d: %s", res.StatusCode, tt.status, res.Body)
			}
			if tt.status == 200 {
				if got := string(res.Body); got != tt.body {
					t.Errorf("got  %s\nwant %s", got, tt.body)
				}
			} else if e := res.Envelope(t); e.Error != tt.body {
				t.Errorf("error = %q, want %q", e.Error, tt.body)
			}
			if got := fmt.Sprint(known.asked); got != fmt.Sprint(append([]string(nil), nonEmpty(tt.asked)...)) {
				t.Errorf("asked = %s, want %s", got, tt.asked)
			}
		})
	}
}

func nonEmpty(s string) []string {
	if s == "" {
		return nil
	}
	return []string{s}
}

func TestCitationIndexConditional(t *testing.T) {
	o := departmentOptions(t)
	o.Citations = &citations{}
	s := proxytest.Open(t, department(t), o)
	first := s.Get("/api/citation-index?user=Known")
	tag := first.Header.Get("ETag")
	if tag == "" || first.Header.Get("Content-Type") != "application/json; charset=utf-8" {
		t.Fatalf("header = %v", first.Header)
	}
	if got := s.Get("/api/citation-index?user=Known", "If-None-Match", tag).StatusCode; got !=
		http.StatusNotModified {
		t.Errorf("status %d for its own tag", got)
	}
	head := s.Do(http.MethodHead, "/api/citation-index?user=Known")
	if head.StatusCode != 200 || len(head.Body) != 0 || head.Header.Get("ETag") != tag {
		t.Errorf("HEAD: status %d, %d bytes, %v", head.StatusCode, len(head.Body), head.Header)
	}
}

// TestMadeUpCitationUsers: after some requests for made-up users, the client gets answers only for
// known users.
func TestMadeUpCitationUsers(t *testing.T) {
	known := &citations{}
	o := departmentOptions(t)
	o.Citations = known
	s := proxytest.Open(t, department(t), o)
	refused := 0
	for i := range 20 {
		res := s.Get(fmt.Sprint("/api/citation-index?user=MadeUp", i))
		if res.StatusCode == http.StatusTooManyRequests && res.Header.Get("Retry-After") != "" {
			refused++
		}
	}
	if refused != 15 || len(known.asked) != 5 {
		t.Errorf("of 20 made-up users %d were refused and %d looked up, want 15 and 5", refused, len(known.asked))
	}
	if got := s.Get("/api/citation-index?user=Known").StatusCode; got != 200 {
		t.Errorf("status %d for a known user", got)
	}
}

func TestNoCitationIndex(t *testing.T) {
	s := proxytest.Open(t, department(t), departmentOptions(t))
	e := s.Get("/api/citation-index?user=Known").Envelope(t)
	if e.Status != 404 || e.Error != "DataNotFound" || e.Msg != "No citation index is configured here." {
		t.Errorf("envelope = %+v", e)
	}
	if res := s.Get("/api/citation-index"); res.StatusCode != 200 || len(res.Body) != 0 {
		t.Errorf("without a user: status %d, %s", res.StatusCode, res.Body)
	}
}
