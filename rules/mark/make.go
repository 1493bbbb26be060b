package mark

import (
	"iter"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/rules"
	"vitrine/rules/display"
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

// Make returns the mark of a record of a view, nil unless the record is public. The error
// is that of Public.
func (d *Directory) Make(view string, record bson.Raw) (bson.Raw, error) {
	if public, err := d.Public(view, record); err != nil || !public {
		return nil, err
	}
	var b raw.Builder
	b.Grow(512)
	b.Add("public", raw.NewBool(true))
	if year := d.year(record); year != 0 {
		b.Add("year", number(year))
	}
	for _, field := range []string{"type", "subtype"} {
		if code := identifier(valueOf(record, field)); code != "" {
			b.AddString(field, code)
		}
	}
	d.addUnits(&b, d.unitsOf(view, record))
	addList(&b, "persons", d.personsOf(view, record))
	addList(&b, "projects", d.projectsOf(view, record))
	addList(&b, "topics", d.topicsOf(record))
	return b.Document(), nil
}

// year returns the year of a record, 0 if none is known.
func (d *Directory) year(record bson.Raw) int32 {
	for _, field := range []string{"year", "start_date", "start"} {
		if year := yearOf(valueOf(record, field), d.o.Now.Location()); year != 0 {
			return year
		}
	}
	return 0
}

// yearOf reads a year: a number, text that begins with four digits, a point in time or a
// document with a year; 0 for all other values.
func yearOf(v bson.RawValue, zone *time.Location) int32 {
	var year int64
	switch v.Type {
	case bson.TypeString:
		s := strings.TrimSpace(scalar(v))
		for year = 0; s != "" && s[0] >= '0' && s[0] <= '9' && year <= 9999; s = s[1:] {
			year = year*10 + int64(s[0]-'0')
		}
	case bson.TypeDateTime:
		year = int64(time.UnixMilli(int64(raw.Uint64(v.Value))).In(zone).Year())
	case bson.TypeEmbeddedDocument:
		if part := valueOf(v.Value, "year"); part.Type != bson.TypeEmbeddedDocument {
			return yearOf(part, zone)
		}
	default:
		if n, integral, ok := raw.Truncate(v); ok && integral {
			year = n
		}
	}
	if year < 1000 || year > 9999 {
		return 0
	}
	return int32(year)
}

// unitsOf returns the units of a record, each once, as far as they are not hidden.
func (d *Directory) unitsOf(view string, record bson.Raw) []string {
	own := d.namesOf(valueOf(record, "units"), view == rules.ViewPersons)
	if len(own) > 0 || view != rules.ViewActivities {
		return own
	}
	for author := range each(valueOf(record, "authors")) {
		if doc, ok := author.DocumentOK(); ok {
			own = append(own, d.namesOf(valueOf(doc, "units"), false)...)
		}
	}
	return own
}

// namesOf returns the identifiers of units: stored as text, or in documents. Of
// memberships only those count that have not ended.
func (d *Directory) namesOf(stored bson.RawValue, memberships bool) (ids []string) {
	for v := range each(stored) {
		doc, isDoc := v.DocumentOK()
		id := identifier(v)
		if isDoc {
			if id = identifier(valueOf(doc, "unit")); id == "" {
				id = identifier(valueOf(doc, "id"))
			}
		}
		past := memberships && isDoc && units.InPast(valueOf(doc, "end"), d.o.Now)
		if u, known := d.units[id]; id != "" && !past && !(known && u.entry.IsZero()) {
			ids = append(ids, id)
		}
	}
	return ids
}

// addUnits adds the units, them with their ancestors, and the names of these.
func (d *Directory) addUnits(b *raw.Builder, ids []string) {
	n := min(len(ids), maxList)
	own, entries, in := make([]string, 0, n), make([]bson.RawValue, 0, n), make([]bson.RawValue, 0, 2*n)
	var others []bson.RawValue // entries of ancestors that are not among the record's own units
	for _, id := range ids {
		if slices.Contains(own, id) || len(own) == maxList {
			continue
		}
		own = append(own, id)
		u, known := d.units[id]
		if !known {
			u = unit{entry: entry("id", id), ancestors: []bson.RawValue{raw.NewString(id)}}
		}
		entries = append(entries, u.entry)
		for _, above := range u.ancestors {
			if !slices.ContainsFunc(in, above.Equal) {
				in = append(in, above)
			}
		}
	}
	addList(b, "units", entries)
	addList(b, "in", in)
	for _, id := range in {
		if text := raw.Text(id); !slices.Contains(own, text) {
			others = append(others, d.units[text].entry)
		}
	}
	addList(b, "above", others)
}

// personsOf returns the entries of a record's public persons of ours.
func (d *Directory) personsOf(view string, record bson.Raw) (entries []bson.RawValue) {
	if view == rules.ViewPersons {
		return found(nil, personEntry(record))
	}
	for _, field := range members[view] {
		for v := range each(valueOf(record, field)) {
			user := identifier(v)
			if doc, ok := v.DocumentOK(); ok {
				user = identifier(valueOf(doc, "user"))
			}
			entries = found(entries, d.persons[user])
		}
	}
	return entries
}

// projectsOf returns the entries of the public projects that a record belongs to.
func (d *Directory) projectsOf(view string, record bson.Raw) (entries []bson.RawValue) {
	if view == rules.ViewProjects {
		return found(nil, projectEntry(record))
	}
	for v := range each(valueOf(record, "projects")) {
		entries = found(entries, d.projects[identifier(v)])
	}
	return entries
}

// topicsOf returns the topics that a record is assigned to.
func (d *Directory) topicsOf(record bson.Raw) (entries []bson.RawValue) {
	stored := raw.Field(bson.RawValue{Type: bson.TypeEmbeddedDocument, Value: record}, d.topics)
	var ids []string
	for v := range each(stored) {
		doc, _ := v.DocumentOK()
		id := identifier(v)
		if doc != nil {
			id = identifier(valueOf(doc, "id"))
		}
		if id == "" || slices.Contains(ids, id) || len(ids) == maxList {
			continue
		}
		name := text(valueOf(doc, "name"))
		if name == "" {
			name = text(valueOf(doc, "display_name"))
		}
		ids, entries = append(ids, id), append(entries, entry("id", id, "name", name))
	}
	return entries
}

// found appends the entry of a person or project, unless there is none, or it is there.
func found(entries []bson.RawValue, e bson.RawValue) []bson.RawValue {
	if e.IsZero() || len(entries) == maxList || slices.ContainsFunc(entries, e.Equal) {
		return entries
	}
	return append(entries, e)
}

// addList adds an array of values, unless there are none.
func addList(b *raw.Builder, name string, values []bson.RawValue) {
	if len(values) > 0 {
		b.AddArray(name, values)
	}
}

// each yields the elements of an array, or a single value.
func each(v bson.RawValue) iter.Seq[bson.RawValue] {
	return func(yield func(bson.RawValue) bool) {
		if v.Type != bson.TypeArray {
			_ = v.IsZero() || yield(v)
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

// valueOf returns the value of a field, the zero value if there is none.
func valueOf(doc bson.Raw, field string) bson.RawValue {
	e, _ := raw.Lookup(doc, field)
	return e.Value()
}

// identifier returns a scalar as text; "" for what identifies nothing.
func identifier(v bson.RawValue) string {
	if s := scalar(v); v.Type != bson.TypeBoolean && len(s) <= maxText {
		return s
	}
	return ""
}

// text returns a scalar as text without blanks around it, cut to maxText.
func text(v bson.RawValue) string {
	s := strings.TrimSpace(scalar(v))
	if len(s) <= maxText {
		return s
	}
	s = s[:maxText]
	for !utf8.ValidString(s) && len(s) > maxText-utf8.UTFMax {
		s = s[:len(s)-1]
	}
	return s
}

// scalar returns a scalar as text, which is valid as long as the value is.
func scalar(v bson.RawValue) string {
	if v.Type == bson.TypeString {
		return raw.Text(v) // most are text, which needs no copy
	}
	return display.Text(v)
}

// number returns an int32 as a value.
func number(n int32) bson.RawValue {
	return bson.RawValue{Type: bson.TypeInt32, Value: []byte{byte(n), byte(n >> 8), byte(n >> 16), byte(n >> 24)}}
}
