package compare_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"vitrine/proxy/compare"
)

// sides returns two servers that answer with bodies.
func sides(t *testing.T, old, new http.HandlerFunc) (a, b *compare.Side) {
	t.Helper()
	side := func(name string, h http.HandlerFunc) *compare.Side {
		server := httptest.NewServer(h)
		t.Cleanup(server.Close)
		s, err := compare.NewSide(name, server.URL, compare.Keys{}, nil)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	return side("old", old), side("new", new)
}

// answering returns a handler that sends a body: JSON, or what begins with its media type.
func answering(body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if kind, rest, ok := strings.Cut(body, "|"); ok && strings.Contains(kind, "/") &&
			!strings.ContainsAny(kind, "{<") {
			w.Header().Set("Content-Type", kind)
			body = rest
		}
		_, _ = w.Write([]byte(body)) // the client may have gone
	}
}

// ask returns a side's answer.
func ask(t *testing.T, s *compare.Side, target string) compare.Answer {
	t.Helper()
	a, err := s.Ask(t.Context(), compare.Request{Method: "GET", Target: target})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// differences returns the differences of two bodies, one a line.
func differences(t *testing.T, old, new string) string {
	t.Helper()
	a, b := sides(t, answering(old), answering(new))
	a.Most, b.Most = 8<<20, 8<<20
	var all []string
	compare.Compare(t.Context(), ask(t, a, "/"), ask(t, b, "/"), func(d compare.Difference) {
		all = append(all, fmt.Sprintf("%s %s (%s): %s | %s", d.Kind, d.Path, d.Row, d.Old, d.New))
	})
	return strings.Join(all, "\n")
}

func TestCompare(t *testing.T) {
	rows := func(rows string) string { return `{"status":200,"count":3,"data":[` + rows + `]}` }
	var many []string
	for i := range 2000 {
		many = append(many, fmt.Sprintf(`{"id":"%d"}`, i))
	}
	page := func(body string) string {
		return "text/html; charset=utf-8|<!doctype html><main><ol>" + body + "</ol></main>"
	}
	tests := []struct{ name, old, new, want string }{
		{"the same", rows(`{"id":"1"}`), rows(`{"id":"1"}`), ""},
		{"order of members, spaces and escapes", `{"a":"\/\u00e4","b":[1, 2]}`, `{ "b":[1,2],"a":"/ä" }`, ""},
		{"numbers by value", `[1.0,10,1e2,-0,0.5]`, `[1,10,100,0,5e-1]`, ""},
		{"large integers", `{"a":9007199254740993}`, `{"a":9007199254740992}`,
			"field changed $.a (): 9007199254740993 | 9007199254740992"},
		{"huge exponents", `{"a":1e999999999}`, `{"a":2e999999999}`,
			"field changed $.a (): 1e999999999 | 2e999999999"},
		{"a number and its text", `{"a":"1"}`, `{"a":1}`, "field changed $.a (): \"1\" | 1"},
		{"null and its text", `{"a":null}`, `{"a":"null"}`, "field changed $.a (): null | \"null\""},
		{"null and nothing", `{"a":null}`, `{}`, "field missing $.a (): null | "},
		{"a field that was added", `{}`, `{"a b":"x"}`, `field added $["a b"] (): ` + " | x"},
		{"a field", rows(`{"id":"1","title":"A"},{"id":"2","title":"B"}`),
			rows(`{"id":"1","title":"A"},{"id":"2","title":"C"}`), "field changed $.data[1].title (2): B | C"},
		{"count", `{"count":3,"data":[]}`, `{"count":4,"data":[]}`, "count $.count (): 3 | 4"},
		{"a row that is missing", rows(`{"id":"1"},{"id":"2"},{"id":"3"}`), rows(`{"id":"1"},{"id":"3"}`),
			`row missing $.data[1] (2): {"id":"2"} | `},
		{"a row that was added", rows(`{"id":"1"}`), rows(`{"id":"0"},{"id":"1"}`),
			`row added $.data[0] (0):  | {"id":"0"}`},
		{"a row that moved", rows(`{"id":"1"},{"id":"2"},{"id":"3"},{"id":"4"}`),
			rows(`{"id":"4"},{"id":"1"},{"id":"2"},{"id":"3"}`), "order $.data[3] (4): 3 | 0"},
		{"a row that moved and changed", rows(`{"id":"1"},{"id":"2"},{"id":"3","a":1}`),
			rows(`{"id":"3","a":2},{"id":"1"},{"id":"2"}`),
			"order $.data[2] (3): 2 | 0\nfield changed $.data[2].a (3): 1 | 2"},
		{"the last of many rows", rows(strings.Join(many, ",")),
			rows(many[1999] + "," + strings.Join(many[:1999], ",")), "order $.data[1999] (1999): 1999 | 0"},
		{"ObjectIDs", rows(`{"_id":{"$oid":"64a0"},"a":1}`), rows(`{"_id": {"$oid":"64a0"},"a":2}`),
			"field changed $.data[0].a (64a0): 1 | 2"},
		{"unwound rows", rows(`{"id":"1","u":"a"},{"id":"1","u":"b"}`), rows(`{"id":"1","u":"a"},{"id":"1","u":"c"}`),
			"field changed $.data[1].u (1): b | c"},
		{"groups by value", rows(`{"value":"A","count":3},{"value":"B","count":1}`),
			rows(`{"value":"B","count":1},{"value":"A","count":4}`),
			"order $.data[0] (A): 0 | 1\nfield changed $.data[0].count (A): 3 | 4"},
		{"rows without an id", rows(`{"a":1},{"a":2},{"a":3}`), rows(`{"a":1},{"a":4},{"a":3}`),
			"field changed $.data[1].a (): 2 | 4"},
		{"texts in a list", rows(`{"id":"1","units":["A","B"]}`), rows(`{"id":"1","units":["A","B","C"]}`),
			"field added $.data[0].units[2] (1):  | C"},
		{"rows in a row belong to it", rows(`{"id":"1","units":[{"id":"u","n":1}]}`),
			rows(`{"id":"1","units":[{"id":"u","n":2}]}`), "field changed $.data[0].units[0].n (1): 1 | 2"},
		{"another type of value", rows(`{"id":"1","a":[]}`), rows(`{"id":"1","a":{}}`),
			"field changed $.data[0].a (1): [] | {}"},
		{"HTML in a field, written otherwise", `{"a":"<a href='x' class=\"b\">A &amp; B</a>\n"}`,
			`{"a":"<a class=\"b\" href=\"x\">A &#38; B</a>"}`, ""},
		{"HTML in a field", rows(`{"id":"1","a":"<b>Doe, J.</b> (2020) <i>Soil</i>."}`),
			rows(`{"id":"1","a":"<b>Doe, J.</b> (2021) <i>Soil</i>."}`), "words $.data[0].a (1): (2020) | (2021)"},
		{"a link in HTML", rows(`{"id":"1","a":"<a href='/x/1' title=t>Doe</a> J."}`),
			rows(`{"id":"1","a":"<a href='/x/2' class>Doe</a> J."}`),
			"attribute $.data[0].a a@href (1): /x/1 | /x/2\nattribute $.data[0].a a@title (1): t | \n" +
				"attribute $.data[0].a a@class (1):  | \"\""},
		{"a tag in HTML", `{"a":"<b>Doe</b> J."}`, `{"a":"<i><b>Doe</b> J.</i>"}`,
			"tag $.a i ():  | <i>\ntag $.a i ():  | </i>"},
		{"a word that looks like a tag", `{"a":"<b>A</b> &lt;i&gt;"}`, `{"a":"<b>A</b> <i>"}`,
			"words $.a (): &lt;i> | <i>"},
		{"a no-break space is a character", `{"a":"<b>A&nbsp;B</b>"}`, `{"a":"<b>A B</b>"}`,
			"words $.a b (): A\u00a0B | A B"},
		{"text that looks like no HTML", `{"a":"P < 0.05 &amp; x"}`, `{"a":"P < 0.05 & x"}`,
			"field changed $.a (): P < 0.05 &amp; x | P < 0.05 & x"},
		{"two documents", `{"a":1}{"b":1}`, `{"a":1}{"b":2}`, "field changed $[1].b (): 1 | 2"},
		{"a document that is missing", `{"a":1}{"b":1}`, `{"a":1}`, `row missing $[1] (): {"b":1} | `},
		{"no JSON any more", `{"a":1}`, `{"a":`, `text  (): {"a":1} | {"a":`},
		{"JSON under another name", `text/html|{"a":1}`, `{"a":1}`, "media type  (): text/html | application/json"},
		{"a page", page(`<li>A</li><li>B one</li><li>C</li>`),
			page("\n<li>A</li>\n<li>B two</li><!-- x --><li class=x>C</li>"),
			"words main>ol>li (): one | two\nattribute main>ol>li@class ():  | x"},
		{"an entry that is missing in a page", page(`<li>A</li><li>B</li><li>C</li>`), page("<li>A</li><li>C</li>"),
			"words main>ol>li (): B </li> <li> | "},
		{"the end of a page", page(`<li>A</li>`), page(`<li>A</li><li>B</li>`), "words main>ol ():  | <li> B </li>"},
		{"lines", "text/x-bibtex|@a{x,\n t={A}\n}\n", "text/x-bibtex|@a{x,\r\n t={B}\r\n}\r\n",
			"text  ():  t={A} |  t={B}"},
		{"XML by lines", "application/xml|<a>\n<b>1</b>\n</a>", "application/xml|<a>\n<b>2</b>\n</a>",
			"text  (): <b>1</b> | <b>2</b>"},
		{"bytes", "image/png|\xff\x00", "image/png|\xff\x01\x02", "text  (): 2 bytes | 3 other bytes"},
		{"too many rows", `[1` + strings.Repeat(`,1`, 300_000) + `]`, `[2` + strings.Repeat(`,1`, 300_000) + `]`,
			"failed $ (): not compared: too long (300001 rows) | not compared: too long (300001 rows)"},
		{"deep", strings.Repeat(`[`, 9000) + `1` + strings.Repeat(`]`, 9000),
			strings.Repeat(`[`, 9000) + `1 ` + strings.Repeat(`]`, 9000), ""},
		{"too deep", strings.Repeat(`[`, 20000), strings.Repeat(`[`, 20001),
			"text  (): " + strings.Repeat(`[`, 20000) + " | " + strings.Repeat(`[`, 20001)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := differences(t, tt.old, tt.new); got != tt.want {
				t.Errorf("got\n%.600s\nwant\n%.600s", got, tt.want)
			}
		})
	}
}

