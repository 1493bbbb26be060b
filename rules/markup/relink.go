package markup

import (
	"net/url"
	"strings"

	"golang.org/x/net/html"
)

// LinkKind is the kind of record that a link of a rendered citation leads to.
type LinkKind string

// The kinds of links that Relink asks about.
const (
	LinkActivity LinkKind = "activity" // /activities/view/{id}
	LinkPerson   LinkKind = "person"   // /profile/{id}
)

// addressEscapes writes an address so that it ends no attribute, as Clean would.
var addressEscapes = strings.NewReplacer("&", "&amp;", "'", "%27", `"`, "%22", "<", "%3C", ">", "%3E")

// Relink gives the links of a citation to a site that does not have the pages they lead
// to: target returns the http or https URL, or the path, for the record of a kind and id,
// or "" for a record without one. Relink removes such a link and keeps its text. It does the
// same to any other link that is not an absolute URL, since it leads nowhere outside the
// system that wrote it. Absolute URLs stay. citation must be a result of Clean; the result is one
// too, if target returns nothing else.
func Relink(citation string, target func(kind LinkKind, id string) string) string {
	return editLinks(citation, func(address string) (size int, to string, keep bool) {
		if isAbsolute(address) {
			return 0, "", true
		}
		to = targetOf(html.UnescapeString(address), target)
		return len(address), addressEscapes.Replace(to), to != ""
	})
}

// targetOf returns what target returns for an address, "" if it is not that of a record.
func targetOf(address string, target func(LinkKind, string) string) string {
	for _, l := range [...]struct {
		kind   LinkKind
		prefix string
	}{{LinkActivity, activityLink + "/"}, {LinkPerson, personLink + "/"}} {
		if id, ok := strings.CutPrefix(address, l.prefix); ok {
			id, _, _ = strings.Cut(id, "#")
			id, _, _ = strings.Cut(id, "?")
			if id, err := url.PathUnescape(strings.TrimSuffix(id, "/")); err == nil && id != "" {
				return target(l.kind, id)
			}
		}
	}
	return ""
}
