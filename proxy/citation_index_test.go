package proxy_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"testing"
	"time"

	"vitrine/cache/citation"
	"vitrine/rules"
)

// What the index knows.
const (
	knownProfile = `{"total_citations":"1.234","citations_per_year":{"2023":"7"},"publications":[` +
		`{"title":"A \u003cb\u003e \u0026 c","link":"u-x6o8","authors":"A Ahn","venue":"Soil 1","citations":"7","year":"2023"},` +
		`{"title":"B","link":"qjMa","authors":"B Bee","venue":"","citations":0,"year":0}]}`
	emptyProfile  = `{"total_citations":null,"citations_per_year":[],"publications":[]}`
	knownDocument = `{"title":"A","doi":"","Autoren":["A Ahn","B Bee"],"Band":"3"}`
)

// index is a citation index that knows one profile and one document.
type index struct {
	asked []string
}

func (x *index) Profile(_ context.Context, user string) (citation.Answer, error) {
	x.asked = append(x.asked, user)
	switch user {
	case "Known":
		return citation.Answer{Age: time.Hour, Text: []byte(knownProfile)}, nil
	case "Empty":
		return citation.Answer{Age: time.Hour, Stale: true, Text: []byte(emptyProfile)}, nil
	case "Blocked":
		return citation.Answer{}, fmt.Errorf("page: %w", citation.ErrBlocked)
	case "Slow":
		return citation.Answer{}, fmt.Errorf("wait: %w", context.DeadlineExceeded)
	case "Broken":
		return citation.Answer{}, errors.New("a secret of the house")
	}
	return citation.Answer{}, fmt.Errorf("citation index: %w", rules.ErrNotFound)
}

func (x *index) Document(_ context.Context, user, doc string) (citation.Answer, error) {
	x.asked = append(x.asked, user+":"+doc)
	if doc == "" {
		return citation.Answer{}, rules.Wrongf("doc", "", "want 1 to 64 characters")
	}
	return citation.Answer{Text: []byte(knownDocument)}, nil
}

func (x *index) Knows(user string) bool { return user == "Known" }

// TestCitationIndexAge: an answer says how old it is, and when it is past its time.
func TestCitationIndexAge(t *testing.T) {
	o := options(t)
	o.Citations = &index{}
	s := open(t, institute(t), o)
	for user, status := range map[string]string{"Known": "", "Empty": "vitrine; hit; detail=stale"} {
		res := s.get("/api/citation-index?user=" + user)
		if got := res.Header.Get("Vitrine-Data-Age"); got != "3600" || res.Header.Get("Age") != "0" || res.Header.Get("Cache-Status") != status {
			t.Errorf("%s: Age %s, Cache-Status %s, want %s", user, got, res.Header.Get("Cache-Status"), status)
		}
	}
}

func TestCitationIndex(t *testing.T) {
	tests := []struct {
		name, query string
		status      int
		body        string // of an error, its name
		asked       string
	}{
		{"profile", "?user=Known", 200, knownProfile, "Known"},
		{"profile without anything", "?user=Empty", 200, emptyProfile, "Empty"},
		{"limit, offset and key are not read", "?user=Empty&limit=x&offset=y&apikey=wrong", 200, emptyProfile, "Empty"},
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
			known := &index{}
			o := departmentOptions(t)
			o.Citations, o.Auth.APIKey = known, "Right" // which is not asked for
			res := open(t, department(t), o).get("/api/citation-index" + tt.query)
			if res.StatusCode != tt.status {
				t.Fatalf("status %d, want %d: %s", res.StatusCode, tt.status, res.body)
			}
			if tt.status == 200 {
				if got := string(res.body); got != tt.body {
					t.Errorf("got  %s\nwant %s", got, tt.body)
				}
			} else if e := res.envelope(t); e.Error != tt.body {
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
	o.Citations = &index{}
	s := open(t, department(t), o)
	first := s.get("/api/citation-index?user=Known")
	tag := first.Header.Get("ETag")
	if tag == "" || first.Header.Get("Content-Type") != "application/json; charset=utf-8" {
		t.Fatalf("header = %v", first.Header)
	}
	if got := s.get("/api/citation-index?user=Known", "If-None-Match", tag).StatusCode; got != http.StatusNotModified {
		t.Errorf("status %d for its own tag", got)
	}
	head := s.do(http.MethodHead, "/api/citation-index?user=Known")
	if head.StatusCode != 200 || len(head.body) != 0 || head.Header.Get("ETag") != tag {
		t.Errorf("HEAD: status %d, %d bytes, %v", head.StatusCode, len(head.body), head.Header)
	}
}

// TestMadeUpCitationUsers: a client that makes up users is soon not asked for more of them,
// but for those that are known.
func TestMadeUpCitationUsers(t *testing.T) {
	known := &index{}
	o := departmentOptions(t)
	o.Citations = known
	s := open(t, department(t), o)
	refused := 0
	for i := range 20 {
		res := s.get(fmt.Sprint("/api/citation-index?user=MadeUp", i))
		if res.StatusCode == http.StatusTooManyRequests && res.Header.Get("Retry-After") != "" {
			refused++
		}
	}
	if refused != 15 || len(known.asked) != 5 {
		t.Errorf("of 20 made-up users %d were refused and %d asked for, want 15 and 5", refused, len(known.asked))
	}
	if got := s.get("/api/citation-index?user=Known").StatusCode; got != 200 {
		t.Errorf("status %d for a known user", got)
	}
}

func TestNoCitationIndex(t *testing.T) {
	s := open(t, department(t), departmentOptions(t))
	e := s.get("/api/citation-index?user=Known").envelope(t)
	if e.Status != 404 || e.Error != "DataNotFound" || e.Msg != "No citation index is configured here." {
		t.Errorf("envelope = %+v", e)
	}
	if res := s.get("/api/citation-index"); res.StatusCode != 200 || len(res.body) != 0 {
		t.Errorf("without a user: status %d, %s", res.StatusCode, res.body)
	}
}