// TestCompareMany: rows that have neither an id nor an equal are compared in linear time.
func TestCompareMany(t *testing.T) {
	const rows = 80_000
	if got := differences(t, `[1`+strings.Repeat(`,1`, rows-1)+`]`,
		`[2`+strings.Repeat(`,2`, rows-1)+`]`); strings.Count(got, "field changed") != rows {
		t.Errorf("%.300s", got)
	}
}

// TestCompareHostile: neither long names nor elements that never end make a comparison take quadratic time or memory.
func TestCompareHostile(t *testing.T) {
	name := strings.Repeat("x", 1<<20)
	if got := differences(t, `{"`+name+`":{"a":1}}`, `{"`+name+`":{"a":2}}`); len(got) > 1000 ||
		!strings.Contains(got, "field changed $.xxx") {
		t.Errorf("%d bytes: %.300s", len(got), got)
	}
	open := "text/html|" + strings.Repeat("<a>", 200_000) + strings.Repeat("</b>", 200_000)
	if got := differences(t, open+"x", open+"y"); !strings.HasSuffix(got, ": x | y") {
		t.Errorf("%.300s", got)
	}
}

// TestStatus: the status of an envelope counts where the server sends 200 for all.
func TestStatus(t *testing.T) {
	send := func(status int, body string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			if status == http.StatusFound {
				w.Header().Set("Location", "http://"+r.Host+body)
			}
			w.WriteHeader(status)
			_, _ = w.Write([]byte(body)) // the client may have gone
		}
	}
	for _, tt := range []struct {
		name     string
		old, new http.HandlerFunc
		want     string
	}{
		{"another status, of which the body says nothing", send(200, "a"), send(404, "b"), "status : 200 | 404"},
		{"the status of the envelope", send(200, `{"status":404,"msg":"a"}`), send(404, `{"status":404,"msg":"b"}`),
			"status HTTP: 200 | 404;field changed $.msg: a | b"},
		{"another status of the envelope", send(200, `{"status":403}`), send(404, `{"status":404}`),
			"status : 403 | 404"},
		{"a redirection", send(302, "/login"), send(302, "/login"), ""},
		{"another redirection", send(302, "/a"), send(302, "/b"), "location : /a | /b;text : /a | /b"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a, b := sides(t, tt.old, tt.new)
			var all []string
			compare.Compare(t.Context(), ask(t, a, "/"), ask(t, b, "/"), func(d compare.Difference) {
				all = append(all, fmt.Sprintf("%s %s: %s | %s", d.Kind, d.Path, d.Old, d.New))
			})
			if got := strings.Join(all, ";"); got != tt.want {
				t.Errorf("got\n%s\nwant\n%s", got, tt.want)
			}
		})
	}
}

