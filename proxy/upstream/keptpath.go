package upstream

import (
	"cmp"
	"errors"
	"net/url"
	"slices"
	"strings"

	"github.com/gofiber/fiber/v2"

	"vitrine/cache/kept"
	"vitrine/cache/result"
	"vitrine/proxy/auth"
	"vitrine/proxy/query"
	"vitrine/rules/urlpath"
)

// keptPath is the path of a request for which there is a rule of upstream.keep. plain is what rules match and keys
// begin with; sent is what the door is asked about.
type keptPath struct {
	rule  *kept.Rule // nil if there is none
	sent  urlpath.Path
	plain string // decoded, as all servers read it
}

// findKept returns a path with the rule by which the answer to a GET of it is kept. A path that servers read in
// different ways has none, nor has one that ends with a slash: keys do not, and a redirect to the path with the slash
// would lead to itself. Without a keeper no path has a rule.
func findKept(k *kept.Keeper, path urlpath.Path) keptPath {
	if k == nil {
		return keptPath{}
	}
	plain, ok := path.Normalised()
	if !ok || plain != "/" && strings.HasSuffix(path.Sent(), "/") {
		return keptPath{}
	}
	return keptPath{k.Match(plain), path, plain}
}

// keyOf returns the key of a request, and the parts of the request that are no part of it, in the form for
// Vitrine-Ignored. Parameters that no rule names do not reach the other server, so they cannot make answers without
// end.
func (p keptPath) keyOf(c *fiber.Ctx, entry auth.Entry) (key, ignored string) {
	params, _ := url.ParseQuery(string(entry.Query(c.Context().URI().QueryString()))) // those that can be read
	key, dropped := p.rule.Key(p.plain, params)
	all := []string{entry.Ignored(c), query.Ignored(dropped, p.rule.Parameters)}
	return key, strings.Join(slices.DeleteFunc(all, func(part string) bool { return part == "" }), ", ")
}

// KeptRequest is a request for an answer that is kept by rule.
type KeptRequest struct {
	Rule    *kept.Rule
	Door    auth.Door
	Entry   auth.Entry
	Key     string
	Ignored string // the parts of the request that are no part of the key, in the form for Vitrine-Ignored
}

// Kept returns what is kept for a request, or nil if no rule is for its path. refused is why its door
// does not admit it.
func (f *Forwarder) Kept(c *fiber.Ctx) (r *KeptRequest, refused error) {
	if f == nil {
		return nil, nil
	}
	set := f.policy(c)
	path, door, err := set.of(c.Path())
	k := findKept(f.keeper, path)
	if err != nil || k.rule == nil {
		return nil, nil // this server's own, or forwarded
	}
	r = &KeptRequest{Rule: k.rule, Door: set.ofRule(k, door)}
	r.Entry, refused = set.Auth.Enter(c, path, r.Door)
	r.Key, r.Ignored = k.keyOf(c, r.Entry)
	return r, refused
}

// Adopt makes a Keeper use rules from the next request on. An answer that is longer than all that may be sent at a
// time is not kept, since it could not be sent. A Keeper that is missing is an error only if there are rules.
func Adopt(k *kept.Keeper, keep []kept.Rule, inFlight *result.InFlight) error {
	keep = slices.Clone(keep)
	for i := range keep {
		if most := inFlight.Largest(); most > 0 {
			keep[i].Most = min(cmp.Or(keep[i].Most, kept.DefaultMost), most)
		}
	}
	switch {
	case k != nil:
		return k.Adopt(keep)
	case len(keep) > 0:
		return errors.New("proxy: Options.Upstream.Keeper is missing")
	}
	return nil
}
