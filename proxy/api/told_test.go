package api_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"vitrine/proxy/auth"
	"vitrine/proxy/proxytest"

	"vitrine/cache/view"
	"vitrine/rules/access"
)

// TestIgnoredIsTold: the answer names the parameters that were ignored; in strict mode they are an
// error.
func TestIgnoredIsTold(t *testing.T) {
	s := proxytest.Open(t, proxytest.Institute(t), proxytest.Options(t))
	for target, want := range map[string]string{
		"/api/activities?limit=1&json={\"type\":\"publication\"}": "",
		"/api/activities?apikey=none":                             "apikey",
		"/api/citation-index?apikey=none":                         "apikey",
		"/api/activities?limit=-5&offset=-2":                      "limit=-5 (is negative), offset=-2 (is negative)",
		"/api/html?limit=-5":                                      "limit=-5 (is negative)",
		"/api/activities?filter[year][gte]=2020":                  "gte (did you mean $gte?)",
		"/api/activities?json={\"$or\":[{\"year\":{\"gte\":1}}]}": "gte (did you mean $gte?)",
		"/api/projects?filter[year][$not][regex]=2":               "regex (did you mean $regex?)",
		"/api/activities?filter[authors][$elemMatch][last][in]=x": "in (did you mean $in?)",
		"/api/activities?json={\"year\":{\"$gte\":1},\"in\":1}":   "in (no record has it)",
		"/api/activities?json={\"$expr\":{\"$eq\":[\"$in\",1]}}":  "",
		"/api/activities?limt=1":                                  "limt (did you mean limit?)",
		"/api/activities?colums[]=title&search=y":                 "colums (did you mean columns?), search (use q)",
		"/api/activities?sort=-year,nosuch,id":                    "nosuch (no record has it)",
		"/api/activities?q=-":                                     "q=-",
		"/api/activities?sort=year,type,title,doi,pubmed,year": "sort=pubmed (rows are sorted by 4 fields at " +
			"most)",
		"/api/activities?aggregate=type&sort=year":         "sort",
		"/api/all-activities?sort=year&q=owl":              "sort, q",
		"/api/activities?json={}&filter[type]=publication": "filter",
		"/api/activities?full=1&columns[]=title":           "columns",
		"/api/activities?%C3%BC%0D%0A=1":                   "%C3%BC%0D%0A",
		"/api/all-activities?page=my-activites": "page=my-activites (did you mean " +
			"page=my-activities?)",
		"/api/all-activities?limit=1": "limit",
		"/api/all-activities?type=publicaton": "" +
			"type=publicaton (no record has it; did you mean publication?)",
		"/api/all-activities?type=xyz-xyz-xyz":                   "type=xyz-xyz-xyz (no record has it)",
		"/api/all-activities?type=publication&filter[year]=1700": "",
		"/api/spectrum-activities?spectrum=xyz-xyz-xyz":          "spectrum=xyz-xyz-xyz (no record has it)",
		"/api/html?json={}&lang=de":                              "json, lang",
		"/api/search/activities?aggregate_function=sum":          "aggregate_function",
		"/api/events?a=1&b=1&c=1&d=1&e=1&f=1&g=1&h=1&i=1&j=1":    "a, b, c, d, e, f, g, h, and 2 more",
		"/api/citation-index?usr=x":                              "usr (did you mean user?)",
		"/api/users/ada?limit=1":                                 "limit",
		"/api/activities?author=x":                               "author",
		"/api/activities?per_page=5&start=5&format=xml": "" +
			"per_page (use limit), start (use offset), " +
			"format (answers are JSON; public lists have CSV and other formats)",
		"/api/activities?fields=title&groupby=year&page=2": "fields (use columns[]), groupby (use aggregate), " +
			"page (use offset and limit)",
		"/api/activities?fields[]=title&per-page=5&select=x&size=9&from=1": "fields (use columns[]), " +
			"per-page (use limit), select (use columns[]), size (use limit), from (use offset)",
		"/api/search/journals?order=name&dir=desc&query=x": "order (use sort), " +
			"dir (use sort=-FIELD for descending order), query (use q)",
		"/api/html?page=2&sort=year":              "page, sort",
		"/api/activities?where=x&language=de":     "where (use filter), language (use lang)",
		"/api/projects?q=owl&limit=1":             "q (use search)",
		"/api/all-activities?author=x&offset=1":   "author (use user), offset",
		"/api/all-activities?category=x&start=1":  "category (use type), start",
		"/api/levenshtein?title=x&query=x":        "query",
		"/api/events?q=x&form=x&data=x&version=x": "q, form, data, version",
	} {
		for _, prefer := range []string{"return=minimal", `Handling="strict"; x`} {
			res := s.Get(target, "Prefer", prefer)
			status, applied := http.StatusOK, ""
			if prefer != "return=minimal" {
				if applied = "handling=strict"; want != "" {
					status = http.StatusBadRequest
				}
			}
			if strings.Contains(target, "citation") {
				applied = res.Header.Get("Preference-Applied")
			}
			if res.Header.Get("Vitrine-Ignored") != want || res.StatusCode != status ||
				res.Header.Get("Preference-Applied") != applied {
				t.Errorf("%s, %s: %d, ignored %q, want %q; applied %q", target, prefer, res.StatusCode,
					res.Header.Get("Vitrine-Ignored"), want,
					res.Header.Get("Preference-Applied"))
			}
			if varies := strings.Contains(res.Header.Get("Vary"), "Prefer"); varies != (want != "") {
				t.Errorf("%s: Vary %q", target, res.Header.Get("Vary"))
			}
		}
	}
}

