package mark

import (
	"cmp"
	"iter"
	"slices"
	"strconv"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/rules"
	"vitrine/rules/date"
	"vitrine/rules/display"
	"vitrine/rules/fold"
	"vitrine/rules/raw"
	"vitrine/rules/units"
)

const (
	maxText = 1000  // bytes of an identifier or a name
	maxList = 1000  // entries of a list
	maxRead = 20000 // elements of a stored list that are read
)

// members are the fields that name the persons of a record, by view.
var members = map[string][]string{
	rules.ViewActivities: {"authors", "editors"},
	rules.ViewProjects:   {"persons"},
	rules.ViewEvents:     {"organizers", "participants"},
}

// mark is the mark of a record, as the package's documentation describes it.
type mark struct {
	Public   bool     `bson:"public"`
	Year     int32    `bson:"year,omitempty"`
	Type     string   `bson:"type,omitempty"`
	Subtype  string   `bson:"subtype,omitempty"`
	Units    []entry  `bson:"units,omitempty"`
	In       []string `bson:"in,omitempty"`
	Above    []entry  `bson:"above,omitempty"`
	Persons  []entry  `bson:"persons,omitempty"`
	Projects []entry  `bson:"projects,omitempty"`
	Topics   []entry  `bson:"topics,omitempty"`
	ByTitle  string   `bson:"by_title,omitempty"`
	ByAuthor string   `bson:"by_author,omitempty"`
}

// entry is what a mark has of a unit, person, project or topic. Without an id it is none: what
// it would be of is hidden.
type entry struct {
	ID     string `bson:"id"`
	Name   string `bson:"name,omitempty"`
	NameDE string `bson:"name_de,omitempty"`
	ORCID  string `bson:"orcid,omitempty"`
	Title  string `bson:"title,omitempty"`
}

// Make returns the mark of a record of a view, nil unless the record is public. The error
// is that Options.Public cannot be decided for the record.
func (d *Directory) Make(view string, record bson.Raw) (bson.Raw, error) {
	public, err := d.public(view, record)
	if !public {
		return nil, err
	}
	m := mark{
		Public: true, Year: d.year(record), Type: idOf(record, "type"), Subtype: idOf(record, "subtype"),
		Units: d.unitsOf(view, record), Persons: d.personsOf(view, record),
		Projects: d.projectsOf(view, record), Topics: d.topicsOf(record),
		ByTitle: sortKey(record, titlePath), ByAuthor: sortKey(record, authorPath),
	}
	m.addAncestors(d)
	return bson.Marshal(m)
}

// titlePath and authorPath are of the texts that records are sorted by.
var titlePath, authorPath = raw.PathOf("title"), raw.PathOf("authors.0.last")

// sortKey returns what sorts a record by the text at a path.
func sortKey(record bson.Raw, path raw.Path) string {
	return trimmed(fold.Key(display.Text(raw.SortField{Path: path}.Key(record))))
}

// year returns the first year that a record has in a date, or in text that begins with four
// digits; 0 if it has none.
func (d *Directory) year(record bson.Raw) int32 {
	for _, field := range []string{"year", "start_date", "start"} {
		v := raw.Get(record, field)
		year := date.Read(v, d.o.Now.Location()).Year
		if v.Type == bson.TypeString {
			s := strings.TrimSpace(raw.Text(v))
			year, _ = strconv.Atoi(s[:len(s)-len(strings.TrimLeft(s, "0123456789"))])
		}
		if 1000 <= year && year <= 9999 {
			return int32(year)
		}
	}
	return 0
}

// unitsOf returns the units of a record, each once, as far as they are not hidden.
func (d *Directory) unitsOf(view string, record bson.Raw) []entry {
	own := d.appendUnits(nil, raw.Get(record, "units"), view == rules.ViewPersons)
	if len(own) > 0 || view != rules.ViewActivities {
		return own
	}
	for author := range each(raw.Get(record, "authors")) {
		doc, _ := author.DocumentOK()
		own = d.appendUnits(own, raw.Get(doc, "units"), false)
	}
	return own
}

