package render

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"strings"

	"vitrine/rules/label"
	"vitrine/rules/render/names"
)

// Osiris has the settings of an OSIRIS database for the rendering of activities, in plain values.
// The reader of the database (rules/osiris) has removed values of a wrong type; this package checks
// their meaning. Faults name a part by its From. All of it is part of the fingerprint, except for
// what has the tag "-".
type Osiris struct {
	Categories   []OsirisCategory                 // the types of activities
	Types        []OsirisType                     // their subtypes
	Fields       []OsirisField                    // the institute's own fields
	Vocabularies map[string]map[string]label.Name // names of codes, by vocabulary and code
	Journals     map[string]OsirisJournal         // by _id, as text
	Persons      map[string]string                // the _ids, as text, of persons with a page, by username
}

// OsirisCategory is a type of activities. If a field is empty, the rules below apply. It is a
// record of the collection adminCategories.
type OsirisCategory struct {
	From string `json:"-"`
	ID   string // the type that activities store
	Name label.Name
	Icon string // a Phosphor icon
	// Order is its place among the categories, then the database's order. Rendering does not depend on it.
	Order int `json:"-"`
}

// OsirisType is a subtype. If a field is empty, the category or the rules below apply. It is a
// record of the collection adminTypes.
type OsirisType struct {
	From    string `json:"-"`
	ID      string // the subtype that activities store
	Parent  string // the category's ID
	Name    label.Name
	Icon    string
	Order   int  `json:"-"` // its place in the category
	Ongoing bool // an activity without an end continues

	// The templates, in OSIRIS's notation (docs/osiris.md).
	Print    string // the citation
	Title    string // becomes the link to the activity in lists
	Subtitle string // follows the title in lists
}

// OsirisField is a field that an institute has added to its activities. It is a record of the
// collection adminFields.
type OsirisField struct {
	From    string `json:"-"`
	ID      string // the name under which activities store it
	Name    label.Name
	Kind    OsirisKind
	Default string                // the value for activities that lack the field
	Values  map[string]label.Name // names of the possible values
}

// OsirisKind is the kind of a field.
type OsirisKind string

// The kinds of fields. Any other kind is text.
const (
	OsirisText OsirisKind = "text"
	OsirisDate OsirisKind = "date"
	OsirisURL  OsirisKind = "url"
	OsirisFlag OsirisKind = "flag" // rendered as its name in brackets
)

// OsirisJournal is the part of a journal that activities show. It is a record of the collection
// journals.
type OsirisJournal struct {
	Name string
	Abbr string // if empty, Name is used
}

// Fault is a record of the database, or a part of one, that cannot be used. A fault never keeps the
// rest from being used: an institute edits these records while the program runs.
type Fault struct {
	From   string // collection and _id: "adminTypes 7"
	Reason string
}

// Record returns the collection and the _id of the record.
func (f Fault) Record() (collection, id string) {
	collection, id, _ = strings.Cut(f.From, " ")
	return collection, id
}

// String returns the fault as logs and the command print it: "adminTypes 7: icon is not text".
func (f Fault) String() string { return strings.TrimSpace(f.From) + ": " + f.Reason }

// OsirisVocabularies returns the vocabularies that name codes in fields of activities. rules/osiris
// reads others for labels only.
func OsirisVocabularies() []string {
	return []string{"funding-type", "political_consultation", "pub-language", "thesis"}
}

// WithOsiris returns rules that follow the settings of an OSIRIS database, and r where the database
// has no usable setting. It does not change r. The faults name the unusable parts, in the order of
// o. JSON is only the form in which the settings enter the fingerprint: it sorts maps, so equal
// settings have equal bytes.
func (r *Rules) WithOsiris(o Osiris) (*Rules, []Fault) {
	settings, _ := json.Marshal(o) // cannot fail: o has only texts in maps and lists
	l := &osirisLoader{
		rules: &Rules{
			dateParts:   true,
			slots:       maps.Clone(r.slots),
			userSlots:   r.userSlots,
			types:       typeRules{named: maps.Clone(r.types.named), other: r.types.other},
			fingerprint: fingerprint(osirisVersion+r.fingerprint, settings),
		},
		overlaid: map[string]*typeRules{},
	}
	for out, path := range map[int]string{outAuthors: "authors", outEditors: "editors"} {
		persons := osirisPersons(l.rules.source(path), names.OsirisAuthors(o.Persons))
		l.rules.templates[out] = []instr{{kind: fieldPiece, fields: []*field{persons}}}
	}
	l.fields = l.osirisFields(o)
	seen := map[string]bool{}
	for i, c := range o.Categories {
		if l.claim(seen, c.From, c.ID) {
			l.category(c, osirisPlace(c.Order, i))
		}
	}
	clear(seen)
	for i, t := range o.Types {
		if l.claim(seen, t.From, t.ID) {
			l.subtype(t, osirisPlace(t.Order, i))
		}
	}
	for _, t := range l.overlaid {
		t.other.label = t.label // OSIRIS does the same with unknown subtypes
	}
	return l.rules, l.faults
}

