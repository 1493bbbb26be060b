package kept_test

import (
	"cmp"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"vitrine/cache/kept"
)

// TestKeptStatuses: what is kept of a first answer, and under which status.
func TestKeptStatuses(t *testing.T) {
	html := http.Header{"Content-Type": {"text/html; charset=utf-8"}}
	object := http.Header{"Content-Type": {"application/json; charset=utf-8"}}
	moved := http.Header{"Location": {"/portfolio/other"}}
	for name, test := range map[string]struct {
		answer kept.Answer
		status int // 0: passed on; negative: passed on with this status
		fails  bool
	}{
		"200":                 {kept.Answer{Status: 200, Header: html, Body: []byte("<p>")}, 200, false},
		"404":                 {kept.Answer{Status: 404, Header: html, Body: []byte("<p>")}, 404, false},
		"410":                 {kept.Answer{Status: 410, Header: http.Header{}}, 410, false},
		"301":                 {kept.Answer{Status: 301, Header: moved}, 301, false},
		"308":                 {kept.Answer{Status: 308, Header: moved}, 308, false},
		"301 without a place": {kept.Answer{Status: 301, Header: http.Header{}}, 0, true},
		"302":                 {kept.Answer{Status: 302, Header: moved}, 0, false},
		"204":                 {kept.Answer{Status: 204, Header: http.Header{}}, 0, false},
		"206":                 {kept.Answer{Status: 206, Header: html}, 0, false},
		"401":                 {kept.Answer{Status: 401, Header: html}, 0, false},
		"500":                 {kept.Answer{Status: 500, Header: html}, 0, true},
		"object": {
			kept.Answer{Status: 200, Header: object, Body: []byte(`{"status":200,"data":[]}`)}, 200, false,
		},
		"list": {
			kept.Answer{Status: 200, Header: object, Body: []byte(` [{"status":500}]`)}, 200, false,
		},
		"error in it": {
			kept.Answer{Status: 200, Header: object, Body: []byte(`{"status":500}`)}, -500, true,
		},
		"no status of HTTP": {
			kept.Answer{Status: 200, Header: object, Body: []byte(`{"status":204}`)}, 0, false,
		},
		"error as a text": {
			kept.Answer{Status: 200, Header: object, Body: []byte(`{ "status" : "404" }`)}, 404, false,
		},
		"status of a record": {
			kept.Answer{Status: 200, Header: object, Body: []byte(`{"status":"ongoing"}`)}, 200, false,
		},
		"small status of a record": {
			kept.Answer{Status: 200, Header: object, Body: []byte(`{"status":3}`)}, 200, false,
		},
		"Status of a record": {
			kept.Answer{Status: 200, Header: object, Body: []byte(`{"Status":500}`)}, 200, false,
		},
		"deeper": {
			kept.Answer{Status: 200, Header: object, Body: []byte(`{"a":{"status":500}}`)}, 200, false,
		},
		"cut": {
			kept.Answer{Status: 200, Header: object, Body: []byte(`{"status":200,"data":[`)}, 0, true,
		},
		"cut list": {kept.Answer{Status: 200, Header: object, Body: []byte(`[1,`)}, 0, true},
		"no JSON": {
			kept.Answer{Status: 200, Header: object, Body: []byte("<b>Warning</b>: {}")}, 0, true,
		},
		"empty": {kept.Answer{Status: 200, Header: object}, 0, true},
		"coded": {
			kept.Answer{Status: 200, Header: http.Header{"Content-Encoding": {"br"}}, Body: []byte("x")}, 0, false,
		},
		"long": {kept.Answer{Status: 200, Header: html, Body: make([]byte, 2001)}, 0, false},
		"long header": {
			kept.Answer{Status: 200, Header: http.Header{"Link": {strings.Repeat("x", 17<<10)}}}, 0, false,
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, func(_ *kept.Options, r *kept.Rule) { r.Most = 2000 })
			w.server.answer = func(kept.Request) (kept.Answer, error) { return test.answer, nil }
			found, body := w.get(t, bio)
			if body != string(test.answer.Body) {
				t.Errorf("body %q", body)
			}
			switch {
			case test.status <= 0 && (found.Outcome != kept.Passed || found.Entry != nil ||
				found.Passed.Status != cmp.Or(-test.status, test.answer.Status)):
				t.Errorf("%s %d %+v, want it passed on", found.Outcome, found.Passed.Status, found.Entry)
			case test.status > 0 && (found.Outcome != kept.Fetched || found.Entry.Status != test.status):
				t.Errorf("%s %+v, want status %d", found.Outcome, found.Entry, test.status)
			}
			if failures := w.Status()[0].Failures; failures > 0 != test.fails {
				t.Errorf("%d failures", failures)
			}
		})
	}
}

