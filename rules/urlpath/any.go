package urlpath

import "slices"

// Any reports whether a function is true for a reading of the path, with or without case, without a slash at its end.
func (p Path) Any(is func(reading string) bool) bool {
	matches := func(reading string) bool { return is(withoutSlash(reading)) }
	return slices.ContainsFunc(p.readings, matches) || slices.ContainsFunc(p.loose, matches)
}
