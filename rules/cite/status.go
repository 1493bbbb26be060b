package cite

import (
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.yaml.in/yaml/v3"

	"vitrine/rules"
	"vitrine/rules/raw"
)

// unpublished says which stored fields tell that a work has not appeared in an issue yet.
type unpublished struct {
	Fields []string          // with a status
	Places []string          // with a status in place of what belongs there: "in press" as pages
	Flags  []string          // set if the work is online ahead of print
	Codes  map[string]string // what CSL calls a status

	fields, places, flags []int // the slots
}

// unpublished reads the section "status". The names of its codes are CSL's terms, such as "in
// press".
func (l *loader) unpublished(n *yaml.Node) {
	to := &l.to.unpublished
	l.Mapping(n, "status", "fields", "places", "flags", "codes")
	if n.Decode(to) != nil {
		l.Errorf(n, "status", "expected lists of fields, and codes with names")
	}
	slots := func(key string, names []string) (all []int) {
		for _, name := range names {
			all = append(all, l.slot(n, "status."+key, name))
		}
		return all
	}
	to.fields, to.places, to.flags = slots("fields", to.Fields), slots("places", to.Places), slots("flags", to.Flags)
}

// named returns the status that a stored text names, or "". Brackets around it are not part of it:
// "[in press]".
func (u *unpublished) named(v bson.RawValue) string {
	if v.Type != bson.TypeString {
		return ""
	}
	s := raw.Text(v)
	if s == "" || s[0] >= '0' && s[0] <= '9' { // as nearly all years, volumes and pages: save the look-up
		return ""
	}
	return u.Codes[coded(strings.Trim(clean(s), "[](). "))]
}

// stated sets the status by the fields that name one, and empties the fields that have one in place
// of something else. It runs before the variables are read, so that "in press" never shows as a
// page.
func (u *unpublished) stated(it *Item) {
	if it.View != rules.ViewActivities {
		return
	}
	for _, slot := range u.fields {
		if it.Status == "" {
			it.Status = u.named(it.values[slot])
		}
	}
	for _, slot := range u.places {
		if status := u.named(it.values[slot]); status != "" {
			it.Status, it.values[slot] = status, bson.RawValue{}
		}
	}
}

// ahead is the status of a work that is online, but not in a volume yet. The words are those of the
// APA style.
const ahead = "advance online publication"

// flagged sets the status by flags. They often stay when the work has appeared in a volume, and
// count no more then. It runs after the variables are read, because it looks at volume and pages.
func (u *unpublished) flagged(it *Item) {
	if it.View != rules.ViewActivities || it.Status+it.Volume+it.Pages != "" {
		return
	}
	for _, slot := range u.flags {
		if v := it.values[slot]; v.Type != 0 && raw.FlagOf(v) == raw.FlagYes {
			it.Status = ahead
		}
	}
}