// osirisPlace returns a place before those of the rules below, for the record i of a collection.
// The order counts first, then the position i; both are cut so that no two pairs overlap.
func osirisPlace(order, i int) int {
	const most = 1 << 20
	return (max(min(order, most), -most)-2*most)*most + min(i, most-1)
}

// osirisVersion is part of the fingerprint: raise it when OSIRIS's templates render differently.
// Rows are then rendered again, and only where an OSIRIS database is used.
const osirisVersion = "2"

// osirisLoader lays the settings of a database over rules and collects faults.
type osirisLoader struct {
	rules    *Rules
	fields   map[string]*field     // the fields that templates may name
	overlaid map[string]*typeRules // changed copies of the types in the rules below, by ID
	faults   []Fault
}

// fault records a part that cannot be used, by its From.
func (l *osirisLoader) fault(from, format string, args ...any) {
	l.faults = append(l.faults, Fault{From: from, Reason: fmt.Sprintf(format, args...)})
}

// claim reports whether an ID can be used. The first part with an ID counts, as in OSIRIS.
func (l *osirisLoader) claim(seen map[string]bool, from, id string) bool {
	switch {
	case id == "":
		l.fault(from, "id is missing")
		return false
	case seen[id]:
		l.fault(from, "id %q is given twice", id)
		return false
	}
	seen[id] = true
	return true
}

// category lays a category's name, icon and place over the type in the rules below. Its subtypes
// without an icon of their own inherit the icon.
func (l *osirisLoader) category(c OsirisCategory, place int) {
	t := l.overlaidType(c.ID)
	t.place = place
	if c.Name != (label.Name{}) {
		t.label = inLanguages(c.Name)
	}
	t.icon = l.icon(c.From, c.Icon)
	t.other.icon = cmp.Or(t.icon, t.other.icon)
}

// overlaidType returns a type that may be changed: a copy of the type in the rules below or, for an
// unknown type, of their fallback. If the category has an icon, the type gets it. The rules below
// may be in use by others, so nothing of them is changed in place.
func (l *osirisLoader) overlaidType(id string) *typeRules {
	if t, ok := l.overlaid[id]; ok {
		return t
	}
	t := *l.rules.types.find(id)
	other := *t.other
	t.named, t.other, t.icon = maps.Clone(t.named), &other, ""
	l.overlaid[id], l.rules.types.named[id] = &t, &t
	return &t
}

// subtype lays a subtype over the rules below. A category's icon replaces the icons of their
// subtypes. A subtype of an unknown category is used all the same, with a fault.
func (l *osirisLoader) subtype(o OsirisType, place int) {
	if o.Parent == "" {
		l.fault(o.From, "parent is missing")
		return
	}
	if _, ok := l.rules.types.named[o.Parent]; !ok {
		l.fault(o.From, "parent %q is no category", o.Parent)
	}
	t := l.overlaidType(o.Parent)
	s := *t.find(o.ID)
	if o.Name != (label.Name{}) {
		s.label = inLanguages(o.Name)
	}
	s.icon = cmp.Or(l.icon(o.From, o.Icon), t.icon, s.icon)
	s.ongoing, s.place = o.Ongoing, place
	l.osirisTemplates(o, &s)
	t.named[o.ID] = &s
}

// icon returns the name of an icon, or "" if it is unusable.
func (l *osirisLoader) icon(from, name string) string {
	if name != "" && className(name) != name {
		l.fault(from, "icon %q is not an icon's name", name)
		return ""
	}
	return name
}

// inLanguages returns a name for each language. A missing language gets the other's name.
func inLanguages(n label.Name) [languages]string {
	return [languages]string{english: cmp.Or(n.EN, n.DE), german: cmp.Or(n.DE, n.EN)}
}
