package query

import (
	"cmp"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"vitrine/rules/filter"
	"vitrine/rules/suggest"
)

// KeyParam is the parameter with an API key.
const KeyParam = "apikey"

// mostIgnored is how many ignored parameters, and how many paths, an answer lists.
const mostIgnored = 8

// usage records which parts of a query string an answer depends on, and their errors. Params are passed by value,
// so they share one by pointer.
type usage struct {
	err     error    // the first error
	names   []string // parameters that the handler looked up
	unused  []string // parameters that were read but have no effect
	unknown []string // unknown values, in the form for Ignored
	paths   []string // stored fields that the answer depends on
}

// Err returns the error of the first invalid parameter, or nil.
func (u *usage) Err() error { return u.err }

// Fail records an error unless one is already recorded. It ignores a nil error. The first mistake is the one to
// mend first, and later ones may follow from it.
func (u *usage) Fail(err error) { u.err = cmp.Or(u.err, err) }

// lookFor records that a handler has looked a parameter up, whether or not it is there.
func (u *usage) lookFor(name string) {
	if !slices.Contains(u.names, name) {
		u.names = append(u.names, name)
	}
}

// MarkUnused records that parameters were read but have no effect. For example, offset has no effect without a
// limit.
func (u *usage) MarkUnused(names ...string) { u.unused = append(u.unused, names...) }

// MarkUnknown records the value of a parameter unless it is one of the known values.
func (u *usage) MarkUnknown(name, value string, known ...string) {
	if value != "" && !slices.Contains(known, value) {
		u.unknown = append(u.unknown, name+"="+escape(value)+didYouMean(name+"=", suggest.Near(value, known)))
	}
}

// Checked returns a filter and records its error. If there is an error, it returns a filter that selects
// everything; no caller uses it. So a handler may go on reading parameters, and check for an error once, at the
// end.
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
		text := escape(pair.name)
		if !read {
			text += hint(pair.name, p.names)
		}
		if !slices.Contains(all, text) {
			all = append(all, text)
		}
	}
	return joinFirst(all)
}

// Ignored lists parameters without effect, in the form for Vitrine-Ignored. known are the ones that would have one.
// For example, with the known name "limit", the names "limt" and "per_page" are listed with the question whether
// limit is meant.
func Ignored(names, known []string) string {
	return IgnoredWith(names, func(name string) string { return meanings.Near(name, known) })
}

// IgnoredWith is Ignored with the function that returns the name that is meant, or "".
func IgnoredWith(names []string, near func(name string) string) string {
	var all []string
	for _, name := range names {
		all = append(all, escape(name)+didYouMean("", near(name)))
	}
	slices.Sort(all)
	return joinFirst(slices.Compact(all))
}

// IgnoredPaths lists paths that no record has.
func IgnoredPaths(paths []string) string {
	var all []string
	for _, path := range paths {
		if text := escape(path) + " (no record has it)"; !slices.Contains(all, text) {
			all = append(all, text)
		}
	}
	return joinFirst(all)
}

// Unknown is a value of a parameter that no record has. Near is one that some record has, or empty.
type Unknown struct{ Param, Value, Near string }

// IgnoredValues lists values that no record has.
func IgnoredValues(unknown []Unknown) string {
	var all []string
	for _, u := range unknown {
		text := escape(u.Param) + "=" + escape(u.Value) + " (no record has it"
		if u.Near != "" {
			text += "; did you mean " + escape(u.Near) + "?"
		}
		all = append(all, text+")")
	}
	return joinFirst(all)
}

// JoinIgnored joins two lists of ignored parts.
func JoinIgnored(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + ", " + b
}

// joinFirst joins the first parts and counts the rest, so that the header stays short.
func joinFirst(all []string) string {
	if more := len(all) - mostIgnored; more > 0 {
		all = append(all[:mostIgnored], "and "+strconv.Itoa(more)+" more")
	}
	return strings.Join(all, ", ")
}

// escape returns a client's text, shortened and in characters that headers allow.
func escape(text string) string {
	const most = 60
	return url.QueryEscape(text[:min(len(text), most)])
}

// didYouMean returns " (did you mean X?)", or "" without a word. before is part of X; it must be ASCII, for
// headers.
func didYouMean(before, word string) string {
	if word == "" {
		return ""
	}
	return " (did you mean " + before + escape(word) + "?)"
}
