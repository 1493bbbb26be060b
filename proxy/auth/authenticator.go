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
	Viewer    access.Viewer // the user of the session
	PrintForm bool          // the user prefers citations in the print form
	HasKey    bool          // the request has the parameter apikey, valid or not
	// Personal: the request carries a token, cookie or user header, valid or not. Its answer must not be kept for
	// other callers.
	Personal bool
}

// Anonymous reports whether the caller has no session.
func (c Caller) Anonymous() bool { return c.Viewer.User == "" }

// Options configures an Authenticator. With the zero value all callers pass, and are anonymous.
type Options struct {
	APIKey       string // key for requests under /api; if empty, they need none
	PortfolioKey string // key for requests under /portfolio; if empty, they need none
	Keys         []Key  // named keys; requests for a path that one of them opens need a key
	Upstream     Upstream
	Session      SessionOptions
	Client       ClientOptions
}

// Shared is what an Authenticator uses of its server. Person, WrongKeys and Now are required.
type Shared struct {
	Token string // the operator's token; the Redactor keeps it out of the log
	// Person looks up the user of a session; known reports whether the user has a record.
	Person func(ctx context.Context, user string) (who Caller, known bool, err error)
	// Deadline returns when the work for a request ends, in which Person looks.
	Deadline func(c *fiber.Ctx) time.Time
	// Own reports whether this server has a route at or below a path. If nil, it has one everywhere.
	Own       func(path string) bool
	Guesses   *Guesses               // limits wrong keys; nil means no limit
	WrongKeys prometheus.Counter     // counts wrong keys
	KeyUses   *prometheus.CounterVec // counts requests by name of a key and outcome; required if there are Keys
	Now       func() time.Time
}

// Vary returns the names of the request headers that identify callers.
func (o Options) Vary() (names []string) {
	if o.APIKey != "" || o.PortfolioKey != "" || len(o.Keys) > 0 {
		names = append(names, headerKey)
	}
	if len(o.Session.Secret)+len(o.Session.PublicKey) > 0 {
		names = append(names, fiber.HeaderAuthorization)
		if o.Session.Cookie != "" {
			// Origin, Referer and Sec-Fetch-Site only decide whether a cookie counts. Without a cookie they do not
			// matter.
			names = append(names, fiber.HeaderCookie)
		}
	}
	if o.Session.UserHeader != "" {
		names = append(names, o.Session.UserHeader)
	}
	return names
}

const headerKey = "X-API-Key"

// Authenticator decides which callers are admitted. It is safe for concurrent use.
type Authenticator struct {
	Redactor
	options      Options
	shared       Shared
	api, folio   area
	named        keyring
	keyed        bool      // there are keys
	upstreamKeys [2]Secret // the keys of the other server
	elsewhere    []string  // endpoints of keys that are paths of the other server
	sessions     *sessions
	operator     bool   // see As
	user         string // see As
}

// New returns an Authenticator that replaces another one, which may be nil. Errors name the invalid option.
func New(o Options, shared Shared, before *Authenticator) (*Authenticator, error) {
	sessions, err := newSessions(o.Session, shared.Now)
	if err != nil {
		return nil, err
	}
	a := &Authenticator{options: o, shared: shared, sessions: sessions,
		named: newKeyring(o.Keys, shared.KeyUses, before)}
	a.api, a.folio = newArea("/api", o.APIKey, o.Keys), newArea("/portfolio", o.PortfolioKey, o.Keys)
	a.upstreamKeys, a.elsewhere = [2]Secret{NewSecret(o.Upstream.Key),
		NewSecret(o.Upstream.PortfolioKey)}, elsewhere(o.Keys, shared.Own)
	a.keyed = a.api.key.Set() || a.folio.key.Set() || len(a.named) > 0
	a.Redactor = Redactor{a.api.key, a.folio.key, NewSecret(shared.Token), a.upstreamKeys[0], a.upstreamKeys[1]}
	return a, nil
}

// As returns an Authenticator for requests of the operator, which have the session of a user unless that is "". Keys
// are checked, but neither wrong keys nor uses of named ones are counted.
func (a *Authenticator) As(user string) *Authenticator {
	as := *a
	as.user, as.operator = user, true
	return &as
}

// areaOf returns what requests for a path need.
func (a *Authenticator) areaOf(path string) *area {
	if strings.HasPrefix(path, "/portfolio/") {
		return &a.folio
	}
	return &a.api
}

// NeedsKey reports whether requests for a path need a key or a session.
func (a *Authenticator) NeedsKey(path string) bool { return a.areaOf(path).closed }

