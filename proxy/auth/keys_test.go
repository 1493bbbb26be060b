package auth_test

import (
	"crypto/ed25519"
	"crypto/x509"
	"encoding/pem"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"

	"vitrine/proxy/proxytest"

	"github.com/golang-jwt/jwt/v5"

	"vitrine/proxy/auth"
)

func TestKeys(t *testing.T) {
	secret := []byte("session secret")
	o := proxytest.Options(t)
	o.Auth.APIKey = "Right"
	o.Auth.Session = auth.SessionOptions{Secret: secret, Cookie: "vitrine_session"}
	keyed := proxytest.Open(t, proxytest.Institute(t), o)
	free := proxytest.Open(t, proxytest.Institute(t), proxytest.Options(t))
	bearer := "Bearer " + proxytest.Token(t, "ada", secret)
	tests := []struct {
		name    string
		site    *proxytest.Site
		query   string
		headers []string
		want    int
	}{
		{"no key", keyed, "", nil, 403},
		{"right parameter", keyed, "apikey=Right", nil, 200},
		{"wrong parameter", keyed, "apikey=Wrong", nil, 403},
		{"keys are case-sensitive", keyed, "apikey=right", nil, 403},
		{"a prefix of the key is not the key", keyed, "apikey=Righ", nil, 403},
		{"empty parameter", keyed, "apikey=", nil, 403},
		{"parameter as a list", keyed, "apikey[]=Right", nil, 403},
		{"parameters are case-sensitive", keyed, "APIKEY=Right", nil, 403},
		{"right header", keyed, "", []string{"X-API-Key", "Right"}, 200},
		{"wrong header", keyed, "", []string{"X-API-Key", "Wrong"}, 403},
		{"empty header", keyed, "", []string{"X-API-Key", ""}, 403},
		{"right header and a wrong parameter", keyed, "apikey=Wrong", []string{"X-API-Key", "Right"}, 200},
		{"right parameter and a wrong header", keyed, "apikey=Right", []string{"X-API-Key", "Wrong"}, 200},
		{"session instead of a key", keyed, "", []string{"Authorization", bearer}, 200},
		{"session and a wrong key", keyed, "apikey=Wrong", []string{"Authorization", bearer}, 403},
		{"session and a right key", keyed, "apikey=Right", []string{"Authorization", bearer}, 200},
		{"a broken token", keyed, "", []string{"Authorization", bearer + "x"}, 403},
		{"the key is not a bearer token", keyed, "", []string{"Authorization", "Bearer Right"}, 403},
		{"no key configured", free, "", nil, 200},
		{"no key configured, some sent", free, "apikey=anything", nil, 200},
	}
	for _, endpoint := range []string{"/api/activities", "/api/html", "/api/all-activities",
		"/api/spectrum-activities?spectrum=Soil"} {
		for _, tt := range tests {
			t.Run(endpoint+" "+tt.name, func(t *testing.T) {
				target := endpoint + "?" + tt.query
				if strings.Contains(endpoint, "?") {
					target = endpoint + "&" + tt.query
				}
				res := tt.site.Get(target, tt.headers...)
				e := res.Envelope(t)
				if res.StatusCode != tt.want {
					t.Fatalf("status = %d, want %d: %s", res.StatusCode, tt.want, res.Body)
				}
				if tt.want == 403 && (e.Error != "PermissionDenied" ||
					!strings.Contains(e.Msg, "valid API key is needed for this request")) {
					t.Errorf("error %q, msg %q", e.Error, e.Msg)
				}
			})
		}
	}
}

