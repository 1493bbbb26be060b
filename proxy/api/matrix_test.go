package api_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"vitrine/proxy/proxytest"

	"vitrine/configs"
	"vitrine/proxy"
	"vitrine/proxy/auth"
	"vitrine/proxy/lists"
	"vitrine/rules"
	"vitrine/rules/access"
)

// The people of the matrix: linda is linked to some records, vera has a role with
// all permissions, adam is an admin and may see reviews, too.
const (
	linked = "linda"
	viewer = "vera"
	admin  = "adam"
)

// matrixStore has records in each view that distinguish the callers: linda sees two of three
// projects and one of two proposals; two of three activities are reviews, one of them linda's.
func matrixStore(t testing.TB) *proxytest.Store {
	t.Helper()
	s := proxytest.NewStore()
	s.Publish(rules.ViewProjects, proxytest.Parse(t,
		`{"_id":"p1","name":"P1","title":"A","funding_number":"N1","persons":[{"user":"linda"}]}`,
		`{"_id":"p2","name":"P2","title":"B","funding_number":"N1","created_by":"linda"}`,
		`{"_id":"p3","name":"P3","title":"C","funding_number":"N1"}`)...)
	s.Publish(rules.ViewProposals, proxytest.Parse(t,
		`{"_id":"q1","name":"Q1","title":"A","persons":[{"user":"linda"}]}`,
		`{"_id":"q2","name":"Q2","title":"B","created_by":"vera"}`)...)
	s.Publish(rules.ViewActivities, proxytest.Parse(t,
		`{"_id":"a1","type":"publication","title":"World","year":2020,"authors":[{"affiliated":true}],`+
			`"spectrum":[{"display_name":"Soil","score":1}],"rendered":{"web":"a1"},"_list":{"public":true,`+
			`"year":2020,"type":"publication","units":[{"id":"BIO"}]}}`,
		`{"_id":"a2","type":"review","title":"Secret","spectrum":[{"display_name":"Lamps","score":1}],`+
			`"rendered":{"web":"a2","users":["vera's friend"]},"_list":{"public":true,"type":"review"}}`,
		`{"_id":"a3","type":"review","title":"Hers","spectrum":[{"display_name":"Lamps","score":1}],`+
			`"rendered":{"web":"a3","users":["linda"]}}`)...)
	s.Publish(rules.ViewPersons, proxytest.Parse(t,
		`{"_id":"u1","username":"linda"}`,
		`{"_id":"u2","username":"vera","roles":["viewer"]}`,
		`{"_id":"u3","username":"adam","roles":["admin"]}`)...)
	s.Publish(rules.ViewJournals, proxytest.Parse(t, `{"_id":"j1","journal":"Moth"}`)...)
	s.Publish(rules.ViewEvents, proxytest.Parse(t, `{"_id":"e1","title":"Meeting"}`)...)
	s.Publish(rules.ViewDeadlines, proxytest.Parse(t, `{"_id":"d1","title":"Grants"}`)...)
	s.Publish(rules.ViewUserUnits, proxytest.Parse(t, `{"_id":"u1","username":"linda","name":"Linda","units":[]}`)...)
	s.Publish(rules.ViewSpectrum, summary(t, ofDepartment(t, "catalogue"), ofDepartment(t, "activities"))...)
	return s
}

// matrixOptions require keys if keyed, and trust a user header from a network.
func matrixOptions(t testing.TB, secret []byte, keyed bool, proxies string) proxy.Options {
	t.Helper()
	all := access.Permissions()
	rights := access.New(access.Options{
		Roles:      map[string][]access.Permission{"viewer": all, "admin": all},
		Restricted: map[string][]string{"review": {"admin"}},
	})
	o := proxytest.Options(t)
	o.Access, o.Citations = rights, &citations{}
	o.Lists = lists.Options{
		Lists: configs.Lists{Enabled: true, BaseURL: "https://data.example"}, Cite: proxytest.CiteRules(t),
	}
	o.Auth.Session = auth.SessionOptions{
		Secret: secret, Cookie: "vitrine_session",
		UserHeader: "X-Remote-User", TrustedProxies: []netip.Prefix{netip.MustParsePrefix(proxies)},
	}
	if keyed {
		o.Auth.APIKey, o.Auth.PortfolioKey = "Api", "Portfolio"
	}
	return o
}

// caller is a client that calls every endpoint.
type caller struct {
	name    string
	site    *proxytest.Site
	key     string // the apikey parameter
	headers []string
}