// Client returns the client that sent a request.
func (a *Authenticator) Client(c *fiber.Ctx) netip.Prefix { return clientOf(a.Addr(c)) }

// Peer returns the client at the other end of a connection. It returns the zero Prefix for a trusted proxy, whose
// connections carry many clients.
func (a *Authenticator) Peer(peer net.Addr) netip.Prefix {
	if client, session := a.Trusts(peer); client || session {
		return netip.Prefix{}
	}
	return clientOf(peerAddr(peer))
}

// Trusts reports whether the other end of a connection is a proxy whose headers name the client and its scheme, and
// one whose header names the user of a session. They may be different proxies.
func (a *Authenticator) Trusts(peer net.Addr) (client, session bool) {
	addr := peerAddr(peer)
	return within(a.options.Client.TrustedProxies, addr), within(a.options.Session.TrustedProxies, addr)
}

// Admit returns the caller of a request for a path with a route, or fails with rules.ErrPermission
// (docs/decisions.md: Keys and sessions). It accepts a right header together with a wrong parameter. A session passes
// without a key, but not with a wrong one: the parameter apikey lifts the session's visibility restrictions on
// all-activities, so it must be right.
func (a *Authenticator) Admit(c *fiber.Ctx, path string) (Caller, error) {
	needed := a.areaOf(path)
	return a.admit(c, needed.key, needed.closed)
}

// admit is Admit for a path that needs a key, or a named one, if it is closed.
func (a *Authenticator) admit(c *fiber.Ctx, single Secret, closed bool) (Caller, error) {
	caller, err := a.recognise(c)
	if err != nil || !closed && caller.Anonymous() {
		return caller, err
	}
	keys := readKeys(c)
	caller.HasKey = keys.given
	if !closed {
		return caller, nil
	}
	for _, text := range []string{keys.header, keys.param} {
		if text == "" {
			continue
		}
		if single.Is(text) {
			return caller, nil
		}
		if k := a.named.find(text); k != nil {
			caller.Viewer.Keyed, caller.Personal = k.Rights, true
			return caller, a.use(c, k)
		}
	}
	switch {
	case !caller.HasKey && !caller.Anonymous():
		return caller, nil
	case caller.HasKey, keys.header != "":
		if err := a.countRefused(c); err != nil {
			return Caller{}, err
		}
	}
	return Caller{}, rules.ErrPermission
}

// IgnoredKeys lists the keys in a request that have no effect, because none is set for its path. A session's
// visibility depends on the parameter all the same.
func (a *Authenticator) IgnoredKeys(c *fiber.Ctx, caller Caller) string {
	if a.NeedsKey(c.Path()) {
		return ""
	}
	return keysWithoutEffect(c, caller.Anonymous(), false)
}

// keysWithoutEffect lists the keys of a request: the parameter, and the header unless a named key in it is counted.
func keysWithoutEffect(c *fiber.Ctx, param, counted bool) string {
	keys, all := readKeys(c), []string(nil)
	if param && keys.given && c.Context().QueryArgs().Has(query.KeyParam) {
		all = append(all, query.KeyParam)
	}
	if keys.header != "" && !counted {
		all = append(all, headerKey)
	}
	return strings.Join(all, ", ")
}

// recognise returns the caller of the session in a request. Users without a record in persons, such as former staff,
// have no session, unless the options allow them.
func (a *Authenticator) recognise(c *fiber.Ctx) (Caller, error) {
	user, brought, err := a.sessions.of(c)
	if a.user != "" {
		user, brought, err = a.user, true, nil
	}
	if err != nil || user == "" {
		return Caller{Personal: brought}, err
	}
	ctx, cancel := context.WithDeadline(c.UserContext(), a.shared.Deadline(c))
	defer cancel()
	who, known, err := a.shared.Person(ctx, user)
	if err != nil {
		return Caller{}, err
	}
	if !known && !a.options.Session.UnknownUsers {
		who = Caller{}
	}
	who.Personal = brought
	return who, nil
}

// CountWrongKey counts a wrong key. A client that has sent too many must wait, and must
// connect anew for each further one, so that guessing is slow. Right keys do not count: another client behind the
// same address may have sent the wrong ones.
func (a *Authenticator) CountWrongKey(guesses *Guesses, c *fiber.Ctx) error {
	if a.operator {
		return nil
	}
	a.shared.WrongKeys.Inc()
	return guesses.refuse(c, guesses.take(a.Client(c), a.shared.Now()))
}
