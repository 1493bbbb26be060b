package auth_test

import (
	"crypto/sha256"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"vitrine/proxy"
	"vitrine/proxy/auth"
	"vitrine/proxy/proxytest"
	"vitrine/rules/access"
)

// key returns a named key whose text is its name and "-text".
func key(name string, rights ...access.Permission) auth.Key {
	slices.Sort(rights)
	return auth.Key{Name: name, Sums: [][sha256.Size]byte{sha256.Sum256([]byte(name + "-text"))}, Rights: rights}
}

// limited returns a key after a change.
func limited(k auth.Key, change func(*auth.Key)) auth.Key {
	change(&k)
	return k
}

// TestKeyMatrix asks every endpoint with every key: what each may see, in answers that are new and in kept ones.
func TestKeyMatrix(t *testing.T) {
	keys := []auth.Key{
		key("plain"),
		key("fields", access.FieldsHidden),
		key("projects", access.ProjectsView),
		key("all", access.FieldsHidden, access.ProjectsView, access.ProposalsView, access.PortfolioSpectrum),
		limited(key("one-path", access.FieldsHidden),
			func(k *auth.Key) { k.Endpoints = []string{"/api/activities"} }),
		limited(key("topics", access.PortfolioSpectrum), func(k *auth.Key) { k.Endpoints = []string{"/portfolio"} }),
		limited(key("people", access.FieldsHidden),
			func(k *auth.Key) { k.Endpoints = []string{"/api/users/", "/api/search"} }),
		limited(key("expired", access.FieldsHidden), func(k *auth.Key) { k.Expires = proxytest.Published }),
	}
	filter := "?json=" + url.QueryEscape(`{"mail":{"$exists":true}}`)
	// What a key sees: no, an empty list, rows without hidden fields, rows with them. A filter by a hidden field is
	// bad for those that may not see the field.
	const no, empty, rows, whole, bad = "no", "empty", "rows", "whole", "bad"
	columns := []string{"", "plain-text", "fields-text", "projects-text", "all-text", "one-path-text", "topics-text",
		"people-text", "expired-text", "single", "folio", "wrong"}
	matrix := []struct {
		target string
		want   []string // by column
	}{
		{"/api/activities?full=1", []string{no, rows, whole, rows, whole, whole, no, no, no, rows, no, no}},
		{"/api/activities" + filter, []string{no, bad, whole, bad, whole, whole, no, no, no, bad, no, no}},
		{"/api/all-activities", []string{no, rows, whole, rows, whole, no, no, no, no, rows, no, no}},
		{"/api/projects?raw=1&columns[]=contact",
			[]string{no, empty, empty, rows, whole, no, no, no, no, empty, no, no}},
		{"/api/proposals?raw=1&columns[]=contact",
			[]string{no, empty, empty, empty, whole, no, no, no, no, empty, no, no}},
		{"/api/users/ada", []string{no, rows, whole, rows, whole, no, no, whole, no, rows, no, no}},
		{"/api/search/persons?columns[]=units",
			[]string{no, rows, whole, rows, whole, no, no, whole, no, rows, no, no}},
		{"/api/search/persons" + filter, []string{no, bad, rows, bad, rows, no, no, rows, no, bad, no, no}},
		{"/api/events", []string{no, rows, whole, rows, whole, no, no, no, no, rows, no, no}},
		{"/portfolio/spectrum", []string{no, empty, empty, empty, whole, no, rows, no, no, no, empty, no}},
	}
	inMemoryAndStore(t, func(t *testing.T) {
		o := hiding(t, guess)
		o.Access = access.New(access.Options{})
		o.Auth.APIKey, o.Auth.PortfolioKey, o.Auth.Keys = "single", "folio", keys
		db := secretive(t, guess)
		db.Twinned = true
		s := proxytest.Open(t, db, o)
		for round := range 3 { // the second answer is kept, the third request has the key in its URL
			for _, row := range matrix {
				for i, text := range columns {
					target, headers := row.target, []string{"X-API-Key", text}
					if round == 2 && text != "" {
						target, headers = target+
							map[bool]string{true: "&", false: "?"}[strings.Contains(target, "?")]+"apikey="+text, nil
					}
					res := ask(s, target, headers...)
					if got := seen(t, res); got != row.want[i] {
						t.Errorf("round %d: %s, key %q: %s, want %s: %.300s", round, row.target, text, got,
							row.want[i], res.Body)
					}
					if control := res.Header.Get("Cache-Control"); !strings.HasPrefix(control, "private") &&
						control != "no-store" {
						t.Errorf("%s, key %q: Cache-Control %s", row.target, text, control)
					}
				}
			}
		}
	})
}

