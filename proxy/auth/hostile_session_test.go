package auth_test

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"net/http"
	"net/netip"
	"strings"
	"testing"
	"time"

	"vitrine/proxy/admin"
	"vitrine/proxy/proxytest"

	"vitrine/configs"
	"vitrine/proxy/auth"
)

// forge signs a token from the given bytes.
func forge(header, claims string, secret []byte) string {
	b64 := base64.RawURLEncoding
	text := b64.EncodeToString([]byte(header)) + "." + b64.EncodeToString([]byte(claims))
	mac := hmac.New(sha256.New, secret)
	mac.Write([]byte(text))
	return text + "." + b64.EncodeToString(mac.Sum(nil))
}

// TestForgedTokens: a token cannot choose how it is verified, and a token without usable claims
// names no user. The secret is right in all cases, unless the case's name says otherwise.
func TestForgedTokens(t *testing.T) {
	secret := []byte("session secret of thirty-two bytes")
	public, _ := edKeys(t)
	o := proxytest.Options(t)
	o.Auth.Session = auth.SessionOptions{Secret: secret, PublicKey: public, Cookie: "vitrine_session"}
	s := proxytest.Open(t, proxytest.Institute(t), o)
	exp := fmt.Sprint(proxytest.Published.Unix() + 3600)
	const hs = `{"alg":"HS256","typ":"JWT"}`
	bob := `{"sub":"bob","exp":` + exp + `}`
	good := forge(hs, bob, secret)
	body, sig := good[:strings.LastIndexByte(good, '.')], good[strings.LastIndexByte(good, '.')+1:]
	if !known(t, s, good) {
		t.Fatal("the valid token is refused")
	}
	for name, tok := range map[string]string{
		"no algorithm":             forge(`{"alg":"none"}`, bob, secret),
		"no algorithm, unsigned":   strings.TrimSuffix(forge(`{"alg":"none"}`, bob, nil), "x")[:len(body)],
		"None":                     forge(`{"alg":"None"}`, bob, secret),
		"an empty algorithm":       forge(`{"alg":""}`, bob, secret),
		"no word of an algorithm":  forge(`{"typ":"JWT"}`, bob, secret),
		"small letters":            forge(`{"alg":"hs256"}`, bob, secret),
		"a list of algorithms":     forge(`{"alg":["HS256"]}`, bob, secret),
		"a number":                 forge(`{"alg":256}`, bob, secret),
		"HS384":                    forge(`{"alg":"HS384"}`, bob, secret),
		"RS256":                    forge(`{"alg":"RS256"}`, bob, secret),
		"EdDSA with a hash":        forge(`{"alg":"EdDSA"}`, bob, secret),
		"the public key as secret": forge(hs, bob, public),
		"no secret":                forge(hs, bob, nil),
		"the secret and a byte":    forge(hs, bob, append(bytes.Clone(secret), 1)),
		"a file by kid":            forge(`{"alg":"HS256","kid":"/dev/null"}`, bob, nil),
		"a query by kid":           forge(`{"alg":"HS256","kid":"' UNION SELECT ''--"}`, bob, nil),
		"a key by jwk":             forge(`{"alg":"HS256","jwk":{"kty":"oct","k":""}}`, bob, nil),
		"a key by jku":             forge(`{"alg":"HS256","jku":"http://127.0.0.1/keys"}`, bob, nil),
		"extensions":               forge(`{"alg":"HS256","crit":["b64"],"b64":false}`, bob, secret),
		"a number as user":         forge(hs, `{"sub":1,"exp":`+exp+`}`, secret),
		"a list as user":           forge(hs, `{"sub":["bob"],"exp":`+exp+`}`, secret),
		"an object as user":        forge(hs, `{"sub":{"$ne":""},"exp":`+exp+`}`, secret),
		"nothing as user":          forge(hs, `{"sub":null,"exp":`+exp+`}`, secret),
		"no user":                  forge(hs, `{"exp":`+exp+`}`, secret),
		"an empty user":            forge(hs, `{"sub":"","exp":`+exp+`}`, secret),
		"a control in the user":    forge(hs, `{"sub":"bob\r\nX: y","exp":`+exp+`}`, secret),
		"a zero byte in the user":  forge(hs, `{"sub":"bob\u0000","exp":`+exp+`}`, secret),
		"a long user":              forge(hs, `{"sub":"`+strings.Repeat("b", 5000)+`","exp":`+exp+`}`, secret),
		"invalid UTF-8":            forge(hs, "{\"sub\":\"bob\xff\",\"exp\":"+exp+"}", secret),
		"without end":              forge(hs, `{"sub":"bob"}`, secret),
		"an end that is null":      forge(hs, `{"sub":"bob","exp":null}`, secret),
		"an end that is a word":    forge(hs, `{"sub":"bob","exp":"never"}`, secret),
		"an end at zero":           forge(hs, `{"sub":"bob","exp":0}`, secret),
		"a negative end":           forge(hs, `{"sub":"bob","exp":-1}`, secret),
		"expired": forge(hs, `{"sub":"bob","exp":`+fmt.Sprint(proxytest.Published.Unix()-1)+`}`,
			secret),
		"not yet": forge(hs,
			`{"sub":"bob","exp":`+exp+`,"nbf":`+fmt.Sprint(proxytest.Published.Unix()+60)+`}`, secret),
		"claims that are a list":   forge(hs, `["bob"]`, secret),
		"claims that are none":     forge(hs, `bob`, secret),
		"a header that is none":    forge(`HS256`, bob, secret),
		"claims changed":           strings.Replace(good, ".", ".e", 1),
		"the signature cut":        body + "." + sig[:len(sig)-2],
		"no signature":             body + ".",
		"two parts":                body,
		"four parts":               good + "." + sig,
		"five parts":               good + ".." + sig,
		"padding":                  good + "=",
		"blanks":                   " " + good + " x",
		"dots":                     "..",
		"a huge token":             forge(hs, `{"sub":"`+strings.Repeat("b", 9000)+`","exp":`+exp+`}`, secret),
		"an end beyond numbers":    forge(hs, `{"sub":"bob","exp":1e300}`, secret),
		"an end beyond int64":      forge(hs, `{"sub":"bob","exp":9223372036854775807}`, secret),
		"an end with an exponent":  forge(hs, `{"sub":"bob","exp":1e11}`, secret),
		"an end that is a text":    forge(hs, `{"sub":"bob","exp":"`+exp+`"}`, secret),
		"an end in capitals":       forge(hs, `{"sub":"bob","EXP":`+exp+`}`, secret),
		"a second end in capitals": forge(hs, `{"sub":"bob","exp":1,"Exp":`+exp+`}`, secret),
		"two ends":                 forge(hs, `{"sub":"bob","exp":1,"exp":`+exp+`}`, secret),
		"two users":                forge(hs, `{"sub":"ada","sub":"bob","exp":`+exp+`}`, secret),
		"a user in capitals":       forge(hs, `{"SUB":"bob","exp":`+exp+`}`, secret),
		"a long s in the user":     forge(hs, `{"\u017fub":"bob","exp":`+exp+`}`, secret),
		"never beyond int64":       forge(hs, `{"sub":"bob","exp":`+exp+`,"nbf":9223372036854775807}`, secret),
		"never beyond numbers":     forge(hs, `{"sub":"bob","exp":`+exp+`,"nbf":1e300}`, secret),
		"not yet, as a text":       forge(hs, `{"sub":"bob","exp":`+exp+`,"nbf":"`+exp+`"}`, secret),
		"a start that is null":     forge(hs, `{"sub":"bob","exp":`+exp+`,"nbf":null}`, secret),
		"deep claims":              forge(hs, strings.Repeat(`{"a":`, 2000)+"1"+strings.Repeat("}", 2000), secret),
	} {
		t.Run(name, func(t *testing.T) {
			if known(t, s, tok) {
				t.Errorf("taken: %.200s", tok)
			}
		})
	}
	t.Run("issuer, audience and type where they are required", func(t *testing.T) {
		o := proxytest.Options(t)
		o.Auth.Session = auth.SessionOptions{Secret: secret, Cookie: "vitrine_session", Issuer: "institute",
			Audience: "vitrine", Type: "at+jwt"}
		s := proxytest.Open(t, proxytest.Institute(t), o)
		minted, err := auth.MintToken("bob", secret, o.Auth.Session, proxytest.Published, time.Hour)
		if err != nil || !known(t, s, minted) {
			t.Errorf("a minted token is refused, %v", err)
		}
		const at = `{"alg":"HS256","typ":"application/at+JWT"}`
		claims := func(more string) string { return `{"sub":"bob","exp":` + exp + more + `}` }
		if !known(t, s, forge(at, claims(`,"iss":"institute","aud":["other","vitrine"]`), secret)) {
			t.Error("a good token is refused")
		}
		for name, tok := range map[string]string{
			"without":          good,
			"another issuer":   forge(at, claims(`,"iss":"other","aud":"vitrine"`), secret),
			"no issuer":        forge(at, claims(`,"aud":"vitrine"`), secret),
			"two issuers":      forge(at, claims(`,"iss":"other","iss":"institute","aud":"vitrine"`), secret),
			"another audience": forge(at, claims(`,"iss":"institute","aud":"Vitrine"`), secret),
			"no audience":      forge(at, claims(`,"iss":"institute"`), secret),
			"another type":     forge(hs, claims(`,"iss":"institute","aud":"vitrine"`), secret),
			"no type":          forge(`{"alg":"HS256"}`, claims(`,"iss":"institute","aud":"vitrine"`), secret),
			"a list of types": forge(`{"alg":"HS256","typ":["at+jwt"]}`,
				claims(`,"iss":"institute","aud":"vitrine"`), secret),
		} {
			if known(t, s, tok) {
				t.Errorf("%s: taken", name)
			}
		}
	})
	t.Run("token without expiry, where allowed", func(t *testing.T) {
		o.Auth.Session.Endless = true
		s := proxytest.Open(t, proxytest.Institute(t), o)
		if !known(t, s, forge(hs, `{"sub":"bob"}`, secret)) {
			t.Error("not taken")
		}
	})
}

