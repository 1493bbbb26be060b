package configs

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Error is one mistake in the configuration. Its text never contains a secret.
type Error struct {
	Place  Place  // where the value was given; zero if no single place is wrong
	Path   string // dotted name of the setting; empty if it concerns none
	Reason string // what is wrong
}

// Wrong returns a mistake in the setting at a dotted path, for packages that use the setting. Config.Located adds the
// place.
func Wrong(path, format string, args ...any) *Error {
	return &Error{Path: path, Reason: fmt.Sprintf(format, args...)}
}

// Located returns an error in which each mistake without a place has that of its setting. It keeps joined errors
// apart, so that each gets its own place. Other errors stay as they are.
func (c *Config) Located(err error) error {
	if all, ok := err.(interface{ Unwrap() []error }); ok {
		located := make([]error, 0, len(all.Unwrap()))
		for _, one := range all.Unwrap() {
			located = append(located, c.Located(one))
		}
		return errors.Join(located...)
	}
	if e := (*Error)(nil); errors.As(err, &e) && e.Place == (Place{}) {
		return &Error{Place: c.placeOf(e.Path), Path: e.Path, Reason: e.Reason}
	}
	return err
}

// mostReason is the longest path or reason, in bytes: a value that it quotes may be as long as the file.
const mostReason = 600

// newError returns a mistake. Whatever path and reason quote, credentials and parameters of addresses in them are
// masked.
func newError(place Place, path, reason string) *Error {
	return &Error{Place: place, Path: quotable(path), Reason: quotable(reason)}
}

func quotable(text string) string {
	text = credentials.ReplaceAllString(text, "://"+mask+"@")
	text = parameters.ReplaceAllString(text, "$1?"+mask)
	if len(text) > mostReason {
		return strings.ToValidUTF8(text[:mostReason], "") + "…"
	}
	return text
}

// credentials matches what is before the host of a quoted address, and parameters an address and its parameters. An
// "@" or "?" that was not escaped in a password counts as a part of it.
var (
	credentials = regexp.MustCompile(`://(?:[^"\\]|\\.)*@`)
	parameters  = regexp.MustCompile(`(://[^"?\s]*)\?(?:[^"\\]|\\.)*`)
)

// Error returns place, key and reason, without empty parts.
func (e *Error) Error() string {
	parts := []string{e.Place.String(), e.Path, e.Reason}
	return strings.Join(slices.DeleteFunc(parts, func(part string) bool { return part == "" }), ": ")
}

// join returns the mistakes as one error, the file's from top to bottom, then variables and flags by name.
func join(mistakes []*Error) error {
	slices.SortStableFunc(mistakes, func(a, b *Error) int {
		return cmp.Or(
			cmp.Compare(a.Place.source, b.Place.source),
			cmp.Compare(a.Place.name, b.Place.name),
			cmp.Compare(a.Place.line, b.Place.line),
			cmp.Compare(a.Path, b.Path),
		)
	})
	errs := make([]error, len(mistakes))
	for i, m := range mistakes {
		errs[i] = m
	}
	return errors.Join(errs...)
}

// mistake returns a mistake in a value that was read already, with the place where it was given.
func (c *Config) mistake(path, reason string) *Error {
	return newError(c.origins[path], path, reason)
}
