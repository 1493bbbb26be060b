package proxy

import (
	"context"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/agnivade/levenshtein"
	"github.com/gofiber/fiber/v2"

	"vitrine/cache/view"
	"vitrine/rules"
	"vitrine/rules/filter"
)

// The headers that tell what became of a call (DESIGN.md: 23).
const (
	headerIgnored    = "Vitrine-Ignored"    // parameters and paths that the answer does not depend on
	headerRestricted = "Vitrine-Restricted" // the permission whose lack cut the list
	headerPrefer     = "Prefer"
	headerApplied    = "Preference-Applied"
	handlingStrict   = "handling=strict"
)

// mostIgnored is how many ignored parameters, and how many paths, an answer names.
const mostIgnored = 8

// reading is what was read of a query string while its call was planned.
type reading struct {
	names   []string // of the parameters that were looked for
	idle    []string // names of those that were looked at and change nothing
	strange []string // values that mean nothing, as Vitrine-Ignored lists them
	paths   []string // of stored fields that the answer depends on
	// restricted names the permission whose lack cuts the answer; empty: it is whole.
	restricted string
}

// note takes down that a parameter was looked for.
func (r *reading) note(name string) {
	if !slices.Contains(r.names, name) {
		r.names = append(r.names, name)
	}
}

// waste takes down that parameters which were looked at change nothing.
func (r *reading) waste(names ...string) { r.idle = append(r.idle, names...) }

// among takes down the value of a parameter that is none of those which mean something.
func (r *reading) among(name, value string, meant ...string) {
	if value != "" && !slices.Contains(meant, value) {
		r.strange = append(r.strange, name+"="+shown(value)+hint(value, meant, name+"="))
	}
}

// reach takes down the paths of stored fields that an answer is made from.
func (r *reading) reach(paths ...string) { r.paths = append(r.paths, paths...) }

// restrict takes down that the lack of a permission cuts the answer.
func (r *reading) restrict(permission string) { r.restricted = permission }

// filtered is reach for the paths of a caller's filter, which it returns.
func (r *reading) filtered(f *filter.Filter, err error) (*filter.Filter, error) {
	if err == nil {
		r.reach(f.Paths()...)
	}
	return f, err
}

// ignored lists the parameters that were given and not read; empty if there are none.
func (p params) ignored() string {
	all := slices.Clone(p.strange)
	for _, pair := range p.pairs {
		name, _, _ := strings.Cut(pair.name, "[")
		if name == "" || name == keyParam || slices.Contains(p.names, name) && !slices.Contains(p.idle, name) {
			continue
		}
		said := shown(name)
		if !slices.Contains(p.names, name) {
			said += hint(name, p.names, "")
		}
		if !slices.Contains(all, said) {
			all = append(all, said)
		}
	}
	return listed(all)
}

// tell has a plan say what it leaves out of a call. What records have is not told of
// records that the caller may not see.
func (p *plan) tell(of params) {
	p.ignored, p.restricted = of.ignored(), of.restricted
	paths, build := of.paths, p.build
	if len(paths) == 0 || p.restricted != "" {
		return
	}
	p.build = func(ctx context.Context, s *view.Snapshot) (*body, error) {
		b, err := build(ctx, s)
		if err == nil {
			b.ignored, err = unknown(ctx, s, paths)
		}
		return b, err
	}
}

// listed joins what was ignored, the first of it if it is much.
func listed(all []string) string {
	if more := len(all) - mostIgnored; more > 0 {
		all = append(all[:mostIgnored], "and "+strconv.Itoa(more)+" more")
	}
	return strings.Join(all, ", ")
}

// shown is a client's text as a header may have it.
func shown(text string) string {
	const most = 60
	return url.QueryEscape(text[:min(len(text), most)])
}

// hint returns " (did you mean X?)" with the nearest of words, or nothing if none is near.
func hint(text string, words []string, before string) string {
	best, distance := "", len(text)/3+1
	if len(text) > 4*mostIgnored {
		return "" // no name is as long
	}
	for _, word := range words {
		if d := levenshtein.ComputeDistance(strings.ToLower(text), strings.ToLower(word)); d < distance {
			best, distance = word, d
		}
	}
	if best == "" {
		return ""
	}
	return " (did you mean " + before + shown(best) + "?)"
}

// unknown lists those of the paths that no record of a snapshot has; empty if there are
// none. Of views in the store it is not known.
func unknown(ctx context.Context, s *view.Snapshot, paths []string) (string, error) {
	var all []string
	for _, path := range paths {
		parsed, err := filter.ParsePath(path)
		if err != nil {
			continue // it was refused, or names no field
		}
		has, err := s.Has(ctx, parsed)
		if err != nil {
			return "", err
		}
		if said := shown(path) + " (no record has it)"; !has && !slices.Contains(all, said) {
			all = append(all, said)
		}
	}
	return listed(all), nil
}

// tellIgnored says what the answer to a call does not depend on. For callers who want
// their call taken strictly that is an error; a cache must not give them what others
// were answered.
func tellIgnored(c *fiber.Ctx, ignored string) error {
	if ignored == "" {
		return nil
	}
	if told := c.GetRespHeader(headerIgnored); told == "" {
		setHeader(c, headerIgnored, ignored)
	} else if !strings.HasSuffix(told, ignored) { // it may be said twice, see catchUp
		setHeader(c, headerIgnored, told+", "+ignored)
	}
	c.Append(fiber.HeaderVary, headerPrefer)
	if !strict(c) {
		return nil
	}
	return &rules.Error{Kind: rules.ErrWrongCall, Reason: "Strict handling was asked for, and these are ignored: " + ignored}
}

// strict reports whether a call is to fail rather than be answered in part (RFC 7240).
func strict(c *fiber.Ctx) bool {
	for _, header := range c.Request().Header.PeekAll(headerPrefer) {
		for preference := range strings.SplitSeq(string(header), ",") {
			preference, _, _ = strings.Cut(preference, ";")
			name, value, _ := strings.Cut(preference, "=")
			if strings.EqualFold(strings.TrimSpace(name), "handling") { // of several the first counts
				return strings.EqualFold(strings.Trim(value, ` "	`), "strict")
			}
		}
	}
	return false
}

// tellHandling says what a plan leaves out of its call.
func tellHandling(c *fiber.Ctx, p plan) error {
	if p.restricted != "" {
		setHeader(c, headerRestricted, p.restricted)
	}
	if c.Get(headerPrefer) != "" && strict(c) {
		setHeader(c, headerApplied, handlingStrict)
	}
	return tellIgnored(c, p.ignored)
}