// seen says what an answer shows.
func seen(t *testing.T, res proxytest.Response) string {
	t.Helper()
	body := string(res.Body)
	switch {
	case res.StatusCode == http.StatusForbidden:
		return "no"
	case res.StatusCode == http.StatusBadRequest && strings.Contains(body, "is hidden from callers"):
		return "bad"
	case res.StatusCode != http.StatusOK:
		return res.Status
	case strings.Contains(body, "sesam@hidden"):
		return "whole"
	case strings.Contains(body, `"data":[]`):
		return "empty"
	}
	return "rows"
}

// TestKeyLimits: the refusal of a right key says why; that of a wrong one does not.
func TestKeyLimits(t *testing.T) {
	day := proxytest.Published.Truncate(24 * time.Hour)
	o := proxytest.Options(t)
	o.Auth.Client = auth.ClientOptions{Header: "X-Forwarded-For",
		TrustedProxies: []netip.Prefix{netip.MustParsePrefix("0.0.0.0/32")}}
	twice := key("old")
	twice.Sums = append(twice.Sums, sha256.Sum256([]byte("new-text")))
	o.Auth.Keys = []auth.Key{
		twice,
		limited(key("expired"), func(k *auth.Key) { k.Expires = day }),
		limited(key("valid"), func(k *auth.Key) { k.Expires = day.AddDate(0, 0, 1) }),
		limited(key("path"), func(k *auth.Key) { k.Endpoints = []string{"/api/act"} }),
		limited(key("root"), func(k *auth.Key) { k.Endpoints = []string{"/"} }),
		limited(key("network"), func(k *auth.Key) {
			k.Networks = []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24")}
		}),
		limited(key("site"), func(k *auth.Key) { k.Origins = []string{"https://www.example"} }),
		limited(key("slow"), func(k *auth.Key) { k.Rate = 2 }),
	}
	log := new(proxytest.LockedBuffer)
	o.Logger, o.AccessLog = slog.New(slog.NewJSONHandler(log, nil)), true
	s := proxytest.Open(t, proxytest.Institute(t), o)
	for _, tt := range []struct {
		key, from, origin string
		status            int
		msg               string
	}{
		{"old-text", "", "", 200, ""},
		{"new-text", "", "", 200, ""},
		{"expired-text", "", "", 403, "The API key has expired."},
		{"valid-text", "", "", 200, ""},
		{"path-text", "", "", 403, "The API key is not for this path."},
		{"root-text", "", "", 200, ""},
		{"network-text", "192.0.2.9", "", 200, ""},
		{"network-text", "198.51.100.9", "", 403, "The API key is not for clients at this address."},
		{"network-text", "", "", 403, "The API key is not for clients at this address."},
		{"site-text", "", "https://www.example", 200, ""},
		{"site-text", "", "https://www.example.evil", 403,
			"The API key is for pages of certain sites, and the request comes from none of them."},
		{"site-text", "", "", 403,
			"The API key is for pages of certain sites, and the request comes from none of them."},
		{"slow-text", "192.0.2.1", "", 200, ""},
		{"slow-text", "192.0.2.2", "", 200, ""},
		{"slow-text", "192.0.2.3", "", 429, "Too many requests with this API key. Retry-After says when to go on."},
		{"expired", "", "", 403, "A valid API key is needed for this request."},
		{"Old-text", "", "", 403, "A valid API key is needed for this request."},
	} {
		headers := []string{"X-API-Key", tt.key}
		if tt.from != "" {
			headers = append(headers, "X-Forwarded-For", tt.from)
		}
		if tt.origin != "" {
			headers = append(headers, "Origin", tt.origin)
		}
		log.Taken()
		res := s.Get("/api/activities?limit=1", headers...)
		if e := res.Envelope(t); res.StatusCode != tt.status || e.Msg != tt.msg {
			t.Errorf("%+v: %d %q", tt, res.StatusCode, e.Msg)
		}
		if policy := res.Header.Get("RateLimit-Policy"); (policy != "") != (tt.status == 429) {
			t.Errorf("%+v: RateLimit-Policy %q: only a refusal names the limit of a key", tt, policy)
		}
		name, _, right := strings.Cut(tt.key, "-")
		if name == "new" {
			name = "old" // the second text of that key
		}
		line := log.Taken()
		if strings.Contains(line, `"key":"`+name+`"`) != (right && name != "Old") || strings.Contains(line, "-text") {
			t.Errorf("%+v: logged %s", tt, line)
		}
	}
	for series, want := range map[string]int{
		`{key="old",outcome="admitted"}`: 2, `{key="expired",outcome="expired"}`: 1,
		`{key="path",outcome="endpoint"}`: 1, `{key="network",outcome="network"}`: 2,
		`{key="site",outcome="origin"}`: 2, `{key="slow",outcome="admitted"}`: 2, `{key="slow",outcome="rate"}`: 1,
		`{key="path",outcome="admitted"}`: 0,
	} {
		if !strings.Contains(string(s.Admin("GET", "/metrics").Body),
			fmt.Sprintf("vitrine_key_requests_total%s %d\n", series, want)) {
			t.Errorf("metrics lack %s %d", series, want)
		}
	}
	for _, adopted := range []struct{ rate, status int }{{2, 429}, {3, 200}} {
		// a reload gives back nothing that was used
		o.Auth.Keys[len(o.Auth.Keys)-1].Rate = adopted.rate
		if err := s.Server.Adopt(o); err != nil {
			t.Fatal(err)
		}
		if got := s.Get("/api/activities?limit=1", "X-API-Key", "slow-text").StatusCode; got != adopted.status {
			t.Errorf("a used-up key after a reload with rate %d: %d", adopted.rate, got)
		}
	}
	if got := s.Get("/portfolio/spectrum").StatusCode; got != 403 {
		t.Errorf("without a key, where a named one is valid: %d", got)
	}
}

