package purge

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/cespare/xxhash/v2"
	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/view/index"
	"vitrine/proxy/response"
	"vitrine/rules/ejson"
	"vitrine/rules/mark"
	"vitrine/rules/raw"
)

// Headers returns the headers with the tags of a plan's answer.
func Headers(p response.Plan) []response.Header {
	tags := []string{"view-" + p.View}
	for _, about := range p.About {
		tags = append(tags, Tag(about.Kind, about.ID))
	}
	// An answer about no certain record may change with any of them.
	if len(p.About) == 0 {
		tags = append(tags, "any-"+p.View)
	}
	for _, view := range p.Also {
		tags = append(tags, "view-"+view, "any-"+view)
	}
	return headersOf(tags)
}

// headersOf returns the tags in both notations: Fastly and Varnish read the first, Cloudflare the second.
func headersOf(tags []string) []response.Header {
	return []response.Header{{Name: "Surrogate-Key", Value: strings.Join(tags, " ")},
		{Name: "Cache-Tag", Value: strings.Join(tags, ",")}}
}

// keptView stands for a view in the tags of answers that are kept of the other server.
const keptView = "upstream"

// KeptHeaders returns the headers with the tags of an answer that is kept of the other server's. It has those of the
// views that it depends on, too, so that caches ask again when one of them changes.
func KeptHeaders(path string, until []string) []response.Header {
	tags := []string{"view-" + keptView, Tag(keptView, path)}
	for _, name := range until {
		tags = append(tags, Tag("view", name), Tag("any", name))
	}
	return headersOf(tags)
}

// longestID is the longest id in a tag, so that tags fit into the headers of all targets.
const longestID = 128

// Tag returns the tag of a kind of subject, such as unit, with an id or, if that is long, its hash. It escapes
// characters of the id that could end a tag or have a meaning in a pattern.
func Tag(kind, id string) string {
	if len(id) > longestID {
		return kind + "-" + strconv.FormatUint(xxhash.Sum64String(id), 16)
	}
	const hex = "0123456789ABCDEF"
	tag := []byte(kind + "-")
	for _, c := range []byte(id) {
		switch {
		case c >= '0' && c <= '9', c >= 'A' && c <= 'Z', c >= 'a' && c <= 'z', c == '-', c == '_':
			tag = append(tag, c)
		default:
			tag = append(tag, '%', hex[c>>4], hex[c&15])
		}
	}
	return string(tag)
}

// mostChanges is how many changes of a view are sent one by one; for more, the tag of the whole view is sent.
const mostChanges = 1000

// tagsOf returns the tags of changes of a view; nil means that the whole view may have changed.
func tagsOf(view string, changes []index.Change) []string {
	if changes == nil || len(changes) > mostChanges {
		return []string{"view-" + view}
	}
	tags := map[string]bool{"any-" + view: true}
	for _, c := range changes {
		tags[Tag("id", ejson.IDText(c.ID))] = true
		// Both versions count: a record that leaves a unit changes the list that it was in.
		for _, row := range []bson.Raw{c.Old, c.Doc} {
			about := mark.Of(row)
			for kind, list := range map[string]string{"unit": "units", "person": "persons", "project": "projects",
				"topic": "topics"} {
				for one := range mark.Entries(about, list) {
					for _, name := range []string{"id", "orcid"} {
						if id := raw.StringField(one, name); id != "" {
							tags[Tag(kind, id)] = true
						}
					}
				}
			}
			for v := range raw.Elements(raw.Get(about, "in")) {
				if id, ok := v.StringValueOK(); ok {
					tags[Tag("unit", id)] = true
				}
			}
		}
	}
	return slices.Sorted(maps.Keys(tags))
}