// known reports whether a token identifies bob, as bearer and as cookie.
func known(t *testing.T, s *proxytest.Site, tok string) bool {
	t.Helper()
	const mine = "/api/all-activities?page=my-activities"
	bearer := s.Get(mine, "Authorization", "Bearer "+tok)
	is := *bearer.Envelope(t).Count == 4
	if strings.ContainsAny(tok, " ") {
		return is
	}
	if cookie := s.Get(mine, "Cookie", "vitrine_session="+tok, "Sec-Fetch-Site",
		"same-origin"); (*cookie.Envelope(t).Count == 4) != is {
		t.Errorf("bearer %v, cookie %v", is, !is)
	}
	return is
}

// TestUnknownUsers: the token of a user without a record grants nothing, unless configured.
func TestUnknownUsers(t *testing.T) {
	secret := []byte("session secret")
	for allowed, want := range map[bool]int{false: 403, true: 200} {
		o := proxytest.Options(t)
		o.Auth.APIKey = "Right"
		o.Auth.Session = auth.SessionOptions{Secret: secret, UnknownUsers: allowed}
		s := proxytest.Open(t, proxytest.Institute(t), o)
		for user, want := range map[string]int{"bob": 200, "zoe": want} {
			if got := s.Get("/api/html", "Authorization",
				"Bearer "+proxytest.Token(t, user, secret)).StatusCode; got != want {
				t.Errorf("unknown users %v: %s gets %d, want %d", allowed, user, got, want)
			}
		}
	}
}

