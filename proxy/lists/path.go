package lists

import (
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	"vitrine/rules"
)

func notFound(reason string) error { return &rules.Error{Kind: rules.ErrNotFound, Reason: reason} }

// partsOf returns the decoded parts of a path, at least one. It ignores a slash at the end.
func partsOf(path string) ([]string, error) {
	parts := strings.Split(strings.TrimPrefix(strings.TrimSuffix(path, "/"), "/"), "/")
	for i, part := range parts {
		var err error
		if parts[i], err = url.PathUnescape(part); err != nil || !utf8.ValidString(parts[i]) {
			return nil, notFound("The path cannot be read.")
		}
	}
	return parts, nil
}

// reading is one way to read the last part of a path: as a name and the suffix of a format.
type reading struct {
	name string
	format
}

// readings returns the ways to read the last part of a path, the longest name first: the whole part is a name, too. A
// name has at least one character.
func readings(part string) []reading {
	all := []reading{{part, formats[0]}}
	for _, f := range formats[1:] {
		if name, found := strings.CutSuffix(part, f.suffix); found && name != "" {
			all = append(all, reading{name, f})
		}
	}
	slices.SortFunc(all, func(a, b reading) int { return len(b.name) - len(a.name) })
	return all
}

// byIDs reports whether a path is of an item or of a list about a subject: their ids may end like a format.
func byIDs(parts []string) bool {
	return len(parts) == 2 && parts[0] == "items" || len(parts) == 3 && parts[0] == "lists"
}

// suffixOf returns the suffix of a format at the end of a path, or "".
func suffixOf(path string) string {
	parts, err := partsOf(path)
	if err != nil {
		return ""
	}
	all := readings(parts[len(parts)-1])
	return all[len(all)-1].suffix
}

// IsPage reports whether a path has no suffix of a format.
func IsPage(path string) bool { return suffixOf(path) == "" }

// MayBePage reports whether a path has no suffix of a format, or one that may belong to an id.
func MayBePage(path string) bool {
	parts, err := partsOf(path)
	return err == nil && byIDs(parts) || IsPage(path)
}

// ForPeople reports whether a list or an item at a path is answered by a page, given the accepted media type.
func ForPeople(path, accepted string) bool {
	name := strings.TrimSuffix(path, "/")
	return IsPage(path) && negotiate(accepted).suffix == "" && name != "/oembed" && name != "/sitemap.xml"
}
