package upstream

import (
	"cmp"
	"slices"
	"strings"

	"vitrine/cache/kept"
	"vitrine/proxy/auth"
	"vitrine/rules"
	"vitrine/rules/urlpath"
)

// Doors say which paths the other server answers, and which callers may ask for them. It is made anew for each
// generation of settings, and never changes.
type Doors struct {
	Own    *urlpath.Routes // all routes of this server
	Routes []string        // those that moved: the other server answers them, and what is below them
	Paths  []string        // below these it answers what this server has no route for
	Auth   *auth.Authenticator
	Keep   []kept.Rule  // the rules by which its answers are kept; Rule.Auth is an auth.Door
	Keeper *kept.Keeper // nil if there are no rules
}

// moved reports whether a path as it was sent is that of a moved route, or below it.
func (d Doors) moved(path string) bool { return below(path, d.Routes) != "" }

// Falls reports whether the upstream server answers a path as it was sent if there is no route for it.
func (d Doors) Falls(path string) bool { return below(path, d.Paths) != "" }

// prefix returns the moved route, or else the one of Paths, by which a path as it was sent is forwarded.
func (d Doors) prefix(path string) string { return cmp.Or(below(path, d.Routes), below(path, d.Paths)) }

// below returns the first of some prefixes that is a path as it was sent, or above it, or "". One that ends with a
// slash is not a path itself. /api covers /api and /api/x, but not /apix; /api/ covers /api/x alone.
func below(path string, prefixes []string) string {
	for _, prefix := range prefixes {
		rest, found := strings.CutPrefix(path, prefix)
		if found && (strings.HasSuffix(prefix, "/") || rest == "" || rest[0] == '/') {
			return prefix
		}
	}
	return ""
}

// of reads a path that is moved or falls to the upstream server, and says who may ask for it: it is the one place
// that decides this. It fails for a path that any common server may read as one that the upstream server does not
// answer: outside of the prefixes, or a route of this server (docs/decisions.md: Spellings). A moved route has one
// spelling, too, since its door would not hold for others. The order matters: a moved route first, then this
// server's own in any spelling, then what falls to the other server.
func (d Doors) of(sent string) (urlpath.Path, auth.Door, error) {
	path, err := urlpath.Parse(sent)
	if err != nil {
		return path, "", &rules.Error{Kind: rules.ErrWrongCall, Reason: err.Error()}
	}
	if route := below(sent, d.Routes); route != "" {
		if !path.Below(route) {
			return path, "", errReadings
		}
		return path, auth.DoorOf(sent), nil
	}
	if route := path.Spells(d.Own); route != "" {
		return path, "", misspelt(route)
	}
	for _, route := range d.Routes {
		if path.Near(route) {
			return path, "", misspelt(route)
		}
	}
	if !path.Below(d.Paths...) {
		return path, "", errReadings
	}
	door, endpoint := d.Auth.DoorByKeys(path)
	if endpoint != "" && !path.Below(endpoint) {
		return path, "", misspelt(endpoint)
	}
	return path, door, nil
}

// ofRule says who may ask for a path whose answers are kept by a rule; door is the path's without it. A key that
// has an endpoint at a path of the other server closes it, whatever the rule says. Without auth in the rule, paths
// below /api and /portfolio need what these need.
func (d Doors) ofRule(k keptPath, door auth.Door) auth.Door {
	switch rule := auth.Door(k.rule.Auth); {
	case rule == "":
		return cmp.Or(door, auth.DoorOf(k.plain))
	case rule == auth.Open && !d.moved(k.sent.Sent()):
		return cmp.Or(door, rule)
	default:
		return rule
	}
}

// besideRule says who may ask for what is not kept at a path with a rule: for other methods, and for spellings that
// only some servers read as the path. door is the path's without the rule. A rule that closes its paths does so here,
// too: otherwise such requests would get from the other server what the rule refuses.
func (d Doors) besideRule(path urlpath.Path, door auth.Door) auth.Door {
	if door != auth.Elsewhere || d.Keeper == nil {
		return door
	}
	for _, rule := range d.Keep {
		if by := auth.Door(rule.Auth); d.Auth.Closed(by) && slices.ContainsFunc(rule.Paths, path.Near) {
			return by
		}
	}
	path.Any(func(reading string) bool {
		if rule := d.Keeper.Match(reading); rule != nil && d.Auth.Closed(auth.Door(rule.Auth)) {
			door = auth.Door(rule.Auth)
		}
		return door != auth.Elsewhere
	})
	return door
}

// misspelt refuses a path that is a route, or below a moved one, for some server. The message names the path, since
// most such requests are mistakes.
func misspelt(route string) error {
	return &rules.Error{Kind: rules.ErrNotFound,
		Reason: "The path is another spelling of " + route + ", which is the only one here."}
}

var errReadings = &rules.Error{Kind: rules.ErrNotFound,
	Reason: "Servers may read this path as another one, which is not available here."}
