package query

import (
	"cmp"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"vitrine/rules/filter"
	"vitrine/rules/similar"
)

// KeyParam is the parameter that carries an API key.
const KeyParam = "apikey"

// mostIgnored is how many ignored parameters, and how many paths, an answer names.
const mostIgnored = 8

// usage records which parts of a query string an answer depends on, and what is wrong
// with them.
type usage struct {
	err     error    // the first error
	names   []string // parameters that the handler looked up
	unused  []string // read parameters without effect
	unknown []string // unknown values, as Ignored lists them
	paths   []string // stored fields that the answer depends on
}

// Err returns the error of the first parameter that could not be read, nil if there is none.
func (u *usage) Err() error { return u.err }

// Fail records an error unless there is one already. A nil error changes nothing.
func (u *usage) Fail(err error) { u.err = cmp.Or(u.err, err) }

// lookFor records that a parameter was looked for.
func (u *usage) lookFor(name string) {
	if !slices.Contains(u.names, name) {
		u.names = append(u.names, name)
	}
}

// MarkUnused records that parameters were read and have no effect.
func (u *usage) MarkUnused(names ...string) { u.unused = append(u.unused, names...) }

// MarkUnknown records the value of a parameter unless it is one of the known ones.
func (u *usage) MarkUnknown(name, value string, known ...string) {
	if value != "" && !slices.Contains(known, value) {
		u.unknown = append(u.unknown, name+"="+escaped(value)+hint(value, known, name+"="))
	}
}

// Checked returns a filter and records its error. With an error it returns a filter that
// selects everything, which no caller uses.
func (u *usage) Checked(f *filter.Filter, err error) *filter.Filter {
	if err != nil {
		u.Fail(err)
		return filter.All()
	}
	return f
}

// Paths returns the paths of the stored fields that the answer depends on.
func (u *usage) Paths() []string { return u.paths }

// Ignored lists the parameters of the request that have no effect on the answer.
func (p Params) Ignored() string {
	all := slices.Compact(slices.Clone(p.unknown))
	for _, pair := range p.pairs {
		read := slices.Contains(p.names, pair.name)
		if pair.name == "" || read && !slices.Contains(p.unused, pair.name) {
			continue
		}
		text := escaped(pair.name)
		if !read {
			text += hint(pair.name, p.names, "")
		}
		if !slices.Contains(all, text) {
			all = append(all, text)
		}
	}
	return joinFirst(all)
}

// IgnoredPaths lists paths that no record has.
func IgnoredPaths(paths []string) string {
	var all []string
	for _, path := range paths {
		if text := escaped(path) + " (no record has it)"; !slices.Contains(all, text) {
			all = append(all, text)
		}
	}
	return joinFirst(all)
}

// joinFirst joins the first mostIgnored texts.
func joinFirst(all []string) string {
	if more := len(all) - mostIgnored; more > 0 {
		all = append(all[:mostIgnored], "and "+strconv.Itoa(more)+" more")
	}
	return strings.Join(all, ", ")
}

// escaped returns a client's text, shortened, in characters that a header may have.
func escaped(text string) string {
	const most = 60
	return url.QueryEscape(text[:min(len(text), most)])
}

// hint returns " (did you mean X?)" with the nearest of words, or nothing if none is near.
func hint(text string, words []string, before string) string {
	if len(text) > 4*mostIgnored {
		return "" // no name is as long
	}
	best := similar.Nearest(text, words, len(text)/3+1)
	if best == "" {
		return ""
	}
	return " (did you mean " + before + escaped(best) + "?)"
}
