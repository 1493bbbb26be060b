package upstream_test

import (
	"bufio"
	"crypto/sha256"
	"fmt"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"vitrine/proxy"
	"vitrine/proxy/auth"
	"vitrine/proxy/proxytest"
)

// The credentials of the site in these tests, and the other server's own key.
const (
	apiKey    = "key-of-the-api-0123456789"
	folioKey  = "key-of-the-portfolio-0123"
	plainKey  = "a named key made by hand"
	theirKey  = "key-of-the-other-server"
	operators = "token-of-the-operator-01"
)

var sessionSecret = []byte("the secret of the sessions, long")

// newGuarded serves a site with keys and sessions before another server that has paths of its own.
func newGuarded(t *testing.T, answer http.HandlerFunc, change func(*proxy.Options)) (w *world, namedKey string) {
	namedKey, sum := auth.NewKey()
	return newWorldWith(t, answer, func(o *proxy.Options) {
		o.Upstream.Routes = []string{"/api/projects", "/api/citation-index", "/portfolio/spectrum"}
		o.Upstream.Methods = []string{"POST"}
		o.Upstream.Keys = auth.Upstream{Key: theirKey, PortfolioKey: theirKey}
		o.Admin.Token = operators
		o.Auth.APIKey, o.Auth.PortfolioKey = apiKey, folioKey
		o.Auth.Keys = []auth.Key{
			{Name: "made", Sums: [][sha256.Size]byte{sum}},
			{Name: "own", Sums: [][sha256.Size]byte{sha256.Sum256([]byte(plainKey))},
				Endpoints: []string{"/api/dashboard", "/export", "/api/projects"}},
			{Name: "old", Sums: [][sha256.Size]byte{sha256.Sum256([]byte("an expired key of a client"))},
				Expires: proxytest.Published.Add(-time.Hour)},
		}
		o.Auth.Session = auth.SessionOptions{
			Secret: sessionSecret, Cookie: "vitrine_session", UserHeader: "X-Remote-User",
			TrustedProxies: []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")},
		}
		if change != nil {
			change(o)
		}
	}), namedKey
}