// TestRefusalsNameTheirLimit: a 429 names the limit that refused the request, then the one of all requests.
func TestRefusalsNameTheirLimit(t *testing.T) {
	o := proxytest.ListOptions(t)
	o.Now = func() time.Time { return proxytest.Published }
	o.Limits.Rate, o.Limits.KeyFailures = 9, 1
	o.Auth.Keys = []auth.Key{limited(key("slow"), func(k *auth.Key) { k.Rate = 2 })}
	s := openLists(t, o)
	for _, tt := range []struct {
		target, key  string
		status       int
		policy, left string
		retry        string
	}{
		{"/api/activities?limit=1", "slow-text", 200, `"default";q=9;w=1`, `"default";r=8;t=1`, ""},
		{"/lists/activities.json?limit=1", "slow-text", 200, `"default";q=9;w=1`, `"default";r=7;t=1`, ""},
		{"/api/activities?limit=1", "slow-text", 429, `"key";q=2;w=1, "default";q=9;w=1`,
			`"key";r=0;t=1, "default";r=6;t=1`, "1"},
		{"/lists/activities.json?limit=1", "slow-text", 429, `"key";q=2;w=1, "default";q=9;w=1`,
			`"key";r=0;t=1, "default";r=5;t=1`, "1"},
		{"/api/activities?limit=1", "a", 403, `"default";q=9;w=1`, `"default";r=4;t=1`, ""},
		{"/api/activities?limit=1", "b", 429, `"wrong-keys";q=1;w=60, "default";q=9;w=1`,
			`"wrong-keys";r=0;t=60, "default";r=3;t=1`, "60"},
	} {
		res := s.Get(tt.target, "X-API-Key", tt.key)
		h := res.Header
		if res.StatusCode != tt.status || h.Get("RateLimit-Policy") != tt.policy || h.Get("RateLimit") != tt.left ||
			h.Get("Retry-After") != tt.retry {
			t.Errorf("%+v: %d, RateLimit-Policy %s, RateLimit %s, Retry-After %s", tt, res.StatusCode,
				h.Get("RateLimit-Policy"), h.Get("RateLimit"), h.Get("Retry-After"))
		}
		if tt.status == 429 && res.Envelope(t).Error != "TooManyRequests" {
			t.Errorf("%+v: %s", tt, res.Body)
		}
	}
}

// TestKeysCloseTheirPaths: a path is open without a key only if no key is for anything beside it.
func TestKeysCloseTheirPaths(t *testing.T) {
	for _, tt := range []struct {
		endpoints         []string
		api, folio, lists int
	}{
		{nil, 403, 403, 200},
		{[]string{"/api/events"}, 403, 200, 200},
		{[]string{"/portfolio/spectrum"}, 200, 403, 200},
		{[]string{"/lists/activities"}, 200, 200, 200},
		{[]string{"/"}, 403, 403, 200},
	} {
		o := proxytest.ListOptions(t)
		o.Auth.Keys = []auth.Key{limited(key("one"),
			func(k *auth.Key) { k.Endpoints, k.Expires = tt.endpoints, proxytest.Published.Add(-time.Hour) })}
		s := openLists(t, o)
		for path, want := range map[string]int{"/api/activities?limit=1": tt.api, "/portfolio/spectrum": tt.folio,
			"/lists/activities.json": tt.lists} {
			if got := s.Get(path).StatusCode; got != want {
				t.Errorf("%v: %s: %d, want %d", tt.endpoints, path, got, want)
			}
		}
	}
}

