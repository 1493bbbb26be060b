package cite

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/rules"
	"vitrine/rules/date"
	"vitrine/rules/display"
	"vitrine/rules/ejson"
	"vitrine/rules/identifier"
	"vitrine/rules/markup"
	"vitrine/rules/pages"
	"vitrine/rules/person"
	"vitrine/rules/raw"
)

// Make reads a record into an item and reuses the item's slices. It reads the record's fields once; the first of
// repeated fields counts. about is the record's mark, of which it needs the persons and the projects; nil if the
// record is not public.
//
// The phases depend on each other: the kind decides which fields are read, a status may empty a
// field that the variables would take, and the key needs all of them.
func (m *Mapping) Make(record, about bson.Raw, it *Item) {
	m.reset(it)
	if len(it.values) != len(m.slots) {
		it.values = make([]bson.RawValue, len(m.slots))
	}
	clear(it.values)
	fields := raw.Read(record)
	for e, ok := fields.Next(); ok; e, ok = fields.Next() {
		if slot, ok := m.slots[string(e.Key)]; ok && it.values[slot].Type == 0 {
			it.values[slot] = e.Value()
		}
	}
	it.ID = idOf(it.values[slotID])
	it.Type, it.Subtype = code(it.values[slotType]), code(it.values[slotSubtype])
	it.be(cmp.Or(m.subtypes[it.Subtype], m.types[it.Type], m.fallback))
	m.unpublished.stated(it)
	it.fill(&it.kind.fields, record, about, m.zone)
	m.unpublished.flagged(it)
	m.notices.read(it)
	m.reuse(it, &it.kind.fields)
	m.readProjects(about, it)
	if it.View == rules.ViewPersons {
		m.people.read(it)
	}
	m.readMembership(about, it)
	if name, ok := m.degrees[it.Degree]; ok {
		it.Degree = name
	}
	it.Key = key(it)
}

// reset empties an item, but keeps the memory of its slices.
func (m *Mapping) reset(it *Item) {
	authors, editors, supervisors := it.Authors[:0], it.Editors[:0], it.Supervisors[:0]
	keywords, projects, badges, values := it.Keywords[:0], it.Projects[:0], it.badges[:0], it.values
	links, units := it.Profile.Links[:0], it.Units[:0]
	*it = Item{} // reset in place: a literal that includes the slices would be built elsewhere and copied
	it.Authors, it.Editors, it.Supervisors = authors, editors, supervisors
	it.Keywords, it.Projects, it.badges, it.values = keywords, projects, badges, values
	it.Profile.Links, it.Units = links, units
	it.View = m.view
}

// be sets the kind of work.
func (it *Item) be(k *work) { it.kind, it.Forms = k, k.Forms }

// idOf returns an _id as text. It keeps control characters and spaces. It identifies the record in
// addresses, so it is not cleaned.
func idOf(v bson.RawValue) string { return strings.ToValidUTF8(ejson.IDText(v), "\uFFFD") }

// fill sets the variables from the record's values. Each variable has its own way of reading: as
// text with markup, as words, as a number of an identifier's syntax, or as a date.
func (it *Item) fill(f *fields, record, about bson.Raw, zone *time.Location) {
	it.Text, it.Title = it.marked(f.Title)
	it.Name = it.text(f.Name)
	if it.View == rules.ViewPersons && it.Text == "" {
		self := person.Of(record)
		it.Text = cmp.Or(self.Name(), it.Name)
		it.Title = markup.Escape(it.Text)
	}
	it.Authors, it.MoreAuthors = it.appendPersons(it.Authors, f.Authors, about)
	it.Editors, it.MoreEditors = it.appendPersons(it.Editors, f.Editors, about)
	it.Supervisors, it.MoreSupervisors = it.appendPersons(it.Supervisors, f.Supervisors, about)
	it.dates(f, zone)
	it.Container, it.HTML.Container = it.marked(f.Container)
	it.Series, it.HTML.Series = it.marked(f.Series)
	it.Event, it.HTML.Event = it.marked(f.Event)
	it.Volume, it.Issue, it.Pages = it.text(f.Volume), it.text(f.Issue), pages.Read(it.text(f.Pages))
	it.Publisher, it.Place, it.Edition = it.text(f.Publisher), it.text(f.Place), it.text(f.Edition)
	it.Number, it.EID = it.text(f.Number), it.text(f.EID)
	it.Degree, it.Version, it.Language = it.text(f.Degree), it.text(f.Version), it.text(f.Language)
	it.identifiers(f)
	it.readAbstract(f.Abstract)
}

