package proxy

import (
	"net/url"
	"strings"

	"vitrine/cache/kept"
	"vitrine/proxy/query"
	"vitrine/rules/urlpath"
)

// keptPath is the path of a request for which there is a rule of upstream.keep.
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

// key returns the key of a request with a query, and the parameters that are no part of it, in the form for
// Vitrine-Ignored.
func (p keptPath) key(params string) (key, ignored string) {
	all, _ := url.ParseQuery(params) // those that can be read
	key, dropped := p.rule.Key(p.plain, all)
	return key, query.Ignored(dropped, p.rule.Parameters)
}
