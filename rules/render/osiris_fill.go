package render

import (
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/rules"
	"vitrine/rules/date"
	"vitrine/rules/person"
	"vitrine/rules/raw"
	"vitrine/rules/render/names"
)

// Fill returns an activity with the fields that OSIRIS stores beside the rendered document:
// start_date and end_date from the parts of its dates, affiliated and affiliated_positions from its
// persons. Existing fields stay. Fill returns a record unchanged if it has a rendered document or
// is not BSON. OSIRIS stores them together with the rendered document.
func Fill(record bson.Raw, o Options) bson.Raw {
	if rendered, ok := record.Lookup("rendered").DocumentOK(); ok && len(rendered) > 5 {
		return record // nearly all records have nothing to fill in
	}
	var b raw.Builder
	b.Grow(len(record) + filledSize)
	if !walk(record, func(e raw.Element) { b.Add(string(e.Key), e.Value()) }) {
		return record
	}
	value := func(key string) bson.RawValue { return raw.Get(record, key) }
	add := func(key string, v bson.RawValue) {
		if v.Type != 0 && value(key).Type == 0 {
			b.Add(key, v)
		}
	}
	p := new(page)
	p.set(o)
	from, end := date.Read(value("start"), p.zone), value("end")
	if from.Year == 0 {
		from = date.Read(value("year"), p.zone).With(value("month"), value("day"))
	}
	add("start_date", firstDay(from))
	switch to := date.Read(end, p.zone); {
	case to.Year != 0:
		add("end_date", firstDay(to))
	case end.Type == bson.TypeNull: // still running
		add("end_date", end)
	default:
		add("end_date", firstDay(from))
	}
	authors := p.readPersons(nil, value("authors"))
	all := authors
	for _, field := range person.Lists(rules.ViewActivities)[1:] {
		all = p.readPersons(all, value(field))
	}
	add("affiliated", raw.NewBool(slices.ContainsFunc(all, func(who names.Person) bool { return who.Affiliated })))
	add("affiliated_positions", listOf(affiliatedPositions(authors)))
	return b.Document()
}

// filledSize is how many bytes Fill adds to most records. It only saves the buffer from growing.
const filledSize = 160

// firstDay returns a date as records store it. As OSIRIS does, it uses 1 for an unknown month or day.
func firstDay(d date.Date) bson.RawValue {
	if d.Year == 0 {
		return bson.RawValue{}
	}
	return raw.NewString(date.New(d.Year, max(d.Month, 1), max(d.Day, 1)).String())
}

// affiliatedPositions returns OSIRIS's words for the positions of affiliated authors among all authors.
//
//	three authors, only the first affiliated → "first", "first_or_last",
//	"not_last", "not_middle", "not_corresponding"
func affiliatedPositions(authors []names.Person) []string {
	has := map[string]bool{}
	affiliated := 0
	for _, who := range authors {
		if who.Affiliated {
			affiliated++
			has[who.Position] = true
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