// callers are the columns of the matrix.
func callers(t testing.TB) []caller {
	secret := []byte("session secret")
	store := matrixStore(t)
	keyed := proxytest.Open(t, store, matrixOptions(t, secret, true, "0.0.0.0/32")) // the peer in these tests
	wary := proxytest.Open(t, store, matrixOptions(t, secret, true, "10.0.0.0/8"))
	free := proxytest.Open(t, store, matrixOptions(t, secret, false, "10.0.0.0/8"))
	session := func(user string) []string {
		return []string{"Authorization", "Bearer " + proxytest.Token(t, user, secret)}
	}
	cookie := func(site string) []string {
		return []string{"Cookie", "vitrine_session=" + proxytest.Token(t, viewer, secret), "Sec-Fetch-Site", site}
	}
	with := func(headers []string, more ...string) []string { return append(headers, more...) }
	return []caller{
		{"no session", keyed, "", nil},
		{"a wrong key", keyed, "Guess", nil},
		{"the key", keyed, "Api", nil},
		{"the key as header", keyed, "", []string{"X-API-Key", "Api"}},
		{"the portfolio's key", keyed, "Portfolio", nil},
		{"the portfolio's key as header", keyed, "", []string{"X-API-Key", "Portfolio"}},
		{"a session", keyed, "", session(linked)},
		{"a session with the permissions", keyed, "", session(viewer)},
		{"an admin's session", keyed, "", session(admin)},
		{"a session with the permissions, a wrong key", keyed, "Guess", session(viewer)},
		{"a session, the key", keyed, "Api", session(linked)},
		{"a session, the key as header", keyed, "", with(session(linked), "X-API-Key", "Api")},
		{"a cookie from our own page", keyed, "", cookie("same-origin")},
		{"a cookie from another site", keyed, "", cookie("cross-site")},
		{"a user header from a trusted proxy", keyed, "", []string{"X-Remote-User", viewer}},
		{"a user header from any client", wary, "", []string{"X-Remote-User", viewer}},
		{"no session, where no keys are required", free, "", nil},
		{"a session, where no keys are required", free, "", session(linked)},
	}
}