// TestGoodAnswerStays: nothing but a good answer of the same media type, or "not found", replaces one.
func TestGoodAnswerStays(t *testing.T) {
	for name, bad := range map[string]kept.Answer{
		"error":        {Status: 500},
		"login":        {Status: 302, Header: http.Header{"Location": {"/login"}}},
		"forbidden":    {Status: 403, Body: []byte("no")},
		"login page":   {Status: 200, Header: http.Header{"Content-Type": {"text/html"}}, Body: []byte("<form>")},
		"error page":   {Status: 404, Header: http.Header{"Content-Type": {"text/html"}}, Body: []byte("nginx")},
		"without type": {Status: 200, Body: []byte(`{}`)},
		"nothing":      {Status: 200},
		"moved login":  {Status: 301, Header: http.Header{"Location": {"/user/login"}}},
		"moved away": {
			Status: 308, Header: http.Header{"Location": {"https://elsewhere.example/portfolio/unit/BIO"}},
		},
		"error in JSON": jsonAnswer(`{"status":500}`),
		"cut":           jsonAnswer(`{"status":`),
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, nil)
				w.want(t, bio, kept.Fetched, 0)
				if bad.Header == nil {
					bad.Header = http.Header{}
				}
				w.server.answer = func(kept.Request) (kept.Answer, error) { return bad, nil }
				time.Sleep(25 * time.Hour)
				if found := w.want(t, bio, kept.Stale, 0); found.Reason != "upstream-failed" {
					t.Errorf("reason %q", found.Reason)
				}
				if s := w.Status()[0]; s.Failures != 1 || s.Failed == "" {
					t.Errorf("status %+v", s)
				}
			})
		})
	}
}

// TestNotFound: a record that is gone is no error, and "not found" holds for a minute.
func TestNotFound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil)
		w.want(t, bio, kept.Fetched, 0)
		time.Sleep(time.Second)
		w.views.publish("activities")
		w.server.answer = func(kept.Request) (kept.Answer, error) { return jsonAnswer(`{"status":404}`), nil }
		if found, _ := w.get(t, bio); found.Outcome != kept.Fetched || found.Entry.Status != 404 {
			t.Errorf("%s %+v", found.Outcome, found.Entry)
		}
		w.server.answer = nil
		time.Sleep(time.Minute - time.Millisecond)
		if found, _ := w.get(t, bio); found.Outcome != kept.Hit {
			t.Errorf("%s after a minute", found.Outcome)
		}
		time.Sleep(time.Millisecond)
		w.want(t, bio, kept.Fetched, 0)
	})
}

// TestType: a rule may name the media type of the first answer, too.
func TestType(t *testing.T) {
	w := newWorld(t, func(_ *kept.Options, r *kept.Rule) { r.Type = "application/json" })
	w.server.answer = func(r kept.Request) (kept.Answer, error) {
		if r.Accept != "application/json" {
			t.Errorf("accept %q", r.Accept)
		}
		return kept.Answer{Status: 200, Header: http.Header{"Content-Type": {"text/html"}},
			Body: []byte("<form>")}, nil
	}
	if found, body := w.get(t, bio); found.Outcome != kept.Passed || body != "<form>" {
		t.Errorf("%s %s", found.Outcome, body)
	}
}

