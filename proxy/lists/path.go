package lists

import (
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	"vitrine/rules"
)

// notFound returns the error for an answer 404, with a sentence for people.
func notFound(reason string) error { return &rules.Error{Kind: rules.ErrNotFound, Reason: reason} }

// Path is the path of a request for a list or an item, split once. It ignores a slash at the end, with which people
// and servers complete addresses. Only SplitPath makes one.
type Path struct {
	parts []string  // decoded, at least one, unless the path cannot be read
	ways  []reading // the ways to read the last part
	err   error     // why the path cannot be read
}

// reading is one way to read the last part of a path: as a name and the suffix of a format.
type reading struct {
	name string
	format
}

// SplitPath splits a path as it was sent, with escapes. It splits before it decodes, so that %2F is a part of an id
// and not a separator. A path that cannot be decoded to UTF-8 is 404 for every use.
func SplitPath(path string) (p Path) {
	p.parts = strings.Split(strings.TrimPrefix(strings.TrimSuffix(path, "/"), "/"), "/")
	for i, part := range p.parts {
		var err error
		if p.parts[i], err = url.PathUnescape(part); err != nil || !utf8.ValidString(p.parts[i]) {
			return Path{err: notFound("The path cannot be read.")}
		}
	}
	p.ways = readings(p.last())
	return p
}

func (p Path) last() string { return p.parts[len(p.parts)-1] }

// readings returns the ways to read the last part of a path, the longest name first: the whole part is a name, too.
// A name has at least one character.
//
//	BIO             BIO as a page
//	BIO.json        BIO.json as a page, BIO as JSON
//	BIO.feed.json   BIO.feed.json as a page, BIO.feed as JSON, BIO as a feed in JSON
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
func (p Path) byIDs() bool {
	return len(p.parts) == 2 && p.parts[0] == "items" || len(p.parts) == 3 && p.parts[0] == "lists"
}

// IsPage reports whether a path has no suffix of a format.
func (p Path) IsPage() bool { return len(p.ways) <= 1 }

// MayBePage reports whether a path has no suffix of a format, or one that may belong to an id.
func (p Path) MayBePage() bool { return p.byIDs() || p.IsPage() }

// ForPeople reports whether a list or an item at a path is answered by a page, given the accepted media type.
func (p Path) ForPeople(accepted string) bool {
	return p.IsPage() && negotiate(accepted).suffix == "" && !p.isFile()
}

// isFile reports whether a path is that of an answer for programs alone.
func (p Path) isFile() bool {
	return p.err == nil && (p.parts[0] == "oembed" || p.parts[0] == "sitemap.xml")
}
