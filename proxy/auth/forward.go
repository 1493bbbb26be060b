package auth

import (
	"cmp"
	"slices"
	"strings"

	"github.com/gofiber/fiber/v2"

	"vitrine/rules"
	"vitrine/rules/urlpath"
)

// Door says who may ask for a path that another server answers.
type Door string

// The doors. Who may ask for a path of the other server alone, Elsewhere, is that server's decision.
const (
	Elsewhere Door = ""
	Open      Door = "none"      // needs no key; the limits of a named one hold
	API       Door = "api"       // needs what paths under /api need
	Portfolio Door = "portfolio" // needs what paths under /portfolio need
)

// Upstream has the keys of the other server: this server's own, or none.
type Upstream struct {
	Key          string // for all paths except those below /portfolio
	PortfolioKey string // for these
}

// keyFor returns the other server's key for a path.
func (u Upstream) keyFor(path string) string {
	if strings.HasPrefix(path, "/portfolio/") {
		return u.PortfolioKey
	}
	return u.Key
}

// isUpstreamKey reports whether a text is a key of the other server.
func (a *Authenticator) isUpstreamKey(text string) bool {
	return a.upstreamKeys[0].Is(text) || a.upstreamKeys[1].Is(text)
}

// DoorOf returns the door of a path for which this server has a route that another one answers.
func DoorOf(path string) Door {
	switch {
	case path == "/api/citation-index":
		return Open
	case strings.HasPrefix(path, "/portfolio/"):
		return Portfolio
	case strings.HasPrefix(path, "/api/"):
		return API
	}
	return Open
}

// DoorByKeys returns the door of a path for which this server has no route: it decides only if an endpoint of a key
// is for that path, in any reading. It also returns that endpoint.
func (a *Authenticator) DoorByKeys(path urlpath.Path) (door Door, endpoint string) {
	switch endpoint = a.listed(path); {
	case endpoint == "":
		return Elsewhere, ""
	case path.Below("/portfolio/"):
		return Portfolio, endpoint
	}
	return API, endpoint
}

// Entry is the decision about a request that another server will answer.
type Entry struct {
	Key     string // the other server's key to send; empty if none
	Known   bool   // the request has credentials, so that its answer is only for its sender
	Guarded bool   // only callers with a key or session of this server get the answer
	// Personal: the caller has a session or a named key, which admit it to a guarded path, or limit it.
	Personal bool
	own      bool // keys and sessions in the request are for this server, right or wrong
	keyed    bool // keys are
	by       *Authenticator
}

// Enter admits a request that another server will answer, or fails like Admit. Where this server decides who may ask,
// the request is sent with the other server's key. Elsewhere it is sent with that key if it has one of this server's
// keys for that path, and else as it is, without what is for this server alone.
func (a *Authenticator) Enter(c *fiber.Ctx, path urlpath.Path, door Door) (e Entry, err error) {
	e.Known, e.by = a.personal(c), a
	switch door {
	case Open:
		e.Personal, err = a.Identify(c)
	case API, Portfolio:
		of := &a.api
		if door == Portfolio {
			of = &a.folio
		}
		e.Guarded = of.closed || a.listed(path) != ""
		e.Known = e.Known || e.Guarded // perhaps by the header of a proxy
		var caller Caller
		caller, err = a.admit(c, of.key, e.Guarded)
		e.Personal = e.Guarded && caller.Personal
	default:
		admitted, err := a.admitElsewhere(c, path)
		e.keyed = a.admits(readKeys(c)) // so that another one beside it shows nothing by whether it is left out
		if admitted {
			e.Key = a.options.Upstream.keyFor(path.Sent())
		}
		return e, err
	}
	e.own, e.keyed, e.Key = true, true, a.options.Upstream.keyFor(path.Sent())
	return e, err
}

// Ignored lists the keys in a request that have no effect, because none is needed for its path.
func (e Entry) Ignored(c *fiber.Ctx) string {
	if e.Guarded || !e.own {
		return ""
	}
	return keysWithoutEffect(c, true, e.Personal)
}

// Closed reports whether a door of this server needs a key or a session.
func (a *Authenticator) Closed(door Door) bool {
	return door == API && a.api.closed || door == Portfolio && a.folio.closed
}

// UpstreamKey returns the other server's key for a path, or "".
func (a *Authenticator) UpstreamKey(path string) string { return a.options.Upstream.keyFor(path) }

// admitElsewhere reports whether a request for a path of the other server has a key of this one that opens the path.
// It fails if the limits of a named key do not admit it, or if the key is wrong where a named one opens the path. A
// key of the other server alone is that server's business. With an OSIRIS database both have the same.
func (a *Authenticator) admitElsewhere(c *fiber.Ctx, path urlpath.Path) (admitted bool, err error) {
	keys := readKeys(c)
	for _, text := range []string{keys.header, keys.param} {
		switch {
		case text == "":
		case a.api.key.Is(text) && path.Below("/api/"), a.folio.key.Is(text) && path.Below("/portfolio/"):
			return true, nil
		case a.isUpstreamKey(text):
		default:
			if k := a.named.find(text); k != nil {
				return true, a.use(c, k)
			}
			if !a.isSingle(text) && a.named.names(path) {
				return false, cmp.Or(a.countRefused(c), rules.ErrPermission)
			}
		}
	}
	return false, nil
}

// names reports whether a key has an endpoint that is a path, or above it, in some reading.
func (r keyring) names(path urlpath.Path) bool {
	for _, k := range r {
		if slices.ContainsFunc(k.Endpoints, path.Near) {
			return true
		}
	}
	return false
}

// listed returns an endpoint of a key that is for a path of the other server, in any reading, and for none of this
// one's: all requests for such a path need a key. An endpoint such as /api covers paths of both, and closes only this
// server's, because visitors of the other one have sessions of its own there.
func (a *Authenticator) listed(path urlpath.Path) string {
	if i := slices.IndexFunc(a.elsewhere, path.Near); i >= 0 {
		return strings.TrimSuffix(a.elsewhere[i], "/")
	}
	return ""
}

// elsewhere returns the endpoints of keys that are paths of the other server.
func elsewhere(keys []Key, own func(endpoint string) bool) (all []string) {
	if own == nil {
		return nil
	}
	for _, k := range keys {
		for _, e := range k.Endpoints {
			if !own(e) {
				all = append(all, e)
			}
		}
	}
	return all
}

// personal reports whether a request has credentials, for whichever server.
func (a *Authenticator) personal(c *fiber.Ctx) bool {
	return c.Get(fiber.HeaderAuthorization) != "" || c.Get(fiber.HeaderCookie) != "" || !readKeys(c).none()
}
