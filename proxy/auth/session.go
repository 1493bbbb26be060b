package auth

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/gofiber/fiber/v2"
	"github.com/golang-jwt/jwt/v5"

	"vitrine/configs"
	"vitrine/rules"
)

// SessionOptions configures how to recognise sessions. With the zero value there are no sessions.
type SessionOptions struct {
	// Secret verifies tokens signed with HS256. If empty, such tokens are refused.
	Secret []byte
	// PublicKey is an Ed25519 key in PEM that verifies tokens signed with EdDSA. If empty, such tokens are refused.
	PublicKey []byte
	// Endless accepts tokens that do not expire. A leaked one is valid for ever.
	Endless bool
	// Issuer, Audience and Type are the required iss, aud and typ of tokens; empty means any.
	Issuer, Audience, Type string
	// UnknownUsers lets users without a record in persons have a session, without roles.
	UnknownUsers bool
	// Cookie is the name of the cookie that carries a token; if empty, only bearer tokens count.
	Cookie string
	// UserHeader carries the username from a proxy in TrustedProxies. If empty, no header does.
	UserHeader     string
	TrustedProxies []netip.Prefix
}

// sessions recognises sessions (docs/decisions.md: Keys and sessions).
type sessions struct {
	SessionOptions
	parser *jwt.Parser
	// signatures reads tokens whatever they claim.
	signatures *jwt.Parser
	keys       map[string]any // keys by algorithm; if empty, tokens are ignored
}

// newSessions reads the keys. Each verifies only its own algorithm: a token cannot choose how it is verified.
func newSessions(o SessionOptions, now func() time.Time) (*sessions, error) {
	s := &sessions{SessionOptions: o, keys: map[string]any{}}
	if o.UserHeader != "" && len(o.TrustedProxies) == 0 {
		return nil, configs.Wrong("auth.session.user_header", "needs trusted_proxies: any client could set it")
	}
	if len(o.Secret) > 0 {
		s.keys[jwt.SigningMethodHS256.Alg()] = bytes.Clone(o.Secret)
	}
	if len(o.PublicKey) > 0 {
		key, err := jwt.ParseEdPublicKeyFromPEM(o.PublicKey)
		if err != nil {
			return nil, configs.Wrong("auth.session.public_key", "want an Ed25519 key in PEM: %v", err)
		}
		s.keys[jwt.SigningMethodEdDSA.Alg()] = key
	}
	// An empty issuer is not required; an empty audience would be.
	rules := []jwt.ParserOption{jwt.WithValidMethods(slices.Collect(maps.Keys(s.keys))), jwt.WithTimeFunc(now),
		jwt.WithIssuer(o.Issuer)}
	if !o.Endless {
		rules = append(rules, jwt.WithExpirationRequired())
	}
	if o.Audience != "" {
		rules = append(rules, jwt.WithAudience(o.Audience))
	}
	s.parser = jwt.NewParser(rules...)
	s.signatures = jwt.NewParser(jwt.WithValidMethods(slices.Collect(maps.Keys(s.keys))),
		jwt.WithoutClaimsValidation())
	return s, nil
}

// MintToken signs a session token for a user. It is valid from now for the duration good, or for ever if that is 0.
// It has the issuer, audience and type that the options require. The secret is the HS256 secret, or an Ed25519
// private key in PEM for EdDSA.
func MintToken(user string, secret []byte, o SessionOptions, now time.Time, good time.Duration) (string, error) {
	switch {
	case len(secret) == 0:
		return "", rules.Wrongf("secret", "", "is needed to sign a token")
	case validUser(user) == "":
		return "", rules.Wrongf("user", "", "want a username of up to %d bytes", maxUser)
	}
	claims := jwt.RegisteredClaims{Subject: user, Issuer: o.Issuer, IssuedAt: jwt.NewNumericDate(now)}
	if o.Audience != "" {
		claims.Audience = jwt.ClaimStrings{o.Audience}
	}
	if good > 0 {
		claims.ExpiresAt = jwt.NewNumericDate(now.Add(good))
	}
	method, key := jwt.SigningMethod(jwt.SigningMethodHS256), any(secret)
	if bytes.HasPrefix(bytes.TrimSpace(secret), []byte("-----BEGIN")) {
		private, err := jwt.ParseEdPrivateKeyFromPEM(secret)
		if err != nil {
			return "", rules.Wrongf("secret", "", "is PEM, but no Ed25519 private key")
		}
		method, key = jwt.SigningMethodEdDSA, private
	}
	token := jwt.NewWithClaims(method, claims)
	if o.Type != "" {
		token.Header["typ"] = o.Type // the default is JWT
	}
	return token.SignedString(key)
}

// maxUser is the length of the longest username, in bytes.
const maxUser = 128

// validUser returns a username, or "" if it is too long or has control characters.
func validUser(user string) string {
	if len(user) > maxUser || !utf8.ValidString(user) ||
		strings.ContainsFunc(user, func(r rune) bool { return r < ' ' }) {
		return ""
	}
	return user
}