// TestUserHeaderTwice: of two user headers we cannot know which one the proxy wrote.
func TestUserHeaderTwice(t *testing.T) {
	o := proxytest.Options(t)
	o.Auth.Session = auth.SessionOptions{UserHeader: "X-Remote-User",
		TrustedProxies: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}}
	l := proxytest.ServeLive(t, proxytest.Open(t, proxytest.Institute(t), o))
	for headers, want := range map[string]int{
		"X-Remote-User: ada\r\n":                             200,
		"X-Remote-User: ada\r\nx-remote-user: bob\r\n":       400,
		"X-Remote-User: ada\r\nX-Remote-User: ada\r\n":       400,
		"X-Remote-User:\r\nX-A: b\r\nX-Remote-User: ada\r\n": 400,
	} {
		res, _ := l.Exchange(t, "GET /api/html HTTP/1.1\r\nHost: x\r\n"+headers+"\r\n")
		if e := res.Envelope(t); e.Status != want {
			t.Errorf("%q: %d %s", headers, e.Status, e.Msg)
		}
	}
}

// TestCookiesOfAllowedSites: a cookie sent from a page of another site counts only if that site is
// on the allow-list.
func TestCookiesOfAllowedSites(t *testing.T) {
	secret := []byte("session secret")
	for name, tt := range map[string]struct {
		cors   configs.CORS
		origin string
		known  bool
	}{
		"allowed": {configs.CORS{Origins: []string{"https://portal.example",
			"https://*.inst.example"}, Credentials: true}, "https://portal.example", true},
		"a subdomain": {configs.CORS{Origins: []string{"https://portal.example",
			"https://*.inst.example"}, Credentials: true}, "https://a.inst.example", true},
		"another site": {configs.CORS{Origins: []string{"https://portal.example"}, Credentials: true},
			"https://evil.example", false},
		"nowhere": {configs.CORS{Origins: []string{"https://portal.example"}, Credentials: true},
			"null", false},
		"no origin": {configs.CORS{Origins: []string{"https://portal.example"}, Credentials: true}, "",
			false},
		"without credentials": {configs.CORS{Origins: []string{"https://portal.example"}},
			"https://portal.example", false},
		"all":  {configs.CORS{Origins: []string{"*"}}, "https://portal.example", false},
		"none": {configs.CORS{}, "https://portal.example", false},
	} {
		o := proxytest.Options(t)
		o.CORS = tt.cors
		o.Auth.Session = auth.SessionOptions{Secret: secret, Cookie: "vitrine_session"}
		s := proxytest.Open(t, proxytest.Institute(t), o)
		res := s.Get("/api/all-activities?page=my-activities", "Cookie",
			"vitrine_session="+proxytest.Token(t, "bob", secret), "Sec-Fetch-Site", "cross-site", "Origin", tt.origin)
		if known := *res.Envelope(t).Count == 4; known != tt.known {
			t.Errorf("%s: known %v", name, known)
		}
		if got := res.Header.Get("Cache-Control"); !strings.HasPrefix(got, "private") {
			t.Errorf("%s: Cache-Control %q", name, got)
		}
	}
}