// TestIgnoredKeysAreTold: where no key is set, the answer reports the one that the client sent, as
// parameter or header, and an error does, too.
func TestIgnoredKeysAreTold(t *testing.T) {
	secret := []byte("session secret")
	o := proxytest.Options(t)
	o.Auth.PortfolioKey = "Right"
	o.Auth.Session = auth.SessionOptions{Secret: secret, Cookie: "vitrine_session"}
	s := proxytest.Open(t, proxytest.Institute(t), o)
	session := []string{"X-API-Key", "wrong", "Authorization", "Bearer " + proxytest.Token(t, "ada", secret)}
	for _, tt := range []struct {
		target  string
		headers []string
		status  int
		want    string
	}{
		{"/api/users/xyz?apikey=wrong", nil, 404, "apikey"},
		{"/api/activities?json={", session[:2], 400, "X-API-Key"},
		{"/api/activities?apikey=wrong&limit=x", session[:2], 400, "apikey, X-API-Key"},
		{"/api/activities?y=1&apikey=wrong&X-API-Key=", session[:2], 200,
			"apikey, X-API-Key, y, X-API-Key (use apikey)"},
		{"/api/activities?Key=1", session[:2], 200, "X-API-Key, Key"},
		{"/api/activities?Key=1", session[:2], 200, "X-API-Key, Key"}, // kept
		{"/api/activities?Key=1", nil, 200, "Key"},
		{"/api/activities?%61pikey=wrong", nil, 200, "apikey"},
		{"/api/activities?apikey=wrong&myapikey=wrong", session, 200, "X-API-Key, myapikey (did you mean apikey?)"},
		{"/api/citation-index?apikey=wrong", session[:2], 200, "apikey, X-API-Key"},
		{"/portfolio/spectrum?apikey=Right", nil, 200, ""},
		{"/portfolio/spectrum", []string{"X-API-Key", "Right"}, 200, ""},
		{"/portfolio/spectrum", session[:2], 403, ""},
	} {
		if res := s.Get(tt.target, tt.headers...); res.StatusCode != tt.status ||
			res.Header.Get("Vitrine-Ignored") != tt.want {
			t.Errorf("%s, %q: %d, ignored %q, want %d, %q", tt.target, tt.headers, res.StatusCode,
				res.Header.Get("Vitrine-Ignored"), tt.status, tt.want)
		}
		strict := s.Get(tt.target, append([]string{"Prefer", "handling=strict"}, tt.headers...)...)
		if tt.want != "" &&
			(strict.StatusCode != 400 || strict.Header.Get("Preference-Applied") != "handling=strict") {
			t.Errorf("%s, %q: strict: %d", tt.target, tt.headers, strict.StatusCode)
		}
	}
}

