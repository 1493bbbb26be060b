package auth

import (
	"context"
	"net"
	"net/netip"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/prometheus/client_golang/prometheus"

	"vitrine/proxy/query"
	"vitrine/rules"
	"vitrine/rules/access"
)

// Caller is the sender of a request. The zero Caller is anonymous.
type Caller struct {
	Viewer access.Viewer // whose session it is
	// PrintForm: the person wants citations as they are printed, not as they are linked.
	PrintForm bool
	// HasKey: the apikey parameter was given, whatever it says.
	HasKey bool
	// Personal: something came along that a session is made of, so that no answer
	// to this request may be kept for other callers.
	Personal bool
}

// Anonymous reports whether the caller has no session.
func (c Caller) Anonymous() bool { return c.Viewer.User == "" }

// Options configures an Authenticator. Person, WrongKeys and Now are needed.
type Options struct {
	APIKey       string // needed by every call under /api. If empty, none is
	PortfolioKey string // needed by every call under /portfolio. If empty, none is
	Token        string // the operator's; it is kept out of the log
	Session      SessionOptions
	Client       ClientOptions

	// Person looks the user of a session up; known says whether there is a record.
	Person    func(ctx context.Context, user string) (who Caller, known bool, err error)
	Guesses   *Limiter           // of wrong keys; nil: no limit
	WrongKeys prometheus.Counter // counts them
	Now       func() time.Time
}

// Vary names the request headers that callers are known by; none: all callers are alike.
func (o Options) Vary() (names []string) {
	if o.APIKey != "" || o.PortfolioKey != "" {
		names = append(names, headerKey)
	}
	if len(o.Session.Secret)+len(o.Session.PublicKey) > 0 {
		names = append(names, fiber.HeaderAuthorization)
		if o.Session.Cookie != "" {
			// Where the request came from decides only whether a cookie counts; a request
			// without the cookie is the same wherever it came from.
			names = append(names, fiber.HeaderCookie)
		}
	}
	if o.Session.UserHeader != "" {
		names = append(names, o.Session.UserHeader)
	}
	return names
}

// headerKey carries an API key.
const headerKey = "X-API-Key"

// Authenticator decides which callers are admitted. It is safe for concurrent use.
type Authenticator struct {
	Redactor
	options      Options
	key          Secret // of /api
	portfolioKey Secret // of /portfolio
	sessions     *sessions
}

// New returns an Authenticator. Errors name the option at fault.
func New(o Options) (*Authenticator, error) {
	sessions, err := newSessions(o.Session, o.Now)
	if err != nil {
		return nil, err
	}
	a := &Authenticator{options: o, key: NewSecret(o.APIKey), portfolioKey: NewSecret(o.PortfolioKey), sessions: sessions}
	a.Redactor = Redactor{a.key, a.portfolioKey, NewSecret(o.Token)}
	return a, nil
}

// KeyOf returns the key that callers of a path need (API.md: Authentication, 7).
func (a *Authenticator) KeyOf(path string) Secret {
	if strings.HasPrefix(path, "/portfolio/") {
		return a.portfolioKey
	}
	return a.key
}

// Client is the client that a request comes from.
func (a *Authenticator) Client(c *fiber.Ctx) netip.Prefix { return clientOf(a.Addr(c)) }

// Peer is the client at the other end of a connection; none where that is a proxy,
// whose connections carry many clients.
func (a *Authenticator) Peer(peer net.Addr) netip.Prefix {
	addr := peerAddr(peer)
	if within(a.options.Client.TrustedProxies, addr) || within(a.options.Session.TrustedProxies, addr) {
		return netip.Prefix{}
	}
	return clientOf(addr)
}

// Admit establishes the caller of a request, or fails with rules.ErrPermission (API.md:
// Authentication; DESIGN.md: 10, 19). A right header passes beside a wrong parameter. A
// session passes without a key, but not with a wrong one: giving apikey also lifts the
// session's visibility restrictions on all-activities, so it has to be right.
func (a *Authenticator) Admit(c *fiber.Ctx, key Secret) (Caller, error) {
	caller, err := a.recognise(c)
	if err != nil || !key.Set() && caller.Anonymous() {
		return caller, err
	}
	header, param := c.Get(headerKey), ""
	for name, value := range c.Context().QueryArgs().All() {
		switch rest, found := strings.CutPrefix(string(name), query.KeyParam); {
		case found && rest == "":
			caller.HasKey, param = true, string(value)
		case found && rest[0] == '[':
			caller.HasKey = true
		}
	}
	switch {
	case !key.Set(), header != "" && key.Is(header):
		return caller, nil
	case caller.HasKey && key.Is(param), !caller.HasKey && !caller.Anonymous():
		return caller, nil
	case caller.HasKey, header != "":
		if err := a.CountWrongKey(a.options.Guesses, c); err != nil {
			return Caller{}, err
		}
	}
	return Caller{}, rules.ErrPermission
}

// recognise finds the session of a request. A user without a record in persons, such as
// one that has left, has none, unless the options say otherwise.
func (a *Authenticator) recognise(c *fiber.Ctx) (Caller, error) {
	user, brought, err := a.sessions.of(c)
	if err != nil || user == "" {
		return Caller{Personal: brought}, err
	}
	who, known, err := a.options.Person(c.UserContext(), user)
	if err != nil {
		return Caller{}, err
	}
	if !known && !a.options.Session.UnknownUsers {
		who = Caller{}
	}
	who.Personal = brought
	return who, nil
}

// NewGuesses returns the Limiter of so many wrong keys a minute and client, or nil without
// a limit.
func NewGuesses(failures int) *Limiter { return NewLimiter(failures, failures, time.Minute) }

// CountWrongKey counts a wrong key in a Limiter of them. A client that has sent too many
// has to wait and to connect anew for each, so that guessing is slow. A right key is
// never looked up here: others behind the same address may have guessed.
func (a *Authenticator) CountWrongKey(guesses *Limiter, c *fiber.Ctx) error {
	a.options.WrongKeys.Inc()
	if guesses == nil {
		return nil
	}
	l := guesses.Take(a.Client(c), a.options.Now())
	if l.Wait == 0 {
		return nil
	}
	c.Context().SetConnectionClose()
	return l.Refusal("Too many wrong keys. Retry-After says when the next may come.")
}
