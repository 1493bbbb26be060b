package configs

import (
	_ "embed"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"vitrine/rules/suggest"
)

// osirisRules are the rules of the preset osiris, as YAML. docs/osiris.md explains them.
//
//go:embed rules/keep.yaml
var osirisRules string

var (
	// collections matches the names of views and collections that a rule may depend on. MongoDB allows more, but
	// those are more likely a mistake.
	collections = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_.-]{0,119}$`)
	// mediaTypes matches media types without parameters (RFC 9110: 8.3.1).
	mediaTypes = regexp.MustCompile(`^[a-z0-9!#$&^_.+-]+/[a-z0-9!#$&^_.+-]+$`)
)

// checkKept checks a path of Keep. Such paths are compared with those of requests in canonical form, so another form
// would match nothing.
func checkKept(text string) error {
	rest, _ := strings.CutSuffix(text, "*")
	switch {
	case !strings.HasPrefix(text, "/"):
		return fmt.Errorf("want a path from the root such as /portfolio/, have %q", text)
	case strings.ContainsAny(text, "?#%{}\\; ") || strings.ContainsFunc(text, unicode.IsControl):
		return fmt.Errorf("want a path as it is after decoding, without parameters, have %q", text)
	case path.Clean(rest) != strings.TrimSuffix(rest, "/") && rest != "/":
		return fmt.Errorf("want a path without empty parts, . and .., have %q", text)
	}
	for part := range strings.SplitSeq(strings.TrimPrefix(rest, "/"), "/") {
		if strings.Contains(part, "*") && part != "*" || strings.HasSuffix(text, "**") {
			return fmt.Errorf("want * at the end, or alone between two slashes, have %q", text)
		}
	}
	return nil
}

// finding is a mistake in a rule of upstream.keep, or what gives a warning.
type finding struct {
	path, reason string // of the setting
	harmless     bool   // it gives a warning
}

// checkRules returns what is wrong with the rules of upstream.keep in several settings together. own says why a path
// cannot be kept unless routes moves it: this server answers it itself. It may be nil.
func checkRules(c *Config, own func(path string) error, views []string) (found []finding) {
	const setting = "upstream.keep"
	if len(c.Upstream.Keep) > 0 && c.Upstream.URL == "" {
		return []finding{{path: setting, reason: "needs upstream.url, the address of the other server"}}
	}
	first := map[string]string{} // paths of rules by path
	for i, rule := range c.Upstream.Keep {
		at := entryPath(setting, i)
		for _, p := range rule.Paths {
			if first[p] != "" {
				found = append(found, finding{path: at + ".paths", reason: p + " is already in " + first[p]})
			} else if own != nil && !movedAway(c.Routes, p) {
				if err := own(p); err != nil {
					found = append(found, finding{path: at + ".paths", reason: err.Error()})
				}
			}
			first[p] = at
			if !slices.ContainsFunc(c.Upstream.Paths, func(prefix string) bool {
				return strings.HasPrefix(p, prefix) || strings.HasPrefix(prefix, literal(p))
			}) {
				reason := p + " is not below upstream.paths, so nothing is kept of it"
				found = append(found, finding{at + ".paths", reason, true})
			}
		}
		found = append(found, rule.check(at, views)...)
		found = append(found, rule.taken(at, c.Upstream.Keep)...)
	}
	return found
}

// taken returns the warm paths of a rule at a dotted path that another one of all rules has: no refresh fetches them,
// unless that one names them, too.
//
// The longest path wins, as in the keeper's table of rules: a * at its end does not count for the length.
func (k *Keep) taken(at string, all []*Keep) (found []finding) {
	for _, template := range k.Warm {
		p, _, _ := strings.Cut(template, "?")
		owner, longest := -1, ""
		for i, rule := range all {
			for _, pattern := range rule.Paths {
				begin := strings.TrimSuffix(pattern, "*")
				if covers(pattern, p) && (owner < 0 || len(begin) > len(strings.TrimSuffix(longest, "*"))) {
					owner, longest = i, pattern
				}
			}
		}
		if owner >= 0 && all[owner] != k && k.Covers(p) {
			reason := fmt.Sprintf("%s is not fetched: it is for %s, which has the longer path %s",
				p, entryPath("upstream.keep", owner), longest)
			found = append(found, finding{at + ".warm", reason, true})
		}
	}
	return found
}