// TestSessions checks whether my-activities identifies the session's user.
func TestSessions(t *testing.T) {
	secret := []byte("session secret")
	public, private := edKeys(t)
	o := proxytest.Options(t)
	o.Auth.Session = auth.SessionOptions{Secret: secret, PublicKey: public, Cookie: "vitrine_session"}
	s := proxytest.Open(t, proxytest.Institute(t), o)
	good := proxytest.Token(t, "bob", secret)
	claims := jwt.RegisteredClaims{Subject: "bob", ExpiresAt: jwt.NewNumericDate(proxytest.Published.Add(time.Hour))}
	sign := func(method jwt.SigningMethod, key any, c jwt.RegisteredClaims) string {
		text, err := jwt.NewWithClaims(method, c).SignedString(key)
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	expired := sign(jwt.SigningMethodHS256, secret,
		jwt.RegisteredClaims{Subject: "bob", ExpiresAt: jwt.NewNumericDate(proxytest.Published.Add(-time.Second))})
	early := sign(jwt.SigningMethodHS256, secret,
		jwt.RegisteredClaims{Subject: "bob", NotBefore: jwt.NewNumericDate(proxytest.Published.Add(time.Hour)),
			ExpiresAt: jwt.NewNumericDate(proxytest.Published.Add(2 * time.Hour))})
	noUser := sign(jwt.SigningMethodHS256, secret, jwt.RegisteredClaims{ExpiresAt: claims.ExpiresAt})
	cookie := "other=1; vitrine_session=" + good
	tests := []struct {
		name    string
		headers []string
		known   bool
	}{
		{"nothing", nil, false},
		{"bearer", []string{"Authorization", "Bearer " + good}, true},
		{"bearer in small letters", []string{"Authorization", "bearer " + good}, true},
		{"basic", []string{"Authorization", "Basic " + good}, false},
		{"EdDSA", []string{"Authorization", "Bearer " + proxytest.Token(t, "bob", private)}, true},
		{"without end", []string{"Authorization",
			"Bearer " + sign(jwt.SigningMethodHS256, secret, jwt.RegisteredClaims{Subject: "bob"})}, false},
		{"expired", []string{"Authorization", "Bearer " + expired}, false},
		{"not yet", []string{"Authorization", "Bearer " + early}, false},
		{"no user", []string{"Authorization", "Bearer " + noUser}, false},
		{"another secret", []string{"Authorization", "Bearer " + proxytest.Token(t, "bob", []byte("guess"))}, false},
		{"another algorithm", []string{"Authorization", "Bearer " + sign(jwt.SigningMethodHS512, secret, claims)},
			false},
		{"no algorithm", []string{"Authorization",
			"Bearer " + sign(jwt.SigningMethodNone, jwt.UnsafeAllowNoneSignatureType, claims)}, false},
		{"the public key as an HS256 secret",
			[]string{"Authorization", "Bearer " + sign(jwt.SigningMethodHS256, public, claims)}, false},
		{"rubbish", []string{"Authorization", "Bearer a.b.c"}, false},
		{"cookie, same origin", []string{"Cookie", cookie, "Sec-Fetch-Site", "same-origin"}, true},
		{"cookie, same site", []string{"Cookie", cookie, "Sec-Fetch-Site", "same-site"}, true},
		{"cookie, another site", []string{"Cookie", cookie, "Sec-Fetch-Site", "cross-site"}, false},
		{"cookie, another site with our referer",
			[]string{"Cookie", cookie, "Sec-Fetch-Site", "cross-site", "Referer", "http://example.com/"}, false},
		{"cookie, from nowhere", []string{"Cookie", cookie, "Sec-Fetch-Site", "none"}, false},
		{"cookie, our referer", []string{"Cookie", cookie, "Referer", "http://example.com/list"}, true},
		{"cookie, another referer", []string{"Cookie", cookie, "Referer", "http://example.com.evil.org/"}, false},
		{"cookie alone", []string{"Cookie", cookie}, false},
		{"a user header that is not configured", []string{"X-Remote-User", "bob"}, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			e := s.Get("/api/all-activities?page=my-activities", tt.headers...).Envelope(t)
			if known := *e.Count == 4; known != tt.known {
				t.Errorf("count = %d, known should be %v", *e.Count, tt.known)
			}
		})
	}
}

func edKeys(t *testing.T) (public, private []byte) {
	t.Helper()
	pub, priv, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	pubDER, err := x509.MarshalPKIXPublicKey(pub)
	if err != nil {
		t.Fatal(err)
	}
	privDER, err := x509.MarshalPKCS8PrivateKey(priv)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: pubDER}),
		pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: privDER})
}

