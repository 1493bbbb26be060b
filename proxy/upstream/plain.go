package upstream

import (
	"strings"

	"github.com/gofiber/fiber/v2"

	"vitrine/proxy/auth"
)

// PlainRequest is a request that is forwarded without a rule that keeps the answer.
type PlainRequest struct {
	To    string // the address of the request to the other server, without the query
	By    string // the setting by which it is forwarded
	Why   string // why no rule keeps the answer
	Door  auth.Door
	Entry auth.Entry
}

// Plain explains a request that is forwarded without a rule. It returns nil if this server answers the request, if
// a rule is for it, or if neither server answers it. refused says why its door does not admit it.
func (f *Forwarder) Plain(c *fiber.Ctx) (r *PlainRequest, refused error) {
	if f == nil {
		return nil, nil
	}
	set := f.policy(c)
	path, door, err := set.of(c.Path())
	if err != nil {
		return nil, nil // of() fails for this server's own paths, too
	}
	k := findKept(f.keeper, path)
	if k.rule != nil {
		return nil, nil
	}
	r = &PlainRequest{To: f.proxy.base.String() + path.Sent(), Door: set.besideRule(path, door)}
	if route := below(path.Sent(), set.Routes); route != "" {
		r.By = "routes has " + route + ": upstream"
	} else {
		r.By = "Vitrine has no route for the path, and upstream.paths has " + below(path.Sent(), set.Paths)
	}
	plain, same := path.Normalised()
	switch {
	case len(set.Keep) == 0:
		r.Why = "upstream.keep has no rules"
	case !same:
		r.Why = "servers read this path in different ways, so no rule may be for it"
	case k.plain == "" && f.keeper.Match(plain) != nil:
		r.Why = "the path ends with a slash; rules are for " + plain
	default:
		r.Why = "no rule in upstream.keep is for the path"
	}
	r.Entry, refused = set.Auth.Enter(c, path, r.Door)
	return r, refused
}

// WhyNot says why a request for which this server has no route is not forwarded. It returns "" if it is forwarded,
// and for a nil Forwarder, which has no other server.
func (f *Forwarder) WhyNot(c *fiber.Ctx) string {
	if f == nil {
		return ""
	}
	set := f.policy(c)
	if !set.Falls(c.Path()) {
		return "Vitrine has no route for this path, and none of upstream.paths (" +
			strings.Join(set.Paths, ", ") + ") is above it, so it is not forwarded."
	}
	if _, _, err := set.of(c.Path()); err != nil {
		return err.Error() + " It is not forwarded."
	}
	return ""
}
