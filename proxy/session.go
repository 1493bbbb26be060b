package proxy

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/gofiber/fiber/v2"
	"github.com/golang-jwt/jwt/v5"

	"vitrine/rules"
)

// session is an authenticated person's request; the zero session is nobody's.
type session struct{ user string }

// sessions recognises sessions (DESIGN.md: 10).
type sessions struct {
	options SessionOptions
	parser  *jwt.Parser
	keys    map[string]any // by algorithm; empty: tokens are not looked at
}

// newSessions reads the keys. Each kind of key verifies its own algorithm and no
// other: a token cannot choose how it is verified.
func newSessions(o SessionOptions, now func() time.Time) (*sessions, error) {
	s := &sessions{options: o, keys: map[string]any{}}
	s.options.TrustedProxies = slices.Clone(o.TrustedProxies)
	if o.UserHeader != "" && len(o.TrustedProxies) == 0 {
		return nil, fmt.Errorf("proxy: user header %s without trusted proxies: anybody could set it", o.UserHeader)
	}
	if len(o.Secret) > 0 {
		s.keys[jwt.SigningMethodHS256.Alg()] = bytes.Clone(o.Secret)
	}
	if len(o.PublicKey) > 0 {
		key, err := jwt.ParseEdPublicKeyFromPEM(o.PublicKey)
		if err != nil {
			return nil, fmt.Errorf("proxy: session public key: want an Ed25519 key in PEM: %w", err)
		}
		s.keys[jwt.SigningMethodEdDSA.Alg()] = key
	}
	rules := []jwt.ParserOption{jwt.WithValidMethods(slices.Collect(maps.Keys(s.keys))), jwt.WithTimeFunc(now)}
	if !o.Endless {
		rules = append(rules, jwt.WithExpirationRequired())
	}
	s.parser = jwt.NewParser(rules...)
	return s, nil
}

// MintToken signs a session token for a user, good from now for the given time;
// for 0, without end. The secret is that of HS256, or an Ed25519 private key in
// PEM for EdDSA.
func MintToken(user string, secret []byte, now time.Time, good time.Duration) (string, error) {
	switch {
	case len(secret) == 0:
		return "", rules.Wrongf("secret", "", "is needed to sign a token")
	case !validUser(user):
		return "", rules.Wrongf("user", "", "want a username of up to %d bytes", maxUser)
	}
	claims := jwt.RegisteredClaims{Subject: user, IssuedAt: jwt.NewNumericDate(now)}
	if good > 0 {
		claims.ExpiresAt = jwt.NewNumericDate(now.Add(good))
	}
	if !bytes.HasPrefix(bytes.TrimSpace(secret), []byte("-----BEGIN")) {
		return jwt.NewWithClaims(jwt.SigningMethodHS256, claims).SignedString(secret)
	}
	private, err := jwt.ParseEdPrivateKeyFromPEM(secret)
	if err != nil {
		return "", rules.Wrongf("secret", "", "is PEM, but no Ed25519 private key")
	}
	return jwt.NewWithClaims(jwt.SigningMethodEdDSA, claims).SignedString(private)
}

const maxUser = 128

func validUser(user string) bool {
	return user != "" && len(user) <= maxUser && utf8.ValidString(user) && !strings.ContainsFunc(user, func(r rune) bool { return r < ' ' })
}

// of returns a request's session. brought says that the request carries
// something a session could come from, counted or not: such an answer is the
// requester's alone.
func (s *sessions) of(c *fiber.Ctx) (found session, brought bool) {
	if h := s.options.UserHeader; h != "" {
		if user := c.Get(h); user != "" && s.trusted(c.Context().RemoteAddr()) {
			return sessionOf(strings.Clone(user)), true
		}
	}
	if len(s.keys) == 0 {
		return session{}, false
	}
	if scheme, token, _ := strings.Cut(c.Get(fiber.HeaderAuthorization), " "); strings.EqualFold(scheme, "Bearer") {
		return s.verify(token), true
	}
	if s.options.Cookie == "" {
		return session{}, false
	}
	token := c.Cookies(s.options.Cookie)
	if token == "" {
		return session{}, false
	}
	if !sameSite(c) {
		return session{}, true
	}
	return s.verify(token), true
}

func sessionOf(user string) session {
	if !validUser(user) {
		return session{}
	}
	return session{user}
}

// verify returns the session of a token; nobody's for one that is not good.
func (s *sessions) verify(token string) session {
	var claims jwt.RegisteredClaims
	// The token lies in Fiber's buffer; the claims are decoded out of it.
	_, err := s.parser.ParseWithClaims(token, &claims, func(t *jwt.Token) (any, error) {
		if _, ok := t.Header["crit"]; ok {
			return nil, errors.New("a token with extensions") // none is understood here (RFC 7515: 4.1.11)
		}
		return s.keys[t.Method.Alg()], nil // the parser has let through only algorithms with a key
	})
	if err != nil {
		return session{}
	}
	return sessionOf(claims.Subject)
}

// trusted looks at the peer itself: a forwarded address is anybody's word.
func (s *sessions) trusted(peer net.Addr) bool {
	return within(s.options.TrustedProxies, addrOf(peer))
}

// sameSite reports whether a browser sent the request from the institute's own
// pages: a cookie comes along whoever made the browser ask.
func sameSite(c *fiber.Ctx) bool {
	if site := c.Get("Sec-Fetch-Site"); site != "" {
		return site == "same-origin" || site == "same-site"
	}
	from, err := url.Parse(c.Get(fiber.HeaderReferer))
	return err == nil && from.Host != "" && strings.EqualFold(from.Host, string(c.Context().Host()))
}