// TestUserHeader: the peer's address decides, not a forwarded one. In these tests the peer is
// 0.0.0.0.
func TestUserHeader(t *testing.T) {
	for _, tt := range []struct {
		name, proxies string
		known         bool
	}{
		{"trusted", "0.0.0.0/32", true},
		{"not trusted", "10.0.0.0/8", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			o := proxytest.Options(t)
			o.Auth.Session = auth.SessionOptions{UserHeader: "X-Remote-User",
				TrustedProxies: []netip.Prefix{netip.MustParsePrefix(tt.proxies)}}
			s := proxytest.Open(t, proxytest.Institute(t), o)
			req := httptest.NewRequest("GET", "/api/all-activities?page=my-activities", nil)
			req.Header.Set("X-Remote-User", "bob")
			req.Header.Set("X-Forwarded-For", "10.1.2.3")
			if known := *s.Send(req).Envelope(t).Count == 4; known != tt.known {
				t.Errorf("known = %v, want %v", known, tt.known)
			}
		})
	}
}

// TestVisibility: only admins see reviews; bob is an admin, ada is not.
func TestVisibility(t *testing.T) {
	secret := []byte("session secret")
	o := proxytest.Options(t)
	o.Auth.Session = auth.SessionOptions{Secret: secret, UnknownUsers: true}
	s := proxytest.Open(t, proxytest.Institute(t), o)
	const all, withoutSecret = "7 8 9 2 3 5 1 4 a named-record c f 6 42 b", "7 8 2 3 5 1 4 a named-record c f 6 42 b"
	tests := []struct{ name, user, query, ids string }{
		{"without a session all", "", "", all},
		{"a person sees what the roles let through, and their own", "ada", "", withoutSecret},
		{"an admin sees all", "bob", "", all},
		{"one role as a text", "cyd", "", all},
		{"a person without a record has no roles", "zoe", "", "7 8 2 3 5 1 4 named-record c f 6 42 b"},
		{"an apikey parameter lifts it", "ada", "apikey=x", all},
		{"a filter cannot undo it", "ada", "filter[type]=review", "a"},
		{"another user's own are restricted too", "ada", "page=my-activities&user=bob", "8 2 3"},
		{"one's own are not restricted", "bob", "page=my-activities", "8 9 2 3"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var headers []string
			if tt.user != "" {
				headers = []string{"Authorization", "Bearer " + proxytest.Token(t, tt.user, secret)}
			}
			// Twice: the second answer may come from memory.
			for range 2 {
				res := s.Get("/api/all-activities?"+tt.query, headers...)
				if got := res.Envelope(t).IDs(t); got != tt.ids {
					t.Errorf("ids = %s\nwant  %s", got, tt.ids)
				}
				private := strings.HasPrefix(res.Header.Get("Cache-Control"), "private")
				if private != (tt.user != "") {
					t.Errorf("Cache-Control = %q for user %q", res.Header.Get("Cache-Control"), tt.user)
				}
			}
		})
	}
}

// TestDisplayForm: ada has chosen the print form, bob the web form.
func TestDisplayForm(t *testing.T) {
	secret := []byte("session secret")
	o := proxytest.Options(t)
	o.Auth.Session = auth.SessionOptions{Secret: secret}
	s := proxytest.Open(t, proxytest.Institute(t), o)
	tests := []struct{ name, user, query, activity string }{
		{"no session", "", "", "<a href='/activities/view/64a000000000000000000002'>Soil</a>"},
		{"web", "bob", "", "<a href='/activities/view/64a000000000000000000002'>Soil</a>"},
		{"print", "ada", "", "Ahn, A. (2022) Soil."},
		{"print with links elsewhere", "ada", "&page=portal", "Ahn, A. (2022) Soil."},
		{"web with links elsewhere", "bob", "&path=/site/",
			"<a href='/site/activity/64a000000000000000000002'>Soil</a>"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var headers []string
			if tt.user != "" {
				headers = []string{"Authorization", "Bearer " + proxytest.Token(t, tt.user, secret)}
			}
			rows := s.Get("/api/all-activities?filter[_id]=64a000000000000000000002"+tt.query,
				headers...).Envelope(t).Rows(t)
			if len(rows) != 1 || rows[0]["activity"] != tt.activity ||
				rows[0]["search-text"] != "Ahn, A. (2022) Soil." {
				t.Errorf("rows = %v, want activity %s", rows, tt.activity)
			}
		})
	}
}