// matrix lists for every endpoint how many records each caller sees; "-" is a 403. A word is for
// one caller, in the order of callers:
//
//	no session, wrong key | key, header | portfolio's key, header | session, with permissions, admin |
//	wrong key beside | key beside, header beside | own cookie, foreign cookie | trusted header, any header
//	no keys: no session, session
var matrix = []struct{ target, seen string }{
	{"/api/activities", "- - | 3 3 | - - | 2 1 3 | - | 3 2 | 1 - | 1 - | 3 2"},
	{"/api/activities?full=1", "- - | 3 3 | - - | 2 1 3 | - | 3 2 | 1 - | 1 - | 3 2"},
	{"/api/activities?columns=title", "- - | 3 3 | - - | 2 1 3 | - | 3 2 | 1 - | 1 - | 3 2"},
	{"/api/activities?aggregate=title", "- - | 3 3 | - - | 2 1 3 | - | 3 2 | 1 - | 1 - | 3 2"},
	{"/api/search/activities?aggregate=title", "- - | 3 3 | - - | 2 1 3 | - | 3 2 | 1 - | 1 - | 3 2"},
	{"/api/spectrum-activities?spectrum=Lamps", "- - | 2 2 | - - | 1 0 2 | - | 2 1 | 0 - | 0 - | 2 1"},
	{"/api/html", "- - | 1 1 | - - | 1 1 1 | - | 1 1 | 1 - | 1 - | 1 1"},
	{"/api/all-activities", "- - | 3 3 | - - | 2 1 3 | - | 3 2 | 1 - | 1 - | 3 2"},
	{"/api/all-activities?page=my-activities", "- - | 0 0 | - - | 1 0 0 | - | 1 1 | 0 - | 0 - | 0 1"},
	{"/api/spectrum-activities?spectrum=Soil", "- - | 1 1 | - - | 1 1 1 | - | 1 1 | 1 - | 1 - | 1 1"},
	{"/api/projects", "- - | 0 0 | - - | 2 3 3 | - | 2 2 | 3 - | 3 - | 0 2"},
	{"/api/projects?raw", "- - | 0 0 | - - | 2 3 3 | - | 2 2 | 3 - | 3 - | 0 2"},
	{"/api/projects?full", "- - | 0 0 | - - | 2 3 3 | - | 2 2 | 3 - | 3 - | 0 2"},
	{"/api/projects?aggregate=name", "- - | 0 0 | - - | 2 3 3 | - | 2 2 | 3 - | 3 - | 0 2"},
	{"/api/projects?search=.", "- - | 0 0 | - - | 2 3 3 | - | 2 2 | 3 - | 3 - | 0 2"},
	{"/api/proposals", "- - | 0 0 | - - | 1 2 2 | - | 1 1 | 2 - | 2 - | 0 1"},
	{"/api/proposals?full", "- - | 0 0 | - - | 1 2 2 | - | 1 1 | 2 - | 2 - | 0 1"},
	{"/api/search/projects", "- - | 0 0 | - - | 2 3 3 | - | 2 2 | 3 - | 3 - | 0 2"},
	{"/api/search/projects?aggregate=name", "- - | 0 0 | - - | 2 3 3 | - | 2 2 | 3 - | 3 - | 0 2"},
	{"/api/search/proposals", "- - | 0 0 | - - | 1 2 2 | - | 1 1 | 2 - | 2 - | 0 1"},
	{"/api/search/proposals?aggregate=name", "- - | 0 0 | - - | 1 2 2 | - | 1 1 | 2 - | 2 - | 0 1"},
	{"/api/search/journals", "- - | 1 1 | - - | 1 1 1 | - | 1 1 | 1 - | 1 - | 1 1"},
	{"/api/search/persons", "- - | 3 3 | - - | 3 3 3 | - | 3 3 | 3 - | 3 - | 3 3"},
	{"/api/search/activities", "- - | 3 3 | - - | 2 1 3 | - | 3 2 | 1 - | 1 - | 3 2"},
	{"/api/search/conferences", "- - | 1 1 | - - | 1 1 1 | - | 1 1 | 1 - | 1 - | 1 1"},
	{"/api/projects-by-funding-number?number=N1", "- - | 3 3 | - - | 3 3 3 | - | 3 3 | 3 - | 3 - | 3 3"},
	{"/api/users/linda", "- - | 1 1 | - - | 1 1 1 | - | 1 1 | 1 - | 1 - | 1 1"},
	{"/api/user-units/linda", "- - | 1 1 | - - | 1 1 1 | - | 1 1 | 1 - | 1 - | 1 1"},
	{"/api/events", "- - | 1 1 | - - | 1 1 1 | - | 1 1 | 1 - | 1 - | 1 1"},
	{"/api/conferences", "- - | 1 1 | - - | 1 1 1 | - | 1 1 | 1 - | 1 - | 1 1"},
	{"/api/deadlines", "- - | 1 1 | - - | 1 1 1 | - | 1 1 | 1 - | 1 - | 1 1"},
	{"/api/levenshtein?title=World", "- - | 1 1 | - - | 1 1 1 | - | 1 1 | 1 - | 1 - | 1 1"},
	{"/api/citation-index?user=Known", "1 1 | 1 1 | 1 1 | 1 1 1 | 1 | 1 1 | 1 1 | 1 1 | 1 1"},
	{"/portfolio/spectrum", "- - | - - | 0 0 | 0 2 2 | - | - 0 | 2 - | 2 - | 0 0"},
	{"/healthz", "0 0 | 0 0 | 0 0 | 0 0 0 | 0 | 0 0 | 0 0 | 0 0 | 0 0"},
	{"/livez", "0 0 | 0 0 | 0 0 | 0 0 0 | 0 | 0 0 | 0 0 | 0 0 | 0 0"},
	{"/readyz", "0 0 | 0 0 | 0 0 | 0 0 0 | 0 | 0 0 | 0 0 | 0 0 | 0 0"},
	{"/openapi.json", "1 1 | 1 1 | 1 1 | 1 1 1 | 1 | 1 1 | 1 1 | 1 1 | 1 1"},
	{"/openapi-3.0.json", "1 1 | 1 1 | 1 1 | 1 1 1 | 1 | 1 1 | 1 1 | 1 1 | 1 1"},
	{"/docs", "1 1 | 1 1 | 1 1 | 1 1 1 | 1 | 1 1 | 1 1 | 1 1 | 1 1"},
	{"/favicon.ico", "1 1 | 1 1 | 1 1 | 1 1 1 | 1 | 1 1 | 1 1 | 1 1 | 1 1"},
	{"/", "1 1 | 1 1 | 1 1 | 1 1 1 | 1 | 1 1 | 1 1 | 1 1 | 1 1"},
}