// TestAdminFromBrowsers: a page in the operator's browser cannot send requests to the operator's
// listener, whatever host name it uses.
func TestAdminFromBrowsers(t *testing.T) {
	refreshed := 0
	o := proxytest.Options(t)
	o.Admin.Hosts = []string{"vitrine.internal"}
	o.Admin.Refresh = func(context.Context, admin.Refresh) (admin.RefreshResult, error) {
		refreshed++
		return admin.RefreshResult{Done: true}, nil
	}
	open1 := proxytest.Open(t, proxytest.Institute(t), o)
	o.Admin.Token = "operator"
	tokened := proxytest.Open(t, proxytest.Institute(t), o)
	tests := []struct {
		name, host string
		headers    []string
		ok         bool
	}{
		{"by address", "127.0.0.1:8081", nil, true},
		{"by IPv6 address", "[::1]:8081", nil, true},
		{"as localhost", "LOCALHOST:8081", nil, true},
		{"by the operator's name", "Vitrine.internal:8081", nil, true},
		{"by another name", "evil.example:8081", nil, false},
		{"by a name with a good prefix", "127.0.0.1.evil.example", nil, false},
		{"by a name with a good suffix", "evil.localhost", nil, false},
		{"from the address bar", "localhost", []string{"Sec-Fetch-Site", "none"}, true},
		{"from its own page", "localhost", []string{"Sec-Fetch-Site", "same-origin", "Origin", "http://localhost"},
			true},
		{"from another site", "localhost", []string{"Sec-Fetch-Site", "cross-site"}, false},
		{"from another port", "localhost:8081", []string{"Sec-Fetch-Site", "same-site"}, false},
		{"from an origin", "localhost:8081", []string{"Origin", "https://evil.example"}, false},
		{"from no origin", "localhost:8081", []string{"Origin", "null"}, false},
		{"from a page after DNS rebinding", "evil.example",
			[]string{"Sec-Fetch-Site", "same-origin", "Origin", "http://evil.example"}, false},
	}
	for _, tt := range tests {
		for _, method := range []string{http.MethodPost, http.MethodGet} {
			t.Run(method+" "+tt.name, func(t *testing.T) {
				target := map[string]string{http.MethodPost: "/admin/refresh", http.MethodGet: "/metrics"}[method]
				before := refreshed
				res := open1.AdminAs(tt.host, method, target, tt.headers...)
				if ok := res.StatusCode/100 == 2; ok != tt.ok {
					t.Errorf("status %d, want it accepted: %v", res.StatusCode, tt.ok)
				}
				if done := refreshed > before; method == http.MethodPost && done != tt.ok {
					t.Errorf("refreshed: %v", done)
				}
				if !tt.ok {
					res.Envelope(t)
				}
				if res := tokened.AdminAs(tt.host, method, target, tt.headers...); res.StatusCode != 403 {
					t.Errorf("without the token: %d", res.StatusCode)
				}
			})
		}
	}
	if res := tokened.AdminAs("prometheus-sees-me-as.example", http.MethodGet, "/metrics", "Authorization",
		"Bearer operator"); res.StatusCode != 200 {
		t.Errorf("with the token and another host name: %d", res.StatusCode)
	}
}