// TestHeader: only what a client needs is kept.
func TestHeader(t *testing.T) {
	w := newWorld(t, nil)
	w.server.answer = func(kept.Request) (kept.Answer, error) {
		a := jsonAnswer(`{}`)
		for _, name := range []string{
			"Set-Cookie", "Cache-Control", "Expires", "Pragma", "Age", "Vary", "Date", "ETag", "Last-Modified",
			"Server", "Via", "Connection",
			"X-Powered-By", "Access-Control-Allow-Origin", "Link", "Content-Language",
		} {
			a.Header.Add(name, name+" of the other server")
		}
		a.Header.Add("Link", "<x>; rel=next")
		a.Header.Add("Link", "<x>\r\nSet-Cookie: a=b")
		return a, nil
	}
	e := func() *kept.Entry { found, _ := w.get(t, bio); return found.Entry }()
	var names []string
	for _, field := range e.Header {
		names = append(names, field.Name)
	}
	if got := strings.Join(names, " "); got != "Access-Control-Allow-Origin Content-Language Content-Type Link Link" {
		t.Errorf("kept %s", got)
	}
	if e.ETag != "ETag of the other server" || e.Modified != "Last-Modified of the other server" {
		t.Errorf("validators %q %q", e.ETag, e.Modified)
	}
	if e.Digest == "" || e.Size != 2 || e.Body != nil {
		t.Errorf("entry %+v", e)
	}
}

// TestNotModified: the kept answer is asked for conditionally.
func TestNotModified(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil)
		w.server.answer = func(r kept.Request) (kept.Answer, error) {
			a := jsonAnswer(`{"key":"/portfolio/unit/BIO","version":0}`)
			a.Header.Set("ETag", `"1"`)
			if r.ETag == `"1"` {
				a.Status, a.Body = 304, nil
			}
			return a, nil
		}
		first := w.want(t, bio, kept.Fetched, 0).Entry
		time.Sleep(25 * time.Hour)
		e := w.want(t, bio, kept.Confirmed, 0).Entry
		if !e.Fetched.Equal(first.Fetched) || !e.Checked.Equal(first.Checked.Add(25*time.Hour)) ||
			e.Digest != first.Digest {
			t.Errorf("%+v after %+v", e, first)
		}
		w.want(t, bio, kept.Hit, 0)
	})
}

// TestTypeOfMissing: the type of a page that says "moved" or "not found" does not keep out the record that comes
// then, and a rule's type does not keep out a first redirect.
func TestTypeOfMissing(t *testing.T) {
	html := http.Header{"Content-Type": {"text/html"}, "Location": {"/portfolio/other"}}
	for name, test := range map[string]struct {
		status int
		rule   string
	}{
		"404": {404, ""}, "410": {410, ""}, "301": {301, ""}, "308 for JSON": {308, "application/json"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, func(_ *kept.Options, r *kept.Rule) { r.Type = test.rule })
				w.server.answer = func(kept.Request) (kept.Answer, error) {
					return kept.Answer{Status: test.status, Header: html, Body: []byte("<p>")}, nil
				}
				if found, _ := w.get(t, bio); found.Outcome != kept.Fetched || found.Entry.Status != test.status {
					t.Errorf("%s %+v", found.Outcome, found.Entry)
				}
				time.Sleep(25 * time.Hour)
				w.server.answer = nil
				w.want(t, bio, kept.Fetched, 0)
			})
		})
	}
}

// TestErrorPageFirst: an error page that was the first answer does not keep out the good one.
func TestErrorPageFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil)
		w.server.answer = func(kept.Request) (kept.Answer, error) {
			return kept.Answer{
				Status: 200, Header: http.Header{"Content-Type": {"text/html; charset=UTF-8"}},
				Body: []byte("<b>Fatal error</b>"),
			}, nil
		}
		if found, _ := w.get(t, bio); found.Outcome != kept.Fetched {
			t.Fatalf("%s", found.Outcome)
		}
		w.server.answer = nil
		time.Sleep(25 * time.Hour)
		w.want(t, bio, kept.Fetched, 0)
	})
}

// TestMovedRecord: a redirect to a path of the rule replaces a good answer.
func TestMovedRecord(t *testing.T) {
	for _, location := range []string{"/portfolio/unit/NEW?lang=de", "NEW", "/portfolio/unit/BIO/"} {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t, nil)
			w.want(t, bio, kept.Fetched, 0)
			w.server.answer = func(kept.Request) (kept.Answer, error) {
				return kept.Answer{Status: 301, Header: http.Header{"Location": {location}}}, nil
			}
			time.Sleep(25 * time.Hour)
			if found, _ := w.get(t, bio); found.Outcome != kept.Fetched || found.Entry.Status != 301 {
				t.Errorf("%s: %s %+v", location, found.Outcome, found.Entry)
			}
		})
	}
}
