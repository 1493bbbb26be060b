package markup

import (
	"net/url"
	"strings"

	"golang.org/x/net/html"
)

// LinkKind is the kind of record that a link of a rendered citation leads to. Citations that OSIRIS renders link to
// its own pages; the kind says to which.
type LinkKind string

// The kinds of links for which Relink calls target.
const (
	LinkActivity LinkKind = "activity" // /activities/view/{id}
	LinkPerson   LinkKind = "person"   // /profile/{id}
)

// addressEscapes escapes an address for an attribute in the way that Clean does. Clean would otherwise change the
// result, which is kept as clean HTML.
var addressEscapes = strings.NewReplacer("&", "&amp;", "'", "%27", `"`, "%22", "<", "%3C", ">", "%3E")

// Relink points the links of a citation at a site that does not have the pages that they name. target returns the
// http or https URL, or the path, for the record of a kind and id, or "" to remove the link and keep its text. Relink
// also removes any other link that is not an absolute URL, because it works only within the system that wrote it.
// Absolute URLs stay. citation must be a result of Clean; the result is one, too, as long as target returns only such
// addresses.
func Relink(citation string, target func(kind LinkKind, id string) string) string {
	return editLinks(citation, func(address string) (size int, to string, keep bool) {
		if isAbsolute(address) {
			return 0, "", true
		}
		to = targetOf(html.UnescapeString(address), target)
		return len(address), addressEscapes.Replace(to), to != ""
	})
}

// targetOf returns the target of an address, or "" if the address does not lead to a record. /profile/ada?tab=2#top
// leads to the person ada. Query and fragment belong to the page that is not there.
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