// ArticleNumber returns the number of an article, unless it stands for its pages.
func (it *Item) ArticleNumber() string {
	if it.EID == "" || it.Pages == pages.Read(it.EID) {
		return ""
	}
	return it.EID
}

// identifiers sets the work's identifiers, and its address.
func (it *Item) identifiers(f *fields) {
	it.DOI, it.PMID = it.identified(f.DOI, identifier.DOI), identifier.PMID(it.code(f.PMID))
	it.ISBN, it.ISSN = it.numbers(f.ISBN, identifier.ISBN), it.numbers(f.ISSN, identifier.ISSN)
	if address := it.code(f.URL); address != "" {
		it.URL = markup.WebURL(address)
	}
	if it.URL == "" && it.DOI == "" { // publishers' addresses are stored in place of a DOI
		it.URL = it.identified(f.DOI, markup.WebURL)
	}
}

// identified returns the first of the texts in the slots for which read does not return "", as read
// returns it. A field may hold several, or something else beside them.
func (it *Item) identified(slots []int, read func(string) string) string {
	for _, slot := range slots {
		if v := it.values[slot]; v.Type != 0 {
			if found := identifier.First(v, read); found != "" {
				return found
			}
		}
	}
	return ""
}

// numbers returns the numbers that read returns for the texts in the first slot that is not empty,
// separated by ", ". An ISBN of the printed book and one of the e-book are both right, so all are
// kept.
func (it *Item) numbers(slots []int, read func(string) string) string {
	v := it.value(slots)
	if v.Type != bson.TypeArray {
		return read(code(v))
	}
	var all []string
	for e := range raw.Elements(v) {
		if e.Type == bson.TypeArray {
			continue
		}
		if number := read(code(e)); number != "" && !slices.Contains(all, number) {
			all = append(all, number)
		}
	}
	return strings.Join(all, ", ")
}

// dates sets when a work appeared or took place. The start only fills in what year and month leave
// open. An end before the start, or on the same day, is no range.
func (it *Item) dates(f *fields, zone *time.Location) {
	start, end := it.date(f.Start, zone), it.date(f.End, zone)
	d := it.date(f.Year, zone).With(it.value(f.Month), it.value(f.Day))
	if it.Date = d; d.Year == 0 || d.Year == start.Year && (d.Month == 0 || d.Month == start.Month && d.Day == 0) {
		it.Date = start
	}
	if it.Date.Before(end) {
		it.End = end
	}
}

// date returns the first date in the slots.
func (it *Item) date(slots []int, zone *time.Location) (d date.Date) {
	for _, slot := range slots {
		if v := it.values[slot]; v.Type != 0 && d.Year == 0 {
			d = date.Read(v, zone)
		}
	}
	return d
}

// value returns the first value in the slots that is not null, a blank text, or an empty list or
// document. It checks strings itself, since display.Empty keeps blank ones.
func (it *Item) value(slots []int) bson.RawValue {
	for _, slot := range slots {
		v := it.values[slot]
		said := v.Type == bson.TypeString && strings.TrimSpace(raw.Text(v)) != ""
		if said || v.Type != bson.TypeString && !display.Empty(v) {
			return v
		}
	}
	return bson.RawValue{}
}

