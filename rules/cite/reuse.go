package cite

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.yaml.in/yaml/v3"

	"vitrine/rules"
	"vitrine/rules/display"
	"vitrine/rules/keyword"
	"vitrine/rules/mark"
	"vitrine/rules/markup"
	"vitrine/rules/raw"
)

// reuse sets what readers may do with a work, and who paid for it. A PDF in the address of the work
// counts, unless the record names another.
func (m *Mapping) reuse(it *Item, f *fields) {
	for _, slot := range f.Keywords {
		if v := it.values[slot]; v.Type != 0 { // most records have none: save the iteration
			it.Keywords = keyword.Append(it.Keywords, v)
		}
	}
	if open, known := m.openAccess.read(func(i int) bson.RawValue {
		return it.values[m.openAccess.slots[i]]
	}); known {
		it.OA = strconv.FormatBool(open)
	}
	it.Rights = it.text(f.Licence)
	it.Licence = m.licence(it.Rights)
	if strings.HasSuffix(it.URL, ".pdf") {
		it.PDF = it.URL
	}
	if address := it.code(f.PDF); address != "" {
		it.PDF = cmp.Or(markup.WebURL(address), it.PDF)
	}
	it.Grant = it.text(f.Grant)
	for _, slot := range f.Funder {
		it.Funder = cmp.Or(it.Funder, m.funder(it.values[slot], it.values[slotResolved]))
	}
	m.readBadges(it)
}

// readProjects sets the projects of an activity. They are in its mark, so that items in marks do
// not repeat them.
func (m *Mapping) readProjects(about bson.Raw, it *Item) {
	if it.View != rules.ViewActivities || raw.Get(about, "projects").Type == 0 {
		return
	}
	for one := range mark.Entries(about, "projects") {
		it.Projects = append(it.Projects, Project{
			ID: part(one, "id"), Title: clean(part(one, "title")),
			Funder: m.funder(raw.Get(one, "funder"), bson.RawValue{}), Grant: clean(part(one, "funding_number")),
		})
	}
}

// licence returns the address of a licence by its name or address, or "".
//
//	"CC BY 4.0" → its address by the rules; an address → itself; other words → ""
func (m *Mapping) licence(rights string) string {
	if rights == "" {
		return ""
	}
	return cmp.Or(m.licences[coded(rights)], markup.WebURL(rights))
}

// coded returns a text as a code: in small letters, with hyphens for spaces.
func coded(s string) string { return strings.ReplaceAll(strings.ToLower(s), " ", "-") }

// openAccess says which stored fields tell whether a work is open access. A record may say it in
// several fields of different systems; the first that says anything counts.
type openAccess struct {
	Fields []string
	Codes  map[string]bool // values other than true and false
	slots  []int           // of Fields
}

// openAccess reads the section and finds the slots of its fields.
func (l *loader) openAccess(n *yaml.Node) {
	to := &l.to.openAccess
	l.Mapping(n, "open_access", "fields", "codes")
	if n.Decode(to) != nil {
		l.Errorf(n, "open_access", "expected a list of fields, and codes with true or false")
	}
	for _, name := range to.Fields {
		to.slots = append(to.slots, l.slot(n, "open_access.fields", name))
	}
}

// read returns what the first field says that says anything. value returns the value of a field by its position.
func (o *openAccess) read(value func(i int) bson.RawValue) (open, known bool) {
	for i := range o.Fields {
		v := value(i)
		if open, known = v.BooleanOK(); !known {
			open, known = o.Codes[coded(text(v))]
		}
		if known {
			return open, true
		}
	}
	return false, false
}

// funder returns the name of an organisation by its code, or by its id among the names that the row
// resolves. It returns other texts unchanged, and "" for another ObjectID. The view resolves ids of
// organizations into the row when it is built (rules/display).
func (m *Mapping) funder(v, resolved bson.RawValue) string {
	id := text(v)
	if name, ok := m.funders[coded(id)]; ok || id == "" {
		return name
	}
	names, _ := resolved.DocumentOK()
	for one := range mark.Entries(names, "organizations") {
		if part(one, "ref") == id {
			return markup.Plain(part(one, "name"))
		}
	}
	if v.Type == bson.TypeObjectID {
		return ""
	}
	return id
}

// badgeRule is a rule for a badge: records get it that have a value in a field or, if value is "", any value.
type badgeRule struct {
	name  map[string]string // by language
	slot  int
	value string
}

// badge reads one rule. Both languages are required, because a list may be shown in either.
func (l *loader) badge(n *yaml.Node, path string) {
	var b badgeRule
	found := l.Mapping(n, path, "name", "field", "value")
	if found["name"] == nil || found["field"] == nil {
		l.Errorf(n, path, "needs a name and a field")
		return
	}
	if found["name"].Decode(&b.name) != nil || b.name["en"] == "" || b.name["de"] == "" {
		l.Errorf(n, path+".name", "expected a name in each language: en, de")
	}
	if found["value"] != nil {
		b.value = found["value"].Value
	}
	b.slot = l.slot(n, path+".field", found["field"].Value)
	l.to.badges = append(l.to.badges, b)
}

// readBadges keeps the numbers of the rules, not their names: an item is stored once for all
// languages.
func (m *Mapping) readBadges(it *Item) {
	for i, b := range m.badges {
		v := it.values[b.slot]
		if v.Type == 0 {
			continue
		}
		switch value := text(v); {
		case b.value == "" && value != "":
			it.badges = append(it.badges, badge{i, value})
		case b.value != "" && slices.Contains(display.Texts(v), b.value):
			it.badges = append(it.badges, badge{i, ""})
		}
	}
}

// Badges returns the texts of an item's badges in a language, such as "Best paper" or "Quartile: Q1".
func (m *Mapping) Badges(it *Item, lang string) (all []string) {
	for _, b := range it.badges {
		if b.rule >= len(m.badges) { // never, unless the store is damaged
			continue
		}
		name := m.badges[b.rule].name[lang]
		if b.value != "" {
			name += ": " + b.value
		}
		all = append(all, name)
	}
	return all
}
