package markup

import (
	"net/url"
	"strings"

	"golang.org/x/net/html"
)

// LinkKind is what a link of a rendered citation leads to.
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
// or "" where there is none. Such a link is removed and its text stays, and so is any
// other link that is not an absolute URL, since it leads nowhere outside the system that
// wrote it. Absolute URLs stay. citation must be a result of Clean; the result is one
// too, if target returns nothing else.
func Relink(citation string, target func(kind LinkKind, id string) string) string {
	var b strings.Builder
	var removed []bool // of each open link: its start tag
	done := 0
	for i := 0; i < len(citation); {
		lt := strings.IndexByte(citation[i:], '<')
		if lt < 0 {
			break
		}
		i += lt
		end, href := linkTag(citation, i)
		switch name, ends := tagName(citation[i:min(i+4, end)]); {
		case name != "a":
		case !ends:
			to, keep := relinked(citation[i:end], href-i, target)
			removed = append(removed, !keep)
			if to != "" {
				quote := citation[href-1]
				b.WriteString(citation[done:href])
				addressEscapes.WriteString(&b, to)
				done = href + strings.IndexByte(citation[href:], quote)
			}
			if !keep {
				b.WriteString(citation[done:i])
				done = end
			}
		case len(removed) > 0:
			if removed[len(removed)-1] {
				b.WriteString(citation[done:i])
				done = end
			}
			removed = removed[:len(removed)-1]
		}
		i = end
	}
	if done == 0 {
		return citation
	}
	b.WriteString(citation[done:])
	return b.String()
}

// relinked returns the new address of a link, "" if it has none, and whether the link stays.
// Its href's value begins at an offset of the tag.
func relinked(tag string, href int, target func(LinkKind, string) string) (to string, keep bool) {
	if href <= 0 {
		return "", true // a place, not a link
	}
	value := tag[href:]
	value = value[:strings.IndexByte(value, tag[href-1])]
	if strings.HasPrefix(value, "https://") || strings.HasPrefix(value, "http://") {
		return "", true
	}
	value = html.UnescapeString(value)
	for _, l := range [...]struct {
		kind   LinkKind
		prefix string
	}{{LinkActivity, activityLink + "/"}, {LinkPerson, personLink + "/"}} {
		if id, ok := strings.CutPrefix(value, l.prefix); ok {
			id, _, _ = strings.Cut(id, "#")
			id, _, _ = strings.Cut(id, "?")
			if id, err := url.PathUnescape(strings.TrimSuffix(id, "/")); err == nil && id != "" {
				to = target(l.kind, id)
			}
		}
	}
	return to, to != ""
}