// TestCredentialsStay asks all kinds of paths with this server's credentials in all places and spellings: none of
// them reaches the other server, and its own key only where the caller was admitted.
func TestCredentialsStay(t *testing.T) {
	t.Parallel()
	w, named := newGuarded(t, says("old"), func(o *proxy.Options) { o.Limits.KeyFailures = 0 })
	token, expired := proxytest.Token(t, "ada", sessionSecret), expiredToken(t)
	secrets := []string{apiKey, folioKey, plainKey, named, operators, token, expired}
	params := []string{
		"apikey=%s", "%%61pikey=%s", "apikey=x&apikey=%s", "apikey=%s&apikey=x", "APIKEY=%s", "ApiKey=%s",
		"apikey[]=%s", "apikey%%5B%%5D=%s", "apikey[a][b]=%s",
		"+apikey=%s", "%%20apikey=%s", "apikey%%00x=%s", "a=1;apikey=%s", "a=1;%%61pikey=%s;b=2",
		"a=1&&apikey=%s&&b=2", "q=%s", "%s=1", "url=https://x.example/%%3Fapikey%%3D%s", "a%%3Db=%s",
		"api%%6bey=%s",
	}
	headers := []string{
		"X-API-Key: %s", "x-api-key: %s", "X-Api-Key: \r\nX-Api-Key: %s", "X-Api-Key: x\r\nX-Api-Key: %s",
		"X.API.Key: %s", "X_API_KEY: %s", "Authorization: Bearer %s", "authorization: bearer  %s",
		"Cookie: PHPSESSID=1; vitrine_session=%s", "Cookie: vitrine_session=%s; PHPSESSID=1",
		"Cookie: vitrine_session=\"%s\"\r\nCookie: PHPSESSID=1", "Cookie: apikey=%s; PHPSESSID=1",
		"X-Remote-User: %s", "x-remote-user: %s", "Referer: https://site.example/api/html?a=1&apikey=%s",
		"Referer: https://site.example/%s/x", "X-Original-Url: /?apikey=%s", "X-Custom: key %s",
	}
	for _, path := range []string{"/old", "/api/other", "/portfolio/unit/x", "/api/dashboard/oa", "/export",
		"/api/projects", "/portfolio/spectrum", "/api/citation-index"} {
		for _, secret := range secrets {
			for _, encode := range []func(string) string{url.QueryEscape, allEscaped} {
				for _, param := range params {
					if strings.HasPrefix(param, "url=") && onlyKnownWhole(secret) {
						continue
					}
					w.sends(t, "GET "+path+"?z=1&"+fmt.Sprintf(param,
						encode(secret))+" HTTP/1.1\r\nHost: site.example\r\nCookie: PHPSESSID=1\r\n", secrets)
				}
			}
			for _, header := range headers {
				if strings.HasPrefix(header, "X-Custom") && onlyKnownWhole(secret) {
					continue
				}
				w.sends(t, "GET "+path+" HTTP/1.1\r\nHost: site.example\r\n"+fmt.Sprintf(header, secret)+"\r\n",
					secrets)
			}
			w.sends(t, "POST "+path+"?apikey="+url.QueryEscape(secret)+
				" HTTP/1.1\r\nHost: site.example\r\nContent-Length: 0\r\n", secrets)
		}
	}
	for _, secret := range secrets {
		for _, body := range []string{
			"%s", "a=1&apikey=%s", "apikey[]=%s&b=2", `{"apikey": "%s"}`, "--x\r\n\r\n%s\r\n--x--",
		} {
			if onlyKnownWhole(secret) && !strings.Contains(body, "&") && body != "%s" {
				continue
			}
			for _, method := range []string{"POST", "GET"} {
				for _, encode := range []func(string) string{url.QueryEscape, allEscaped} {
					before, sent := w.asked.Load(), fmt.Sprintf(body, secret)
					if strings.Contains(body, "&") {
						sent = fmt.Sprintf(body, encode(secret))
					}
					w.sends(t, fmt.Sprintf("%s /old HTTP/1.1\r\nHost: site.example\r\nContent-Length: %d\r\n", method,
						len(sent)),
						secrets, sent)
					if w.asked.Load() != before {
						t.Errorf("%s with the body %q is forwarded", method, sent)
					}
				}
			}
		}
		for _, header := range []string{
			"Cookie: %s", "Cookie: a=1,vitrine_session=%s", "Cookie: x=%%7B%%22apikey%%22%%3A%%22%s%%22%%7D",
		} {
			if onlyKnownWhole(secret) {
				continue
			}
			w.sends(t, "GET /old HTTP/1.1\r\nHost: site.example\r\n"+fmt.Sprintf(header, secret)+"\r\n", secrets)
		}
	}
	w.sends(t, "POST /old HTTP/1.1\r\nHost: site.example\r\nContent-Length: 25\r\n", secrets,
		"apikey=theirs-perhaps&a=1")
	if r, _ := w.request(); r.Method != "POST" {
		t.Error("a body without a key of this server is not forwarded")
	}
	if n := w.asked.Load(); n < 1000 {
		t.Errorf("only %d requests were forwarded", n)
	}
	w.sends(t, "GET /old HTTP/1.1\r\nHost: site.example\r\nX-Remote-User: ada-by-proxy\r\n", []string{"ada-by-proxy"})
	w.sends(t, "GET /api/projects HTTP/1.1\r\nHost: site.example\r\nX-Remote-User: ada-by-proxy\r\n",
		[]string{"ada-by-proxy"})
	w.sends(t, "GET /old/"+named+" HTTP/1.1\r\nHost: site.example\r\n", secrets)
	for _, path := range []string{
		"/old/%76itkey_" + named[len("vitkey_"):], "/old/" + allEscaped(allEscaped(named)),
		"/old;x=" + allEscaped(named),
		"/old%2f" + allEscaped(named) + "%20", "/old/" + allEscaped(token), "/old/" + allEscaped(allEscaped(apiKey)),
	} {
		w.sends(t, "GET "+path+" HTTP/1.1\r\nHost: site.example\r\n", secrets)
	}
}

