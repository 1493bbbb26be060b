package mark

import (
	"iter"
	"slices"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/rules"
	"vitrine/rules/date"
	"vitrine/rules/display"
	"vitrine/rules/fold"
	"vitrine/rules/markup"
	"vitrine/rules/person"
	"vitrine/rules/raw"
)

const (
	maxText = 1000  // bytes of an identifier or a name
	maxList = 1000  // entries of a list
	maxRead = 20000 // elements read from a stored list
)

// mark is the mark of a record; see the package comment.
type mark struct {
	Type, Subtype     string
	Units             []entry
	In                []string
	Above             []entry
	Persons, Projects []entry
	Topics, Keywords  []entry
	ByTitle, ByAuthor string
	Entered, Updated  int64
	Past              bool
	Cited             Citation
}

// entry is the part of a unit, person, project, topic or keyword that a mark holds. Marks leave out an
// entry without an id. What comes from a field that a site may hide has the name of that field, so that both are
// hidden.
type entry struct {
	ID     string
	Name   string
	NameDE string // name_de
	ORCID  string
	Title  string
	Funder string
	Grants string // funding_number
}

// Make returns the mark of a record of a view, or nil if the record is not public, and what the record lacks. It
// returns an error if it cannot evaluate Options.Public for the record.
func (d *Directory) Make(view string, record bson.Raw) (made bson.Raw, lacks Lack, err error) {
	public, err := d.public(view, record)
	if !public {
		return nil, d.withheld(view, record, err), err
	}
	self := bson.RawValue{Type: bson.TypeEmbeddedDocument, Value: record}
	field := func(name string) bson.RawValue { return raw.Get(record, name) }
	m := mark{
		Type: idOf(record, ofAny.Type), Subtype: idOf(record, ofAny.Subtype),
		Units:    appendEntries(nil, d.unit, field(ofAny.Units)),
		Projects: appendEntries(nil, d.project, field(ofAny.Projects)),
		Topics:   appendEntries(nil, topicEntry, raw.Field(self, d.topics)),
		ByTitle:  trim(fold.Key(plain(raw.SortField{Path: titlePath}.Key(record)))),
		Entered:  d.entryTime(record), Updated: d.updateTime(record),
	}
	visible := d.visible(record)
	m.addPersons(d, view, visible)
	switch view {
	case rules.ViewProjects:
		m.Projects = appendEntry(nil, projectEntry(record))
		if len(m.Persons) > 0 {
			m.ByAuthor = trim(fold.Key(m.Persons[0].Name))
		}
	case rules.ViewPersons:
		self := personEntry(record)
		m.Persons, m.Units = appendEntry(nil, self), nil
		if m.Past = !holds(record, ofPerson.Active); d.o.Portal == nil || !m.Past {
			m.Units = appendEntries(nil, d.membership, field(ofPerson.Units))
		}
		m.ByTitle = trim(fold.Key(self.Name))
		m.ByAuthor = m.ByTitle
	}
	m.addAncestors(d)
	if d.o.Cited != nil {
		m.Cited = d.o.Cited(view, visible, d.visible(m.related()))
		for _, word := range m.Cited.Keywords {
			m.Keywords = appendEntry(m.Keywords, keywordEntry(word))
		}
	}
	return m.document(), m.lacks(view), nil
}

// addPersons adds the persons of all lists of a record and, if it has no units of its own, theirs. An activity
// without authors is sorted by its editors, or else by its supervisors.
func (m *mark) addPersons(d *Directory, view string, record bson.Raw) {
	entryOf, hasUnits := d.person, len(m.Units) > 0
	if view == rules.ViewActivities && m.Type != publication {
		entryOf = d.participant
	}
	for _, name := range person.Lists(view) {
		list := raw.Get(record, name)
		if list.Type == 0 {
			continue
		}
		m.Persons = appendEntries(m.Persons, entryOf, list)
		if view == rules.ViewActivities && m.ByAuthor == "" {
			m.ByAuthor = authorKey(list)
		}
		if hasUnits {
			continue
		}
		for one := range each(list) {
			doc, _ := one.DocumentOK()
			m.Units = appendEntries(m.Units, d.unit, raw.Get(doc, inPerson.Units))
		}
	}
}

// titlePath is the path of the text by which records are sorted by title.
var titlePath = raw.PathOf(ofAny.Title)

// authorKey returns the sort key of the first person of a stored list: the family name, or a whole name.
func authorKey(list bson.RawValue) string {
	first := person.First(list)
	return trim(fold.Key(first.Family + first.Literal))
}

// entryTime returns when a record was entered, by the rule in the package comment, or 0.
func (d *Directory) entryTime(record bson.Raw) int64 {
	zone, stored := d.o.Now.Location(), raw.Get(record, ofAny.Created)
	on, exact := date.Read(stored, zone), stored.Type == bson.TypeDateTime
	at := on.Time(zone)
	if exact {
		at = stored.Time()
	}
	id, _ := raw.Get(record, ofAny.ID).ObjectIDOK() // zero if the _id has another type
	made := id.Timestamp().In(zone)
	year, month, day := d.o.Now.Date()
	tomorrow := time.Date(year, month, day+1, 0, 0, 0, 0, zone)
	if year, month, day := made.Date(); on.Day == 0 || !at.Before(tomorrow) ||
		!exact && on == date.New(year, int(month), day) {
		at = made
	}
	if !at.Before(tomorrow) {
		return 0
	}
	return at.Unix()
}

// updateTime returns the beginning of the day on which a record was last changed, or 0.
func (d *Directory) updateTime(record bson.Raw) int64 {
	zone := d.o.Now.Location()
	if on := date.Read(raw.Get(record, ofAny.Updated), zone); on.Day != 0 {
		return on.Time(zone).Unix()
	}
	return 0
}

// addAncestors adds the ids of the units and of their ancestors, and the entries of the ancestors that are not among
// the units. It stops at units that it has already added, so cycles are harmless.
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

// appendEntries appends the entries of the records that a stored list refers to.
func appendEntries(entries []entry, entryOf func(bson.RawValue) entry, list bson.RawValue) []entry {
	for v := range each(list) {
		entries = appendEntry(entries, entryOf(v))
	}
	return entries
}

// appendEntry appends an entry, unless it has no id or an entry with the same id exists.
func appendEntry(entries []entry, e entry) []entry {
	if e.ID == "" || len(entries) == maxList ||
		slices.ContainsFunc(entries, func(other entry) bool { return other.ID == e.ID }) {
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

// reference returns the identifier in a value, or in a field of a document.
func reference(v bson.RawValue, field string) string {
	if doc, ok := v.DocumentOK(); ok {
		return idOf(doc, field)
	}
	return idText(v)
}

func idOf(doc bson.Raw, field string) string { return idText(raw.Get(doc, field)) }

// idText returns a scalar as text. It returns "" for booleans and texts that are too long.
func idText(v bson.RawValue) string {
	if s := display.Text(v); v.Type != bson.TypeBoolean && len(s) <= maxText {
		return s
	}
	return ""
}

// textOf returns the words of a scalar in a field, cut to maxText.
func textOf(doc bson.Raw, field string) string { return plain(raw.Get(doc, field)) }

func plain(v bson.RawValue) string { return trim(markup.Plain(display.Text(v))) }

// trim returns a text without white space at its ends, cut to maxText.
func trim(s string) string { return markup.CutText(strings.TrimSpace(s), maxText) }