// text returns the words of the first text in the slots that has some.
func (it *Item) text(slots []int) string { return it.first(slots, markup.Plain) }

// code returns the first identifier, address or code in the slots that is not empty, without reading markup.
func (it *Item) code(slots []int) string { return it.first(slots, clean) }

// marked returns the words of the first text in the slots that has some, and its HTML. Both come
// from the same value.
func (it *Item) marked(slots []int) (words, html string) {
	for _, slot := range slots {
		if v := &it.values[slot]; v.Type != 0 {
			if words = text(*v); words != "" {
				return words, textBy(*v, markup.Title)
			}
		}
	}
	return "", ""
}

// readAbstract is marked for the abstract, without a title that only names it so.
func (it *Item) readAbstract(slots []int) {
	for _, slot := range slots {
		v := it.values[slot]
		it.Abstract = textBy(v, func(s string) string { return markup.Plain(markup.Abstract(s)) })
		if it.Abstract == "" {
			continue
		}
		it.HTML.Abstract = textBy(v, func(s string) string { return markup.Title(markup.Abstract(s)) })
		it.paragraphs = it.HTML.Abstract
		if s := raw.Text(v); v.Type == bson.TypeString && strings.ContainsAny(s, "<\n&") { // otherwise it is one
			it.paragraphs = strings.Join(markup.Paragraphs(markup.Abstract(s)), "\n")
		}
		return
	}
}

// Paragraphs returns the paragraphs of the abstract as HTML with the inline markup of titles.
func (it *Item) Paragraphs() []string {
	if it.paragraphs == "" {
		return nil
	}
	return strings.Split(it.paragraphs, "\n")
}

// first returns the first text in the slots that is not empty, as read by a function.
func (it *Item) first(slots []int, read func(string) string) string {
	for _, slot := range slots {
		if v := &it.values[slot]; v.Type != 0 {
			if s := textBy(*v, read); s != "" {
				return s
			}
		}
	}
	return ""
}

// text returns the words of a value without markup.
func text(v bson.RawValue) string { return textBy(v, markup.Plain) }

// code returns an identifier or code of a value as it is stored, on one line.
func code(v bson.RawValue) string { return textBy(v, clean) }

// textBy returns a scalar as text, a string as read by a function, and an array as its texts joined
// by ", ". A dash counts as empty. Numbers are written without exponent or fraction if they are
// whole, since years and volumes are stored as doubles, too.
func textBy(v bson.RawValue, read func(string) string) string {
	switch v.Type {
	case bson.TypeString:
		if s := strings.TrimSpace(read(raw.Text(v))); s != "-" { // a no-break space alone says nothing
			return s
		}
	case bson.TypeInt32, bson.TypeInt64, bson.TypeDouble, bson.TypeDecimal128:
		if n, whole, ok := raw.Truncate(v); ok && whole {
			return strconv.FormatInt(n, 10)
		}
		if v.Type == bson.TypeDouble && !raw.IsNaN(v) {
			return strconv.FormatFloat(raw.Double(v), 'g', -1, 64)
		}
	case bson.TypeObjectID:
		return v.ObjectID().Hex()
	case bson.TypeArray:
		var all []string
		for e := range raw.Elements(v) {
			if s := textBy(e, read); s != "" && e.Type != bson.TypeArray {
				all = append(all, s)
			}
		}
		return strings.Join(all, ", ")
	}
	return ""
}

// items is the pool of items for With. An Item has many slices; a pool keeps their memory between
// requests.
var items = sync.Pool{New: func() any { return new(Item) }}

// With calls use with the item of a row. The item is valid until use returns. use must not keep the
// item or its slices; its texts point into the row.
func (m *Mapping) With(row bson.Raw, use func(*Item)) {
	it := items.Get().(*Item)
	defer items.Put(it)
	m.Read(row, it)
	use(it)
}