// movedAway reports whether routes gives a path to the other server. A route covers its own path and what is below
// it; an empty value turns a route of the preset off.
func movedAway(routes map[string]string, p string) bool {
	for route, to := range routes {
		if to != "" && (route == "/" || strings.TrimSuffix(p, "/") == strings.TrimSuffix(route, "/") ||
			strings.HasPrefix(p, strings.TrimSuffix(route, "/")+"/")) {
			return true
		}
	}
	return false
}

// check returns what is wrong with a rule at a dotted path. A warm path that it does not cover would not be kept by
// its settings. A name in until that is nearly a view's may be that of a collection, but if there is none, the
// answers never become stale.
func (k *Keep) check(at string, views []string) (found []finding) {
	if len(k.Paths) > 0 && k.Door() == "" {
		found = append(found, finding{path: at + ".paths", reason: "these need auth: none, api or portfolio, " +
			"because they are not all below /api, below /portfolio, or elsewhere"})
	}
	for _, template := range k.Warm {
		p, _, _ := strings.Cut(template, "?")
		if !k.Covers(p) {
			reason := p + " is not below " + strings.Join(k.Paths, " or ")
			found = append(found, finding{path: at + ".warm", reason: reason})
		}
	}
	if len(k.Warm) > 0 && k.Refresh == "" {
		found = append(found, finding{at + ".warm", "has no effect: it needs refresh", true})
	}
	for _, name := range k.Until {
		if near := suggest.Near(name, views); near != "" && len(name) > 5 && !slices.Contains(views, name) {
			reason := fmt.Sprintf("there is no view %s, did you mean %s?", name, near)
			found = append(found, finding{at + ".until", reason, true})
		}
	}
	return found
}

// Door returns Auth or, if it is empty, the part of the API with the paths: "api", "portfolio", or "none" for paths
// of neither. It returns "" if that is not one answer for all paths.
//
// Example: /portfolio/* has the door portfolio, /media none, /p* no single one, because it covers paths of
// /portfolio and others.
func (k *Keep) Door() string {
	if k.Auth != "" {
		return k.Auth
	}
	doors := map[string]bool{}
	for _, p := range k.Paths {
		begin, door := literal(p), "none"
		for _, part := range []string{"api", "portfolio"} {
			switch root := "/" + part; {
			case begin == root && begin == p, strings.HasPrefix(begin, root+"/"):
				door = part
			case strings.HasPrefix(root+"/", begin) && begin != p, begin == "/":
				return "" // some of the paths are below it
			}
		}
		doors[door] = true
	}
	if len(doors) > 1 {
		return ""
	}
	for door := range doors {
		return door
	}
	return ""
}

// Covers reports whether the rule is for a path without parameters, unless a rule with a longer path is.
func (k *Keep) Covers(path string) bool {
	return slices.ContainsFunc(k.Paths, func(pattern string) bool { return covers(pattern, path) })
}

// covers reports whether a path of a rule is a path, which may be a template, or above it. Examples: /a/* covers
// /a/b and /a/b/c, /a* covers /ab, /a/*/c covers /a/b/c, and /a covers /a/b.
func covers(pattern, template string) bool {
	if begin, ok := strings.CutSuffix(pattern, "*"); ok && !strings.HasSuffix(begin, "/") {
		return strings.HasPrefix(template, begin)
	}
	parts, own := strings.Split(template, "/"), strings.Split(pattern, "/")
	if len(own) > len(parts) {
		return false
	}
	for i, part := range own {
		// An empty last part follows a slash: any part of the template may stand there.
		any := part == "*" || part == "" && i == len(own)-1
		if part != parts[i] && (!any || parts[i] == "") {
			return false
		}
	}
	return true
}

// literal returns the beginning of a path of a rule that has no *.
func literal(pattern string) string {
	begin, _, _ := strings.Cut(pattern, "*")
	return begin
}