// onlyKnownWhole reports whether a credential is known by a hash alone, so that it is not found within other text.
func onlyKnownWhole(secret string) bool { return secret == plainKey }

// allEscaped escapes every byte.
func allEscaped(text string) string {
	var all strings.Builder
	for _, b := range []byte(text) {
		fmt.Fprintf(&all, "%%%02x", b)
	}
	return all.String()
}

func expiredToken(t *testing.T) string {
	t.Helper()
	token, err := auth.MintToken("ada", sessionSecret, auth.SessionOptions{},
		proxytest.Published.Add(-48*time.Hour), time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	return token
}

// sends sends a request without its last line, and checks what reaches the other server.
func (w *world) sends(t *testing.T, request string, secrets []string, body ...string) {
	t.Helper()
	before := w.asked.Load()
	conn := w.Dial()
	defer conn.Close()
	w.Write(conn, request+"Connection: close\r\n\r\n"+strings.Join(body, ""))
	w.Read(bufio.NewReader(conn))
	if w.asked.Load() == before {
		return
	}
	r, _ := w.request()
	sent := []string{r.RequestURI}
	for name, lines := range r.Header {
		sent = append(sent, name+": "+strings.Join(lines, "\n"))
	}
	for _, text := range sent {
		for range 3 { // decoded as often as a server may
			for _, secret := range secrets {
				if strings.Contains(text, secret) {
					t.Errorf("%q: the other server gets %q", request, text)
				}
			}
			if plain, err := url.QueryUnescape(text); err == nil {
				text = plain
			}
		}
	}
	if strings.Contains(request, "PHPSESSID=1") && !strings.Contains(r.Header.Get("Cookie"), "PHPSESSID=1") {
		t.Errorf("%q: the other server's session is lost: %q", request, r.Header["Cookie"])
	}
	if strings.Contains(request, "z=1") && !strings.Contains(r.RequestURI, "z=1") {
		t.Errorf("%q: other parameters are lost: %s", request, r.RequestURI)
	}
}

// TestDoors: who may ask for a path that the other server answers, with what answer, and with which key the other
// server is asked.
func TestDoors(t *testing.T) {
	t.Parallel()
	w, named := newGuarded(t, func(rw http.ResponseWriter, _ *http.Request) {
		_, _ = rw.Write([]byte(`{"status":403,"msg":"the other server's"}`))
	}, nil)
	bearer := "Bearer " + proxytest.Token(t, "ada", sessionSecret)
	const not = "-" // the request is not forwarded
	for _, tt := range []struct {
		target, header, value string
		status                int
		key, uri              string // that the other server gets
	}{
		// Paths of this server, which have moved.
		{"/api/projects", "", "", 403, not, ""},
		{"/api/projects?apikey=wrong", "", "", 403, not, ""},
		{"/api/projects", "X-API-Key", "wrong", 403, not, ""},
		{"/api/projects", "X-API-Key", theirKey, 403, not, ""},
		{"/api/projects?a=1&apikey=" + apiKey + "&b=2", "", "", 200, theirKey, "/api/projects?a=1&b=2"},
		{"/api/projects?apikey=" + apiKey, "", "", 200, theirKey, "/api/projects"},
		{"/api/projects/below", "X-API-Key", named, 200, theirKey, "/api/projects/below"},
		{"/api/projects", "X-API-Key", plainKey, 200, theirKey, "/api/projects"},
		{"/api/projects", "X-API-Key", "an expired key of a client", 403, not, ""},
		{"/api/projects", "Authorization", bearer, 200, theirKey, "/api/projects"},
		{"/api/projects?apikey=wrong", "Authorization", bearer, 403, not, ""},
		{"/portfolio/spectrum", "X-API-Key", apiKey, 403, not, ""},
		{"/portfolio/spectrum", "X-API-Key", plainKey, 403, not, ""},
		{"/portfolio/spectrum?x=1", "X-API-Key", folioKey, 200, theirKey,
			"/portfolio/spectrum?x=1&apikey=" + theirKey},
		{"/api/citation-index", "", "", 200, theirKey, "/api/citation-index"},
		{"/api/citation-index", "X-API-Key", "an expired key of a client", 403, not, ""},
		// Paths of the other server that an endpoint of a key names.
		{"/api/dashboard/oa", "", "", 403, not, ""},
		{"/api/dashboard/oa", "Cookie", "PHPSESSID=1", 403, not, ""},
		{"/api/dashboard/oa", "X-API-Key", plainKey, 200, theirKey, "/api/dashboard/oa"},
		{"/export?apikey=wrong", "", "", 403, not, ""},
		{"/export", "X-API-Key", plainKey, 200, theirKey, "/export"},
		{"/exports", "", "", 200, "", "/exports"},
		// Its other paths.
		{"/old", "", "", 200, "", "/old"},
		{"/api/other", "Cookie", "PHPSESSID=1", 200, "", "/api/other"},
		{"/api/other?apikey=theirs-perhaps", "", "", 200, "", "/api/other?apikey=theirs-perhaps"},
		{"/api/other", "X-API-Key", "theirs-perhaps", 200, "theirs-perhaps", "/api/other"},
		{"/api/other?apikey=" + theirKey, "", "", 200, "", "/api/other?apikey=" + theirKey},
		{"/api/other?apikey=" + apiKey, "", "", 200, theirKey, "/api/other"},
		{"/old?apikey=" + apiKey, "", "", 200, "", "/old"},
		{"/old", "X-API-Key", named, 200, theirKey, "/old"},
		{"/old", "X-API-Key", plainKey, 403, not, ""},
		{"/old", "X-API-Key", "an expired key of a client", 403, not, ""},
		{"/old", "Authorization", "Bearer of-theirs", 200, "", "/old"},
		{"/old", "Authorization", "Basic dXNlcjpwYXNz", 200, "", "/old"},
	} {
		before := w.asked.Load()
		var headers []string
		if tt.header != "" {
			headers = []string{tt.header, tt.value}
		}
		res := w.get(tt.target, headers...)
		if res.StatusCode != tt.status || tt.status == 403 && !strings.Contains(res.body, "PermissionDenied") {
			t.Errorf("%+v: %d %s", tt, res.StatusCode, res.body)
		}
		if forwarded := w.asked.Load() > before; forwarded != (tt.key != not) {
			t.Errorf("%+v: forwarded: %v", tt, forwarded)
		} else if forwarded {
			r, _ := w.request()
			if got := strings.Join(r.Header["X-Api-Key"], ","); got != tt.key || r.RequestURI != tt.uri {
				t.Errorf("%+v: the other server gets %s with key %q", tt, r.RequestURI, got)
			}
			if own := strings.HasSuffix(tt.value, "of-theirs") || strings.HasPrefix(tt.value,
				"Basic"); own != (r.Header.Get("Authorization") != "") {
				t.Errorf("%+v: Authorization %q", tt, r.Header.Get("Authorization"))
			}
		}
	}
}

// TestKeyLimitsForwarded: the limits of a named key hold for forwarded requests, and each is counted.
func TestKeyLimitsForwarded(t *testing.T) {
	t.Parallel()
	for _, target := range []string{"/api/projects", "/old", "/api/citation-index"} {
		w, _ := newGuarded(t, says("old"), func(o *proxy.Options) {
			o.Auth.Keys = append(o.Auth.Keys, auth.Key{Name: "slow",
				Sums: [][sha256.Size]byte{sha256.Sum256([]byte("a slow key by hand"))}, Rate: 2})
		})
		var got []int
		for range 3 {
			got = append(got, w.get(target, "X-API-Key", "a slow key by hand").StatusCode)
		}
		if !slices.Equal(got, []int{200, 200, 429}) {
			t.Errorf("%s: %d", target, got)
		}
		if metrics := string(w.Admin("GET", "/metrics", "Authorization",
			"Bearer "+operators).Body); !strings.Contains(metrics,
			`vitrine_key_requests_total{key="slow",outcome="admitted"} 2`) {
			t.Errorf("%s: not counted", target)
		}
	}
}

// TestOwnKeyStays: the other server's key is in no header of an answer, wherever the other server repeats it.
func TestOwnKeyStays(t *testing.T) {
	t.Parallel()
	w, _ := newGuarded(t, func(rw http.ResponseWriter, r *http.Request) {
		rw.Header().Set("Location", "https://elsewhere.example/x?a=1&"+r.URL.RawQuery+"#f")
		rw.Header().Set("Content-Location", "/x?u="+url.QueryEscape(r.RequestURI))
		rw.Header().Set("Link", "<"+r.RequestURI+">; rel=self")
		rw.Header().Set("X-Debug", r.Header.Get("X-Api-Key"))
		rw.WriteHeader(http.StatusFound)
	}, nil)
	res := w.get("/portfolio/spectrum?b=2", "X-API-Key", folioKey)
	for name, lines := range res.Header {
		if strings.Contains(strings.Join(lines, "\n"), theirKey) {
			t.Errorf("%s: %s", name, lines)
		}
	}
	if got, want := res.Header.Get("Location"), "https://elsewhere.example/x?a=1&b=2#f"; got != want {
		t.Errorf("Location: %s, want %s", got, want)
	}
}

// TestSameKey: both servers have the same keys, as with an OSIRIS database. The other one gets a caller's key for its
// own paths, and for those of the other kind no key.
func TestSameKey(t *testing.T) {
	t.Parallel()
	w, _ := newGuarded(t, says("old"), func(o *proxy.Options) {
		o.Upstream.Keys = auth.Upstream{Key: apiKey, PortfolioKey: folioKey}
	})
	for _, test := range []struct{ target, key, want string }{
		{"/api/groups", apiKey, apiKey},
		{"/api/groups?apikey=" + apiKey, "", apiKey},
		{"/portfolio/unit/X", folioKey, folioKey},
		{"/api/groups", "", ""},
		{"/api/groups", "another", "another"},
	} {
		res := w.get(test.target, "X-API-Key", test.key)
		r, _ := w.request()
		if got := r.Header.Get("X-API-Key"); res.StatusCode != http.StatusOK || got != test.want {
			t.Errorf("%s with the key %q: status %d, asked with the key %q, want %q", test.target, test.key,
				res.StatusCode, got, test.want)
		}
	}
}

// TestGuardedAnswers: an answer that needs a key is for its caller alone, whatever the other server says to this one.
func TestGuardedAnswers(t *testing.T) {
	t.Parallel()
	w, _ := newGuarded(t, says("old", "Cache-Control", "public, max-age=60, s-maxage=600", "Surrogate-Control",
		"max-age=60"), nil)
	res := w.get("/api/projects", "X-API-Key", apiKey)
	if got := res.Header.Get("Cache-Control"); got != "private, max-age=60" ||
		res.Header.Get("Surrogate-Control") != "" {
		t.Errorf("Cache-Control: %s", got)
	}
	if vary := strings.Join(res.Header["Vary"], ","); !strings.Contains(vary, "X-API-Key") ||
		!strings.Contains(vary, "Cookie") {
		t.Errorf("Vary: %s", vary)
	}
	w.asks(1, "again", func() { w.get("/api/projects", "X-API-Key", apiKey) })
	if res := w.get("/old"); res.Header.Get("Cache-Control") != "public, max-age=60, s-maxage=600" {
		t.Errorf("an open path: %v", res.Header)
	}
}

// TestForwardedCORS: http.cors decides which sites' scripts may read answers for this server's paths, and the other
// server for its own.
func TestForwardedCORS(t *testing.T) {
	t.Parallel()
	const site, other = "https://a.example", "https://b.example"
	theirs := says("old", "Access-Control-Allow-Origin", "*", "Access-Control-Allow-Credentials", "true", "Vary",
		"Accept", "Cache-Control", "max-age=60")
	for _, tt := range []struct {
		name    string
		origins []string
		target  string
		origin  string
		want    string
	}{
		{"a moved path, for a listed site", []string{site}, "/api/projects", site, site},
		{"a moved path, for another site", []string{site}, "/api/projects", other, ""},
		{"a moved path, without a setting", nil, "/api/projects", site, ""},
		{"a path of a key, for a listed site", []string{site}, "/export", site, site},
		{"another path", []string{site}, "/old", other, "*"},
	} {
		w, _ := newGuarded(t, theirs, func(o *proxy.Options) { o.CORS.Origins = tt.origins })
		for round := range 2 { // the second time a path without a key is answered from memory
			res := w.get(tt.target, "Origin", tt.origin, "X-API-Key", plainKey)
			if tt.target == "/old" {
				res = w.get(tt.target, "Origin", tt.origin)
			}
			if got := res.Header.Get("Access-Control-Allow-Origin"); got != tt.want || res.StatusCode != 200 ||
				(tt.want != "*") != (res.Header.Get("Access-Control-Allow-Credentials") == "") {
				t.Errorf("%s, round %d: %d, %q, headers %v", tt.name, round, res.StatusCode, got, res.Header)
			}
		}
		w.asks(0, tt.name+": preflight", func() {
			if tt.target == "/old" {
				return
			}
			res := w.ask(http.MethodOptions, tt.target, "", "Origin", tt.origin, "Access-Control-Request-Method",
				"GET", "Access-Control-Request-Headers", "x-api-key")
			if got := res.Header.Get("Access-Control-Allow-Origin"); got != tt.want {
				t.Errorf("%s: preflight: %d %q", tt.name, res.StatusCode, got)
			}
		})
	}
}

// TestForwardedPreflight: the other server answers preflights for its own paths, but for no spelling of a route of
// this server.
func TestForwardedPreflight(t *testing.T) {
	t.Parallel()
	w, _ := newGuarded(t, says("old"), func(o *proxy.Options) {
		o.Upstream.Methods = []string{http.MethodOptions}
		o.CORS.Origins = []string{"https://a.example"}
	})
	for target, want := range map[string]int64{"/api/html": 0, "/api/users/ada": 0, "/api/HTML": 0, "/api/other": 1,
		"/old": 1} {
		w.asks(want, target, func() {
			w.ask(http.MethodOptions, target, "", "Origin", "https://a.example", "Access-Control-Request-Method",
				"GET")
		})
	}
}

// TestForwardedGuesses: wrong keys count on paths of the other server, but one that its client sends again and
// again, such as a key of the other server, counts once.
func TestForwardedGuesses(t *testing.T) {
	t.Parallel()
	w, _ := newGuarded(t, says("old"), func(o *proxy.Options) { o.Limits.KeyFailures = 3 })
	for n := range 20 {
		if res := w.get("/api/other", "X-API-Key", "a key of theirs"); res.StatusCode != 200 {
			t.Fatalf("request %d with the same key: %d", n, res.StatusCode)
		}
	}
	var got []int
	for _, guess := range []string{"a", "b", "c"} {
		got = append(got, w.get("/old?apikey="+guess).StatusCode)
	}
	if !slices.Equal(got, []int{200, 200, 429}) {
		t.Errorf("guesses: %d", got)
	}
	if res := w.get("/api/other", "X-API-Key", "a key of theirs"); res.StatusCode != 200 {
		t.Errorf("the same key after guesses: %d", res.StatusCode)
	}
	if res := w.get("/api/projects", "X-API-Key", apiKey); res.StatusCode != 200 {
		t.Errorf("a right key after guesses: %d", res.StatusCode)
	}
}