// TestUnknownPathsAreTold: the answer also names columns, groups and paths of filters that no
// record has, in cached, empty and streamed answers; for views in the store this is unknown.
func TestUnknownPathsAreTold(t *testing.T) {
	o := proxytest.Options(t)
	o.Limits.KeptBytes = 2000
	s := proxytest.Open(t, proxytest.Institute(t), o)
	if proxytest.ViewsAre != view.Memory {
		t.Skip("views are in the store")
	}
	for target, unknown := range map[string]string{
		"/api/activities?columns[]=title&columns[]=web&columns[]=authors.last":           "",
		"/api/activities?limit=1&columns[]=titel":                                        "titel",
		"/api/activities?columns[]=titel":                                                "titel",
		"/api/activities?aggregate=authors.usr":                                          "authors.usr",
		"/api/search/activities?columns[]=id&columns[]=tpye":                             "tpye",
		`/api/activities?json={"$or":[{"yaer":1},{"authors":{"$elemMatch":{"lst":1}}}]}`: "yaer,authors.lst",
		"/api/activities?filter[rendered.users]=ada":                                     "",
	} {
		want := ""
		if unknown != "" {
			want = strings.ReplaceAll(unknown, ",", " (no record has it), ") + " (no record has it)"
		}
		for range 3 {
			if res := s.Get(target); res.StatusCode != 200 || res.Header.Get("Vitrine-Ignored") != want {
				t.Errorf("%s: %d, ignored %q, want %q", target, res.StatusCode, res.Header.Get("Vitrine-Ignored"),
					want)
			}
		}
		if res := s.Get(target, "Prefer", "handling=strict"); (res.StatusCode == 400) != (want != "") {
			t.Errorf("%s, strictly: %d", target, res.StatusCode)
		}
	}
}

// TestUnknownPathsAreToldOfTheirCall: a call that names an unknown path and an equal call without
// it get the same bytes in either order, and only the first reports the path.
func TestUnknownPathsAreToldOfTheirCall(t *testing.T) {
	if proxytest.ViewsAre != view.Memory {
		t.Skip("views are in the store")
	}
	plain, named := "/api/search/journals?search=zz",
		"/api/search/journals?filter[title][$regex]=zz&filter[title][$options]=i"
	for _, order := range [][]string{{plain, named, plain}, {named, plain, named}} {
		s := proxytest.Open(t, journals(t, `{"journal":"Annals"}`), proxytest.Options(t))
		for _, target := range order {
			want := ""
			if target == named {
				want = "title (no record has it)"
			}
			if res := s.Get(target); res.StatusCode != 200 || res.Header.Get("Vitrine-Ignored") != want {
				t.Errorf("%s: %d, ignored %q, want %q", target, res.StatusCode, res.Header.Get("Vitrine-Ignored"),
					want)
			}
		}
	}
}

// TestCutListsSaySo: a list shortened for lack of a permission names the permission.
func TestCutListsSaySo(t *testing.T) {
	o := proxytest.Options(t)
	rights := access.New(access.Options{Anonymous: []access.Permission{access.ProjectsView}})
	o.Access = rights
	s := proxytest.Open(t, proxytest.Institute(t), o)
	for target, want := range map[string]string{
		"/api/projects": "", "/api/search/projects": "", "/api/activities": "", "/api/proposals": "proposals.view",
		"/api/search/proposals?aggregate=type": "proposals.view", "/portfolio/spectrum": "portfolio-spectrum",
	} {
		if got := s.Get(target).Header.Get("Vitrine-Restricted"); got != want {
			t.Errorf("%s: %q, want %q", target, got, want)
		}
	}
}