// TestPermissionMatrix calls every endpoint as every caller twice, as the second answer may come
// from memory: callers must not get answers cached for others.
func TestPermissionMatrix(t *testing.T) {
	proxytest.WholeOnly(t)
	all := callers(t)
	for round := range 2 {
		for _, row := range matrix {
			want := strings.Fields(strings.ReplaceAll(row.seen, "|", ""))
			if len(want) != len(all) {
				t.Fatalf("%s: %d words for %d callers", row.target, len(want), len(all))
			}
			for i, who := range all {
				res := who.ask(row.target)
				if got := seen(t, res); got != want[i] {
					t.Errorf("round %d, %s, %s: sees %s, want %s: %.300s", round, row.target, who.name, got, want[i],
						res.Body)
				}
				if private := strings.HasPrefix(res.Header.Get("Cache-Control"), "private"); who.session() &&
					res.StatusCode == 200 && !private && fromViews(row.target) {
					t.Errorf("%s, %s: Cache-Control = %q", row.target, who.name, res.Header.Get("Cache-Control"))
				}
			}
		}
	}
}

// public are endpoints that ignore who the caller is.
var public = []string{
	"/lists", "/lists.json", "/lists/activities.json", "/lists/unit/BIO", "/items/a1.json", "/items/a2.json",
	"/oembed?url=https://data.example/lists/unit/BIO", "/sitemap.xml", "/robots.txt", "/docs/embedding",
	"/docs/records",
}

// TestPublicEndpointsKnowNoCallers calls them as every caller: the answers are equal, and any cache
// may keep them.
func TestPublicEndpointsKnowNoCallers(t *testing.T) {
	all := callers(t)
	for _, target := range public {
		want := all[0].ask(target)
		wantStatus := http.StatusOK
		if strings.HasPrefix(target, "/items/a2") { // a record of a restricted type
			wantStatus = http.StatusNotFound
		}
		if control := want.Header.Get("Cache-Control"); want.StatusCode != wantStatus ||
			wantStatus == http.StatusOK && !strings.HasPrefix(control, "public") {
			t.Fatalf("%s: status %d, Cache-Control %q: %.300s", target, want.StatusCode, control, want.Body)
		}
		for _, who := range all {
			if who.key != "" {
				continue // a parameter that no list has
			}
			if got := who.ask(target); got.StatusCode != want.StatusCode || !bytes.Equal(got.Body, want.Body) {
				t.Errorf("%s, %s: status %d, %.300s", target, who.name, got.StatusCode, got.Body)
			}
		}
	}
}

// fromViews: other endpoints answer all callers alike.
func fromViews(target string) bool {
	return !strings.HasPrefix(target, "/api/citation-index") &&
		(strings.HasPrefix(target, "/api/") || strings.HasPrefix(target, "/portfolio/"))
}

// session: the caller sends a session's token or header, valid or not.
func (c caller) session() bool {
	for i := 0; i < len(c.headers); i += 2 {
		name := c.headers[i]
		if name == "Authorization" || name == "Cookie" ||
			name == "X-Remote-User" && !strings.Contains(c.name, "any client") {
			return true
		}
	}
	return false
}

func (c caller) ask(target string) proxytest.Response {
	if c.key != "" {
		separator := "?"
		if strings.Contains(target, "?") {
			separator = "&"
		}
		target += separator + "apikey=" + c.key
	}
	return c.site.Get(target, c.headers...)
}

// seen returns how many records an answer holds, or "-" for a refusal.
func seen(t *testing.T, res proxytest.Response) string {
	t.Helper()
	switch res.StatusCode {
	case http.StatusForbidden:
		if e := res.Envelope(t); e.Error != "PermissionDenied" {
			t.Errorf("error = %q", e.Error)
		}
		return "-"
	case http.StatusOK:
	default:
		return fmt.Sprint("status ", res.StatusCode)
	}
	var answer struct{ Data json.RawMessage }
	if json.Unmarshal(res.Body, &answer) != nil || answer.Data == nil {
		return "1" // an answer without an envelope
	}
	var list []json.RawMessage
	if json.Unmarshal(answer.Data, &list) != nil {
		return "1" // one object
	}
	return fmt.Sprint(len(list))
}

// TestMatrixIsComplete: every described path has a row.
func TestMatrixIsComplete(t *testing.T) {
	c, err := proxytest.Description()
	if err != nil {
		t.Fatal(err)
	}
	rows := map[string]bool{}
	targets := slices.Clone(public)
	for _, row := range matrix {
		targets = append(targets, row.target)
	}
	for _, target := range targets {
		path, _, _ := strings.Cut(target, "?")
		rows[c.Template(path)] = true
	}
	for _, path := range c.Paths() {
		if !rows[path] {
			t.Errorf("no row for %s", path)
		}
	}
}
