package render

import (
	"encoding/binary"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"vitrine/rules/raw"
)

// Fill returns an activity with what OSIRIS stores in it beside the rendered document when
// it renders it: start_date and end_date of the parts of its dates, affiliated and
// affiliated_positions of its persons. Keys that are there stay as they are. A record that
// carries a rendered document, or that is not BSON, is returned as it is.
func Fill(record bson.Raw, o Options) bson.Raw {
	if rendered, ok := record.Lookup("rendered").DocumentOK(); ok && len(rendered) > 5 {
		return record // as nearly all are
	}
	if !walk(record, func(raw.Element) {}) {
		return record
	}
	p := new(page)
	p.set(o)
	f := filler{page: p, stored: record, record: slices.Clone(record[:len(record)-1])}
	f.dates()
	f.persons()
	out := append(f.record, 0)
	binary.LittleEndian.PutUint32(out, uint32(len(out)))
	return out
}

// filler appends elements to a record that is still open.
type filler struct {
	*page
	stored bson.Raw // the record as it is stored
	record []byte
}

// value returns the stored value of a key, the first if it is doubled.
func (f *filler) value(key string) bson.RawValue {
	e, _ := raw.Lookup(f.stored, key)
	return e.Value()
}

// lacks reports whether a record has no such key, not even with null.
func (f *filler) lacks(key string) bool { return f.value(key).Type == 0 }

// dates appends start_date and end_date. An activity without an end ends on its first day,
// except for an end of null, which says that it is still running.
func (f *filler) dates() {
	from := parseDate(f.value("start"), f.zone)
	if from.year == 0 {
		from = dateOf(f.value("year"), f.value("month"), f.value("day"))
	}
	f.date("start_date", from)
	end := f.value("end")
	switch to := parseDate(end, f.zone); {
	case to.year != 0:
		f.date("end_date", to)
	case end.Type != bson.TypeNull:
		f.date("end_date", from)
	case f.lacks("end_date"):
		f.record = bsoncore.AppendNullElement(f.record, "end_date")
	}
}

// date appends a day. As OSIRIS does, it takes the first day or month for an unknown one.
func (f *filler) date(key string, d date) {
	if d.year == 0 || !f.lacks(key) {
		return
	}
	day := date{d.year, max(d.month, 1), max(d.day, 1)}
	f.record = bsoncore.AppendStringElement(f.record, key, string(isoDates.date(nil, day, english)))
}

// persons appends whether any participant is affiliated, and the positions of the affiliated
// authors.
func (f *filler) persons() {
	affiliated := func(who person) bool { return who.affiliated }
	authors := f.readPersons(nil, f.value("authors"))
	if f.lacks("affiliated") {
		all := f.readPersons(f.readPersons(authors, f.value("editors")), f.value("supervisors"))
		f.record = bsoncore.AppendBooleanElement(f.record, "affiliated", slices.ContainsFunc(all, affiliated))
	}
	if f.lacks("affiliated_positions") {
		f.record = appendList(f.record, "affiliated_positions", affiliatedPositions(authors))
	}
}

// affiliatedPositions returns what OSIRIS says of the places of affiliated authors among all.
func affiliatedPositions(authors []person) []string {
	has := map[string]bool{}
	affiliated := 0
	for _, who := range authors {
		if who.affiliated {
			affiliated++
			has[who.position] = true
		}
	}
	if delete(has, ""); len(has) == 0 {
		return []string{"unspecified"}
	}
	var list []string
	for _, position := range [...]struct {
		name string
		is   bool
	}{
		{"single", len(authors) == 1},
		{"all", affiliated == len(authors)},
		{"first", has["first"]},
		{"last", has["last"]},
		{"first_and_last", has["first"] && has["last"]},
		{"first_or_last", has["first"] || has["last"]},
		{"middle", has["middle"]},
		{"corresponding", has["corresponding"]},
		{"not_first", !has["first"]},
		{"not_last", !has["last"]},
		{"not_middle", !has["middle"]},
		{"not_corresponding", !has["corresponding"]},
		{"not_first_or_last", !has["first"] && !has["last"]},
	} {
		if position.is {
			list = append(list, position.name)
		}
	}
	return list
}