// appendUnits appends stored units: their ids, or documents with them. Of memberships only
// those count that have not ended.
func (d *Directory) appendUnits(all []entry, stored bson.RawValue, memberships bool) []entry {
	for v := range each(stored) {
		membership, _ := v.DocumentOK()
		if memberships && units.InPast(raw.Get(membership, "end"), d.o.Now) {
			continue
		}
		id := cmp.Or(reference(v, "unit"), reference(v, "id"))
		u, known := d.units[id]
		if !known {
			u.ID = id
		}
		all = found(all, u)
	}
	return all
}

// addAncestors adds the ids of the units and of all above them, and the entries of those that
// are not among the units. Units that are each other's parents end the climb.
func (m *mark) addAncestors(d *Directory) {
	var climbed []string
	for _, own := range m.Units {
		for next := []string{own.ID}; len(next) > 0; next = next[1:] {
			if id := next[0]; !slices.Contains(climbed, id) {
				climbed = append(climbed, id)
				next = append(next, d.parents[id]...)
			}
		}
	}
	for _, id := range climbed {
		switch above := d.units[id]; {
		case slices.ContainsFunc(m.Units, func(own entry) bool { return own.ID == id }):
			m.In = append(m.In, id)
		case above.ID != "":
			m.In, m.Above = append(m.In, id), append(m.Above, above)
		}
	}
}

// personsOf returns the entries of a record's public persons of ours.
func (d *Directory) personsOf(view string, record bson.Raw) (entries []entry) {
	if view == rules.ViewPersons {
		return found(nil, personEntry(record))
	}
	for _, field := range members[view] {
		for v := range each(raw.Get(record, field)) {
			entries = found(entries, d.persons[reference(v, "user")])
		}
	}
	return entries
}

// projectsOf returns the entries of the public projects that a record belongs to.
func (d *Directory) projectsOf(view string, record bson.Raw) (entries []entry) {
	if view == rules.ViewProjects {
		return found(nil, projectEntry(record))
	}
	for v := range each(raw.Get(record, "projects")) {
		entries = found(entries, d.projects[identifier(v)])
	}
	return entries
}

// topicsOf returns the topics that a record is assigned to.
func (d *Directory) topicsOf(record bson.Raw) (entries []entry) {
	stored := raw.Field(bson.RawValue{Type: bson.TypeEmbeddedDocument, Value: record}, d.topics)
	for v := range each(stored) {
		topic, _ := v.DocumentOK()
		name := cmp.Or(textOf(topic, "name"), textOf(topic, "display_name"))
		entries = found(entries, entry{ID: reference(v, "id"), Name: name})
	}
	return entries
}

// found appends an entry, unless it is none, or one with its id is there.
func found(entries []entry, e entry) []entry {
	if e.ID == "" || len(entries) == maxList || slices.ContainsFunc(entries, func(other entry) bool { return other.ID == e.ID }) {
		return entries
	}
	return append(entries, e)
}

// each yields the elements of an array, or a single value.
func each(v bson.RawValue) iter.Seq[bson.RawValue] {
	return func(yield func(bson.RawValue) bool) {
		if v.Type != bson.TypeArray {
			yield(v)
			return
		}
		n := 0
		for element := range raw.Elements(v) {
			if n++; n > maxRead || !yield(element) {
				return
			}
		}
	}
}

// reference returns the identifier that a value is, or that a document has in a field.
func reference(v bson.RawValue, field string) string {
	if doc, ok := v.DocumentOK(); ok {
		return idOf(doc, field)
	}
	return identifier(v)
}

// idOf returns the identifier in a field.
func idOf(doc bson.Raw, field string) string { return identifier(raw.Get(doc, field)) }

// identifier returns a scalar as text; "" for what identifies nothing.
func identifier(v bson.RawValue) string {
	if s := display.Text(v); v.Type != bson.TypeBoolean && len(s) <= maxText {
		return s
	}
	return ""
}

// textOf returns a scalar in a field as text, trimmed.
func textOf(doc bson.Raw, field string) string { return trimmed(display.Text(raw.Get(doc, field))) }

// trimmed returns a text without blanks around it, cut to maxText.
func trimmed(s string) string {
	if s = strings.TrimSpace(s); len(s) <= maxText {
		return s
	}
	return strings.ToValidUTF8(s[:maxText], "")
}