// TestAsk: a side sends its own key, in the header alone, follows nothing and tells no URL.
func TestAsk(t *testing.T) {
	var seen []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		seen = append(seen, fmt.Sprint(r.Method, " ", r.RequestURI, " ", r.Header.Get("X-API-Key")))
		switch r.URL.Path {
		case "/osiris/api/away":
			http.Redirect(w, r, "/osiris/api/html", http.StatusFound)
		case "/osiris/api/busy":
			w.WriteHeader(http.StatusTooManyRequests)
		case "/osiris/api/broken":
			w.Header().Set("Content-Length", "100")
			_, _ = w.Write([]byte("x"))
		}
	}))
	defer server.Close()
	s, err := compare.NewSide("old", server.URL+"/osiris/", compare.Keys{API: "one", Portfolio: "two"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	var errs []string
	for _, target := range []string{"/api/html?a=%20b", "/portfolio/spectrum", "/api/away", "/api/busy",
		"/api/broken"} {
		a, err := s.Ask(t.Context(), compare.Request{Method: "HEAD", Target: target})
		if target != "/api/html?a=%20b" {
			a, err = s.Ask(t.Context(), compare.Request{Method: "GET", Target: target})
		}
		errs = append(errs, fmt.Sprint(a.Status, " ", a.Location, " ", err))
	}
	want :=
		"HEAD /osiris/api/html?a=%20b one;HEAD /osiris/portfolio/spectrum two;GET /osiris/portfolio/spectrum " +
			"two;HEAD /osiris/api/away one;GET /osiris/api/away one;HEAD /osiris/api/busy one;GET /osiris/api/busy " +
			"one;HEAD /osiris/api/broken one;GET /osiris/api/broken one"
	if got := strings.Join(seen, ";"); got != want {
		t.Errorf("asked\n%s\nwant\n%s", got, want)
	}
	if got, want := strings.Join(errs,
		";"),
		"200  <nil>;200  <nil>;302 /api/html <nil>;0  429 Too Many Requests;"+
			"0  read the answer: unexpected EOF"; got != want {
		t.Errorf("answers\n%s\nwant\n%s", got, want)
	}
	server.Close()
	if _, err := s.Ask(context.Background(), compare.Request{Method: "GET", Target: "/api/html?name=x"}); err ==
		nil || strings.Contains(err.Error(), "html") {
		t.Errorf("error %v", err)
	}
	for _, address := range []string{"", "osiris.example", "ftp://x", "https://user:secret@x",
		"https://x/?apikey=secret", "http://%zz"} {
		if _, err := compare.NewSide("old", address, compare.Keys{}, nil); err == nil ||
			strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: error %v", address, err)
		}
	}
}