// TestLastModified: Last-Modified is the view's publication time, and a condition on it holds only
// while nothing else can have changed the answer.
func TestLastModified(t *testing.T) {
	o := proxytest.Options(t)
	store := proxytest.Institute(t)
	s := proxytest.Open(t, store, o)
	date := proxytest.Published.Format(http.TimeFormat)
	later := time.Now().Add(time.Hour).UTC().Format(http.TimeFormat)
	get := func(target string, want int, headers ...string) proxytest.Response {
		t.Helper()
		res := s.Get(target, headers...)
		if res.StatusCode != want {
			t.Errorf("%s %v: %d, want %d", target, headers, res.StatusCode, want)
		}
		return res
	}
	const list = "/api/activities?limit=1"
	res := get(list, 200)
	if got := res.Header.Get("Last-Modified"); got != date {
		t.Errorf("Last-Modified %q, want %q", got, date)
	}
	get(list, 304, "If-Modified-Since", date)
	get(list, 304, "If-Modified-Since", later)
	// before this site loaded the view
	get(list, 200, "If-Modified-Since", proxytest.Published.Add(time.Second).Format(http.TimeFormat))
	get(list, 200, "If-Modified-Since", proxytest.Published.Add(-time.Second).Format(http.TimeFormat))
	get(list, 200, "If-Modified-Since", "soon")
	get(list, 200, "If-Modified-Since", date, "If-None-Match", `"other"`)
	get(list, 304, "If-Modified-Since", "soon", "If-None-Match", res.Header.Get("ETag"))
	get("/api/events", 304, "If-Modified-Since", date)
	get("/docs", 200, "If-Modified-Since", later)
	if got := get("/api/activities?json=x", 400, "If-Modified-Since", date).Header.Get("Last-Modified"); got != "" {
		t.Errorf("an error was last modified %s", got)
	}
	o.Language = "de"
	if err := s.Server.Adopt(o); err != nil {
		t.Fatal(err)
	}
	if got := get(list, 200, "If-Modified-Since", date).Header.Get("Last-Modified"); got != "" {
		t.Errorf("with other settings: %s", got)
	}
}

// TestOtherSpellings: a path may have its letters percent-encoded, and / redirects.
func TestOtherSpellings(t *testing.T) {
	s := proxytest.Open(t, proxytest.Institute(t), proxytest.Options(t))
	get := func(target, accept string) (int, string) {
		req := httptest.NewRequest(http.MethodGet, target, nil)
		req.Header.Set("Accept", accept)
		res, err := s.Server.App().Test(req, -1)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		body, err := io.ReadAll(res.Body)
		if err != nil {
			t.Fatal(err)
		}
		return res.StatusCode, string(body)
	}
	if status, body := get("/api/%68tm%6c", ""); status != 200 || body != string(s.Get("/api/html").Body) {
		t.Errorf("encoded: %d", status)
	}
	for _, target := range []string{"/api%2Fhtml", "/api/%2e%2e/api/html", "/api/%2568tml"} {
		if status, _ := get(target, ""); status != 404 {
			t.Errorf("%s: %d", target, status)
		}
	}
	for accept, want := range map[string]string{
		"text/html,application/xhtml+xml,*/*;q=0.8": "<!doctype html>", "*/*": `"openapi":"/openapi.json"`,
		"application/json": `"docs"`,
	} {
		if status, body := get("/", accept); status != 200 || !strings.Contains(body, want) {
			t.Errorf("%s: %d %.80s", accept, status, body)
		}
	}
}
