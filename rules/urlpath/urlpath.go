// Package urlpath says what servers may take the path of a request for. Two servers often disagree: one merges
// slashes, another decodes twice, a third ignores case or what follows a semicolon. Where one server decides who may
// ask for a path and another answers it, such a disagreement opens what the first has closed.
//
//	Parse ── the path as it was sent ──▶ Path: all its readings
//	Path.Below  ── all readings are below a prefix: may the other server get it?
//	Path.Near   ── some reading is below a prefix, in any case: does a door in front of that prefix hold?
//	Path.Spells ── some reading is a route: has this server replaced it?
//
// Readings are the closure of what common servers do to a path (steps.go). Nothing is rewritten: an ordinary path,
// which has one reading, goes on as it was sent.
package urlpath

import (
	"slices"
	"strings"
)

// Path is the path of a request with its readings. The zero Path has none, and is below nothing.
type Path struct {
	sent     string
	readings []string // decoded, without empty segments; the first is what RFC 3986 says
	loose    []string // readings in one case, also without the names of scripts
}

// Error says why no server should get a path.
type Error string

// Error implements error.
func (e Error) Error() string { return string(e) }

// The reasons for which Parse fails.
const (
	ErrDots       Error = "The path has a segment that consists of dots, or cannot be read."
	ErrUnreadable Error = "The path has bytes that servers read in different ways."
)

// Parse reads a path as a client sent it. It fails with an Error if a server may leave the path upwards, or end it
// early.
func Parse(sent string) (Path, error) {
	readings, plain := []string{sent}, isPlain(sent)
	if !plain {
		var err error
		if readings, err = readingsOf(sent); err != nil {
			return Path{}, err
		}
	}
	loose := readings
	if slices.ContainsFunc(readings, hasScript) {
		var ok bool
		if loose, ok = closure(readings, slices.Concat(scripts, steps)); !ok {
			return Path{}, ErrUnreadable
		}
	}
	folded := make([]string, len(loose))
	for i, r := range loose {
		if !plain {
			if err := check(r); err != nil {
				return Path{}, err
			}
		}
		folded[i] = fold(r)
	}
	return Path{sent, readings, folded}, nil
}

// readingsOf returns what servers read. Some look for a host and for parameters in the path as it was sent, and then
// decode it; others decode it first, with or without the slashes in segments.
func readingsOf(sent string) ([]string, error) {
	if !strings.HasPrefix(sent, "/") || !decodes(sent) {
		return nil, ErrDots
	}
	spellings, ok := closure([]string{sent}, []step{withoutHost, withoutParameters})
	var once []string
	for _, s := range spellings {
		once = append(once, decoded(s, keepSeparators), decoded(s, allBytes))
	}
	all, within := closure(unique(once), steps)
	if !ok || !within {
		return nil, ErrUnreadable
	}
	for i, r := range all {
		all[i] = merged(r)
	}
	return unique(all), nil
}

// Normalised returns what RFC 3986 says that a path means: decoded, without empty segments and without a slash at its
// end. It is not ok if servers may read the path in another way, or if Parse fails.
func Normalised(sent string) (path string, ok bool) {
	p, err := Parse(sent)
	if err != nil {
		return "", false
	}
	return p.Normalised()
}

// Normalised is the function of that name.
func (p Path) Normalised() (path string, ok bool) {
	if len(p.readings) == 0 {
		return "", false
	}
	first := withoutSlash(p.readings[0])
	return first, !slices.ContainsFunc(p.readings, func(r string) bool { return withoutSlash(r) != first })
}

// Sent returns the path as it was sent.
func (p Path) Sent() string { return p.sent }

// Readings returns what servers read, which must not be changed. The first is what RFC 3986 says, except for escaped
// slashes, which it still has.
func (p Path) Readings() []string { return p.readings }

// Below reports whether all readings are below one of some prefixes. A prefix is a whole path, with what is below it;
// one that ends with a slash is not a path itself.
func (p Path) Below(prefixes ...string) bool {
	return len(p.readings) > 0 && !slices.ContainsFunc(p.readings, func(reading string) bool {
		return !slices.ContainsFunc(prefixes, func(prefix string) bool { return isBelow(reading, plain(prefix)) })
	})
}

// Near reports whether a server that ignores case, or the name of a script, may read the path as a prefix, or as one
// below it.
func (p Path) Near(prefix string) bool {
	prefix = withoutSlash(fold(plain(prefix)))
	return slices.ContainsFunc(p.loose, func(reading string) bool { return isBelow(reading, prefix) })
}

// plain returns a prefix from a configuration as it is in readings.
func plain(prefix string) string {
	if isPlain(prefix) || !decodes(prefix) {
		return prefix
	}
	return merged(decoded(prefix, keepSeparators))
}

// isBelow reports whether a reading is below a prefix. All are below "/".
func isBelow(reading, prefix string) bool {
	rest, found := strings.CutPrefix(reading, prefix)
	return found && (strings.HasSuffix(prefix, "/") || rest == "" || rest[0] == '/')
}

// Routes are paths with a colon before the names of parameters, each of which stands for one segment.
type Routes struct {
	fixed    map[string]string // by their reading in one case
	patterns []pattern         // those with parameters
}

type pattern struct {
	route    string
	segments []string
}

// NewRoutes returns Routes.
func NewRoutes(routes []string) *Routes {
	r := &Routes{fixed: map[string]string{}}
	for _, route := range routes {
		if strings.Contains(route, "/:") {
			r.patterns = append(r.patterns, pattern{route, strings.Split(fold(route), "/")})
			continue
		}
		r.fixed[fold(route)] = route
	}
	return r
}

// Spells returns a route that a server may read the path as, or "".
func (p Path) Spells(r *Routes) (route string) {
	for _, reading := range p.loose {
		reading = withoutSlash(reading)
		if route, found := r.fixed[reading]; found {
			return route
		}
		for _, pattern := range r.patterns {
			if pattern.matches(reading) {
				return pattern.route
			}
		}
	}
	return ""
}

func (p pattern) matches(reading string) bool {
	last := len(p.segments) - 1
	for i, want := range p.segments {
		got, rest, more := strings.Cut(reading, "/")
		if more != (i < last) || got != want && (got == "" || !strings.HasPrefix(want, ":")) {
			return false
		}
		reading = rest
	}
	return true
}