// TestAdminTokenGuessing: clients cannot guess the operator's token by trying many.
func TestAdminTokenGuessing(t *testing.T) {
	o := proxytest.Options(t)
	o.Admin.Token, o.Auth.APIKey = "operator", "Right"
	o.Limits.KeyFailures = 3
	s := proxytest.Open(t, proxytest.Institute(t), o)
	for i := range 5 {
		s.Get(fmt.Sprint("/api/html?apikey=Guess", i))
	}
	if got := s.Get("/api/html?apikey=Right").StatusCode; got != 200 {
		t.Errorf("the right key after five guesses: %d", got)
	}
	if got := s.Admin(http.MethodGet, "/metrics", "Authorization", "Bearer operator").StatusCode; got != 200 {
		t.Errorf("the operator, while a client guesses keys: %d", got)
	}
	for i := range 3 {
		if got := s.Admin(http.MethodGet, "/metrics", "Authorization",
			fmt.Sprint("Bearer guess", i)).StatusCode; got != 403 {
			t.Fatalf("guess %d: %d", i, got)
		}
	}
	if res := s.Admin(http.MethodGet, "/metrics", "Authorization", "Bearer guess4"); res.StatusCode != 429 ||
		res.Header.Get("Retry-After") == "" {
		t.Errorf("a guess after the wait: %d", res.StatusCode)
	}
	if got := s.Admin(http.MethodGet, "/metrics", "Authorization", "Bearer operator").StatusCode; got != 200 {
		t.Errorf("the right token after the wait: %d", got)
	}
}

// TestRecordingsAreShort: a request for a profile of several hours is refused.
func TestRecordingsAreShort(t *testing.T) {
	s := proxytest.Open(t, proxytest.Institute(t), proxytest.Options(t))
	for _, target := range []string{"/debug/pprof/trace?seconds=100000", "/debug/pprof/profile?seconds=1e9",
		"/debug/pprof/heap?seconds=61"} {
		if got := s.Admin(http.MethodGet, target).StatusCode; got != 400 {
			t.Errorf("%s: %d", target, got)
		}
	}
	if got := s.Admin(http.MethodGet, "/debug/pprof/trace?seconds=1").StatusCode; got != 200 {
		t.Errorf("a trace of a second: %d", got)
	}
}

// TestTrailer: fields after a body say nothing about who sent a request. Proxies in front set and delete fields
// before it, and many pass the client's trailer on.
func TestTrailer(t *testing.T) {
	o := proxytest.Options(t)
	loopback := []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
	o.Auth.APIKey = "key-of-the-api"
	o.Auth.Session = auth.SessionOptions{UserHeader: "X-Remote-User", TrustedProxies: loopback}
	o.Auth.Client = auth.ClientOptions{Header: "X-Forwarded-For", TrustedProxies: loopback}
	o.Auth.Keys = []auth.Key{{
		Name: "near", Sums: [][sha256.Size]byte{sha256.Sum256([]byte("key-of-a-network"))},
		Networks: []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24")},
	}}
	o.Limits.Rate = 2 // which each client has
	l := proxytest.ServeLive(t, proxytest.Open(t, proxytest.Institute(t), o))
	const far = "X-Forwarded-For: 198.51.100.9\r\n"
	for _, tt := range []struct{ header, trailer string }{
		{"", "X-Remote-User: bob"},
		{"", "X-API-Key: key-of-the-api"},
		{"X-API-Key: key-of-a-network\r\n" + far, "X-Forwarded-For: 192.0.2.9"},
		{"Trailer: X-Forwarded-For\r\n", "X-Forwarded-For: 192.0.2.9"},
		{"", "X-Forwarded-For: 192.0.2.9"},
	} {
		res, _ := l.Exchange(t, "GET /api/activities?limit=1 HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n"+
			tt.header+"\r\n1\r\na\r\n0\r\n"+tt.trailer+"\r\n\r\n")
		if e := res.Envelope(t); e.Status != 400 && e.Status != 429 {
			t.Errorf("%q after %q: %d %s", tt.trailer, tt.header, e.Status, e.Msg)
		}
	}
	// None of these requests was counted for the client that a trailer named.
	for range 2 {
		res, _ := l.Exchange(t, "GET /api/activities?limit=1 HTTP/1.1\r\nHost: x\r\nX-API-Key: key-of-the-api\r\n"+
			"X-Forwarded-For: 192.0.2.9\r\n\r\n")
		if e := res.Envelope(t); e.Status != 200 {
			t.Errorf("the client that trailers named: %d %s", e.Status, e.Msg)
		}
	}
}
