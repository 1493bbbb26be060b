package auth_test

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"testing"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/valyala/fasthttp"

	"vitrine/proxy/auth"
	"vitrine/rules"
)

// request returns the context of a request from an address; headers are name, value pairs.
func request(t *testing.T, from, target string, headers ...string) *fiber.Ctx {
	t.Helper()
	var ctx fasthttp.RequestCtx
	var req fasthttp.Request
	req.SetRequestURI(target)
	for i := 0; i < len(headers); i += 2 {
		req.Header.Add(headers[i], headers[i+1])
	}
	ctx.Init(&req, net.TCPAddrFromAddrPort(netip.AddrPortFrom(netip.MustParseAddr(from), 4711)), nil)
	app := fiber.New()
	c := app.AcquireCtx(&ctx)
	t.Cleanup(func() { app.ReleaseCtx(c) })
	return c
}

// authenticator returns an Authenticator whose only known user is ada.
func authenticator(t *testing.T, o auth.Options, s auth.Shared) *auth.Authenticator {
	t.Helper()
	s.Person = func(_ context.Context, user string) (who auth.Caller, known bool, err error) {
		who.Viewer.User = user
		return who, user == "ada", nil
	}
	s.Deadline = func(*fiber.Ctx) time.Time { return time.Now().Add(time.Minute) }
	s.WrongKeys = prometheus.NewCounter(prometheus.CounterOpts{Name: "wrong"})
	if s.Now == nil {
		s.Now = time.Now
	}
	a, err := auth.New(o, s, nil)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// TestClient: behind trusted proxies the client is the last address that is not one of theirs.
func TestClient(t *testing.T) {
	a := authenticator(t, auth.Options{Client: auth.ClientOptions{
		Header: "X-Forwarded-For", TrustedProxies: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")},
	}}, auth.Shared{})
	tests := []struct {
		name, from string
		headers    []string
		want       string
	}{
		{"a client", "192.0.2.1", nil, "192.0.2.1"},
		{"a client's own word", "192.0.2.1", []string{"X-Forwarded-For", "198.51.100.7"}, "192.0.2.1"},
		{"a proxy", "10.0.0.1", []string{"X-Forwarded-For", "198.51.100.7"}, "198.51.100.7"},
		{"a proxy with an IPv4-mapped address", "::ffff:10.0.0.1", []string{"X-Forwarded-For", "198.51.100.7"},
			"198.51.100.7"},
		{"a proxy without the header", "10.0.0.1", nil, "10.0.0.1"},
		{"a chain of proxies", "10.0.0.1", []string{"X-Forwarded-For", "1.1.1.1, 198.51.100.7, 10.0.0.3 ,10.0.0.2"},
			"198.51.100.7"},
		{"proxies alone", "10.0.0.1", []string{"X-Forwarded-For", "10.0.0.3,10.0.0.2"}, "10.0.0.3"},
		{"two lines", "10.0.0.1", []string{"X-Forwarded-For", "1.1.1.1", "X-Forwarded-For", "198.51.100.7"},
			"198.51.100.7"},
		{"with a port", "10.0.0.1", []string{"X-Forwarded-For", "198.51.100.7:80"}, "198.51.100.7"},
		{"IPv6 with a port", "10.0.0.1", []string{"X-Forwarded-For", "[2001:db8::1]:80"}, "2001:db8::1"},
		{"IPv6 in brackets", "10.0.0.1", []string{"X-Forwarded-For", "[2001:db8::1%eth0]"}, "2001:db8::1"},
		{"no address", "10.0.0.1", []string{"X-Forwarded-For", "198.51.100.7, unknown, 10.0.0.2"}, "10.0.0.2"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := a.Addr(request(t, tt.from, "/", tt.headers...)).String(); got != tt.want {
				t.Errorf("%s, want %s", got, tt.want)
			}
		})
	}
	for from, want := range map[string]string{"192.0.2.1": "192.0.2.1/32", "2001:db8::1": "2001:db8::/64",
		"10.0.0.1": "invalid Prefix"} {
		peer := net.TCPAddrFromAddrPort(netip.AddrPortFrom(netip.MustParseAddr(from), 1))
		if got := a.Peer(peer).String(); got != want {
			t.Errorf("the client at %s is %s, want %s", from, got, want)
		}
	}
}