func openLists(t *testing.T, o proxy.Options) *proxytest.Site {
	t.Helper()
	return proxytest.OpenViews(t, proxytest.ListStore(t, nil), o, proxytest.ListViews(t), 0)
}

// TestKeysOfLists: lists need no key; a named one in the header is counted, and its limits hold.
func TestKeysOfLists(t *testing.T) {
	o := proxytest.ListOptions(t)
	o.Auth.APIKey = "single"
	o.Auth.Keys = []auth.Key{
		limited(key("web"), func(k *auth.Key) { k.Endpoints = []string{"/lists/activities"} }),
		limited(key("slow"), func(k *auth.Key) { k.Rate = 1 }),
	}
	s := openLists(t, o)
	open := s.Get("/lists/activities.json?limit=1")
	for _, tt := range []struct {
		target, key string
		want        int
	}{
		{"/lists/activities.json?limit=1", "web-text", 200},
		{"/lists/activities?limit=1", "web-text", 200},
		{"/lists/projects.json", "web-text", 403},
		{"/lists/activities-more.json", "web-text", 403},
		{"/lists/projects.json", "wrong", 200},
		{"/lists/projects.json", "single", 200},
		{"/lists/activities.json?limit=1&apikey=web-text", "", 400},
		{"/lists/activities.json?limit=1&apikey=web-text", "web-text", 400},
		{"/lists/activities.json?limit=1", "slow-text", 200},
		{"/lists/activities.json?limit=1", "slow-text", 429},
	} {
		var headers []string
		if tt.key != "" {
			headers = []string{"X-API-Key", tt.key}
		}
		res := s.Get(tt.target, headers...)
		if res.StatusCode != tt.want {
			t.Errorf("%+v: %d %.200s", tt, res.StatusCode, res.Body)
		}
		if strings.HasPrefix(tt.target, "/lists/activities.json") && tt.want == 200 &&
			string(res.Body) != string(open.Body) {
			t.Errorf("%+v: another answer than without a key: %.200s", tt, res.Body)
		}
	}
}

// TestGuessingByKey: wrong keys beside a named one count, and so do those where a list tells a right one by its
// limits.
func TestGuessingByKey(t *testing.T) {
	for _, target := range []string{"/api/activities?limit=1&apikey=own-text", "/lists/activities.json?limit=1"} {
		o := proxytest.ListOptions(t)
		o.Auth.APIKey, o.Auth.PortfolioKey, o.Auth.Keys, o.Limits.KeyFailures = "single", "folio", []auth.Key{
			key("own")}, 3
		s := openLists(t, o)
		for _, text := range []string{"own-text", "single", "own-text", "single"} {
			if got := s.Get(target, "X-API-Key", text).StatusCode; got != 200 {
				t.Errorf("%s with %s: %d", target, text, got)
			}
		}
		var got []int
		for _, text := range []string{"a", "b", "c", "d"} {
			got = append(got, s.Get(target, "X-API-Key", text).StatusCode)
		}
		if !slices.Equal(got, []int{200, 200, 200, 429}) {
			t.Errorf("%s with wrong keys: %d", target, got)
		}
		if got := s.Get(target, "X-API-Key", "own-text").StatusCode; got != 200 {
			t.Errorf("%s with a right key after wrong ones: %d", target, got)
		}
		s.Admin(http.MethodGet, "/admin/explain?url="+url.QueryEscape(target), "X-API-Key", "e")
		if got := s.Metric("vitrine_wrong_keys_total"); got != 4 {
			t.Errorf("%s: %v wrong keys, want 4: the operator's own do not count", target, got)
		}
	}
}

// TestNewKey: the texts of new keys are left out of logs wherever they are.
func TestNewKey(t *testing.T) {
	text, sum := auth.NewKey()
	if other, _ := auth.NewKey(); other == text || sum != sha256.Sum256([]byte(text)) || len(text) < 52 {
		t.Errorf("%q and %q", text, other)
	}
	log := new(proxytest.LockedBuffer)
	o := proxytest.Options(t)
	o.Logger, o.AccessLog = slog.New(slog.NewTextHandler(log, nil)), true
	s := proxytest.Open(t, proxytest.Institute(t), o)
	for _, target := range []string{"/" + text, "/api/" + text + "/x?q=1", "/api/activities?limit=1&q=" + text,
		"/api/activities?limit=1&" + text + "=1", "/api/activities?apikey=" + text} {
		s.Exchange(httptest.NewRequest(http.MethodGet, target, nil))
	}
	s.Get("/api/activities?limit=1", "X-Request-Id", text)
	if logged := log.Taken(); strings.Contains(logged, text[8:]) || strings.Count(logged, "msg=request") != 6 {
		t.Errorf("logged %s", logged)
	}
}