// of returns the user of a request's session, or "". brought reports whether the request carries a token, cookie or
// user header, valid or not: the answer is then only for its sender. A repeated user header, perhaps one from the
// client and one from the proxy, is rules.ErrWrongCall. The header counts only from a trusted peer, not from a
// forwarded address, which any client can claim.
func (s *sessions) of(c *fiber.Ctx) (user string, brought bool, err error) {
	if h := s.UserHeader; h != "" {
		if len(c.Request().Header.PeekAll(h)) > 1 {
			c.Context().SetConnectionClose()
			return "", false, &rules.Error{Kind: rules.ErrWrongCall, Reason: "The request has " + h + " twice."}
		}
		if user := c.Get(h); user != "" && within(s.TrustedProxies, peerAddr(c.Context().RemoteAddr())) {
			return validUser(strings.Clone(user)), true, nil
		}
	}
	if len(s.keys) == 0 {
		return "", false, nil
	}
	if scheme, token, _ := strings.Cut(c.Get(fiber.HeaderAuthorization), " "); strings.EqualFold(scheme, "Bearer") {
		return s.verify(token), true, nil
	}
	if s.Cookie == "" {
		return "", false, nil
	}
	token := c.Cookies(s.Cookie)
	if token == "" {
		return "", false, nil
	}
	if !sameSite(c) && !allowedOrigin(c) {
		return "", true, nil
	}
	return s.verify(token), true, nil
}

// verify returns the user of a token, or "" if the token is not valid.
func (s *sessions) verify(token string) string {
	var good claims
	// The token is in Fiber's buffer; decoding copies the claims.
	_, err := s.parser.ParseWithClaims(token, &good, func(t *jwt.Token) (any, error) {
		if _, ok := t.Header["crit"]; ok {
			return nil, errors.New("unknown extensions") // RFC 7515: 4.1.11
		}
		if kind, _ := t.Header["typ"].(string); s.Type != "" &&
			!strings.EqualFold(strings.TrimPrefix(kind, "application/"), s.Type) {
			return nil, errors.New("wrong type of token")
		}
		return s.keys[t.Method.Alg()], nil // the parser accepts only algorithms with a key
	})
	if err != nil {
		return ""
	}
	return validUser(good.Subject)
}

// signed reports whether a text is a token that one of the keys verifies, valid or not.
func (s *sessions) signed(token string) bool {
	if len(s.keys) == 0 || strings.Count(token, ".") != 2 {
		return false
	}
	_, err := s.signatures.Parse(token, func(t *jwt.Token) (any, error) { return s.keys[t.Method.Alg()], nil })
	return err == nil
}

// tokenMark begins each token: it is how the JSON of its header begins in base64.
const tokenMark = "eyJ"

// signedWithin reports whether a text contains such a token. It takes time in proportion to the text, however many
// marks there are, because it looks at what follows a mark once.
func (s *sessions) signedWithin(text string) bool {
	for len(s.keys) > 0 {
		n := strings.Index(text, tokenMark)
		if n < 0 {
			return false
		}
		text = text[n:]
		end := strings.IndexFunc(text, func(r rune) bool { return !inToken(r) })
		if end < 0 {
			end = len(text)
		}
		if s.signed(text[:end]) {
			return true
		}
		text = text[end:]
	}
	return false
}

// inToken reports whether a token may have a character: those of base64 for URLs, and dots.
func inToken(r rune) bool {
	return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || r == '-' || r == '_' || r == '.'
}

// claims are the claims of a token. They are decoded so strictly that all readers agree about them.
type claims struct{ jwt.RegisteredClaims }

// claimNames are the claims whose names the decoder accepts in any case.
var claimNames = []string{"iss", "sub", "aud", "exp", "nbf", "iat", "jti"}

// numericDate matches a time in seconds that a floating-point number can hold without loss.
var numericDate = regexp.MustCompile(`^(0|[1-9][0-9]{0,14})(\.[0-9]+)?$`)

// UnmarshalJSON refuses a registered claim in other case or given twice, and a time that is not a plain number.
func (c *claims) UnmarshalJSON(text []byte) error {
	d := json.NewDecoder(bytes.NewReader(text))
	if opening, err := d.Token(); err != nil || opening != json.Delim('{') {
		return errors.New("claims are not an object")
	}
	seen := map[string]bool{}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return err
		}
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return err
		}
		name, _ := key.(string)
		at := slices.IndexFunc(claimNames, func(r string) bool { return strings.EqualFold(r, name) })
		if at < 0 {
			continue
		}
		if claimNames[at] != name || seen[name] {
			return fmt.Errorf("claim %s in other capitals or twice", claimNames[at])
		}
		seen[name] = true
		if (name == "exp" || name == "nbf" || name == "iat") && !numericDate.Match(value) {
			return fmt.Errorf("claim %s is not a time", name)
		}
	}
	return json.Unmarshal(text, &c.RegisteredClaims)
}

// sameSite reports whether our own pages sent the request. Browsers send cookies with requests of any page.
func sameSite(c *fiber.Ctx) bool {
	if site := c.Get("Sec-Fetch-Site"); site != "" {
		return site == "same-origin" || site == "same-site"
	}
	from, err := url.Parse(c.Get(fiber.HeaderReferer))
	return err == nil && from.Host != "" && strings.EqualFold(from.Host, string(c.Context().Host()))
}

// allowedOrigin reports whether the CORS middleware lets the requesting page send cookies.
func allowedOrigin(c *fiber.Ctx) bool {
	return c.Get(fiber.HeaderOrigin) != "" && c.GetRespHeader(fiber.HeaderAccessControlAllowOrigin) != "" &&
		c.GetRespHeader(fiber.HeaderAccessControlAllowCredentials) == "true"
}