// TestAdmit: which key admits which callers.
func TestAdmit(t *testing.T) {
	secret := []byte("session secret")
	o := auth.Options{APIKey: "Right", PortfolioKey: "Other", Session: auth.SessionOptions{Secret: secret}}
	s := auth.Shared{Guesses: auth.NewGuesses(1000)}
	a, open := authenticator(t, o, s), authenticator(t, auth.Options{Session: o.Session}, s)
	bearer := func(user string) []string {
		token, err := auth.MintToken(user, secret, o.Session, time.Now(), time.Hour)
		if err != nil {
			t.Fatal(err)
		}
		return []string{"Authorization", "Bearer " + token}
	}
	tests := []struct {
		name    string
		a       *auth.Authenticator
		target  string
		headers []string
		passes  bool
		want    auth.Caller // without its user
		user    string
	}{
		{name: "no key is needed", a: open, target: "/api/html?apikey=x", passes: true},
		{name: "a session needs no key", a: open, target: "/api/html?apikey=x", headers: bearer("ada"), passes: true,
			want: auth.Caller{HasKey: true, Personal: true}, user: "ada"},
		{name: "no key", a: a, target: "/api/html"},
		{name: "a wrong key", a: a, target: "/api/html?apikey=right"},
		{name: "an empty key", a: a, target: "/api/html?apikey="},
		{name: "the key of the portfolio", a: a, target: "/api/html?apikey=Other"},
		{name: "the key", a: a, target: "/api/html?apikey=Right", passes: true, want: auth.Caller{HasKey: true}},
		{name: "the last of two", a: a, target: "/api/html?apikey=x&apikey=Right", passes: true,
			want: auth.Caller{HasKey: true}},
		{name: "a list", a: a, target: "/api/html?apikey[]=Right"},
		{name: "a header", a: a, target: "/api/html", headers: []string{"X-API-Key", "Right"}, passes: true},
		{name: "a wrong header", a: a, target: "/api/html", headers: []string{"X-API-Key", "x"}},
		{name: "a header and a wrong key", a: a, target: "/api/html?apikey=x",
			headers: []string{"X-API-Key", "Right"}, passes: true, want: auth.Caller{HasKey: true}},
		{name: "a key and a wrong header", a: a, target: "/api/html?apikey=Right",
			headers: []string{"X-API-Key", "x"}, passes: true, want: auth.Caller{HasKey: true}},
		{name: "a session", a: a, target: "/api/html", headers: bearer("ada"), passes: true,
			want: auth.Caller{Personal: true}, user: "ada"},
		{name: "a session with a wrong key", a: a, target: "/api/html?apikey=x", headers: bearer("ada")},
		{name: "a session of an unknown user", a: a, target: "/api/html", headers: bearer("bob")},
		{name: "the portfolio", a: a, target: "/portfolio/spectrum?apikey=Other", passes: true,
			want: auth.Caller{HasKey: true}},
		{name: "the portfolio with the other key", a: a, target: "/portfolio/spectrum?apikey=Right"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := request(t, "192.0.2.1", tt.target, tt.headers...)
			got, err := tt.a.Admit(c, c.Path())
			if tt.passes == errors.Is(err, rules.ErrPermission) || tt.passes != (err == nil) {
				t.Fatalf("error %v", err)
			}
			tt.want.Viewer.User = tt.user
			if tt.passes &&
				(got.HasKey != tt.want.HasKey || got.Personal != tt.want.Personal || got.Viewer.User != tt.user) {
				t.Errorf("%+v, want %+v", got, tt.want)
			}
		})
	}
}

// TestWrongKeysAreFew: after some wrong keys a client has to wait, and to connect again.
func TestWrongKeysAreFew(t *testing.T) {
	now := time.Now()
	a := authenticator(t, auth.Options{APIKey: "Right"},
		auth.Shared{Guesses: auth.NewGuesses(2), Now: func() time.Time { return now }})
	admit := func(from, key string) error {
		c := request(t, from, "/api/html?apikey="+key)
		_, err := a.Admit(c, "/api/html")
		if limit := (*rules.RetryError)(nil); errors.Is(err, auth.ErrLimit) && errors.As(err, &limit) {
			if !c.Context().Response.ConnectionClose() || limit.RetryAfter() != 30*time.Second {
				t.Errorf("the connection goes on, or may try again in %s", limit.RetryAfter())
			}
			return limit
		}
		return err
	}
	for range 2 {
		if err := admit("192.0.2.1", "x"); !errors.Is(err, rules.ErrPermission) {
			t.Fatalf("error %v", err)
		}
	}
	if err := admit("192.0.2.1", "x"); errors.Is(err, rules.ErrPermission) || err == nil {
		t.Errorf("the third wrong key: %v", err)
	}
	if err := admit("192.0.2.1", "Right"); err != nil {
		t.Errorf("the right key of a client that guessed: %v", err)
	}
	if err := admit("192.0.2.2", "x"); !errors.Is(err, rules.ErrPermission) {
		t.Errorf("another client: %v", err)
	}
	now = now.Add(30 * time.Second)
	if err := admit("192.0.2.1", "x"); !errors.Is(err, rules.ErrPermission) {
		t.Errorf("after the wait: %v", err)
	}
}
