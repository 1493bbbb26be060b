package cite

import (
	"cmp"
	"strconv"
	"strings"
	"sync"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/rules/date"
	"vitrine/rules/display"
	"vitrine/rules/ejson"
	"vitrine/rules/raw"
)

// Read reads a row into an item and reuses the item's slices. It passes over the fields of
// the row once; of doubled fields the first counts.
func (r *Rules) Read(row bson.Raw, it *Item) {
	authors, editors, values := it.Authors[:0], it.Editors[:0], it.values
	if len(values) != len(r.slots) {
		values = make([]bson.RawValue, len(r.slots))
	}
	*it = Item{} // by itself: a literal with the slices would be made elsewhere and copied
	it.View, it.Authors, it.Editors, it.values = r.view, authors, editors, values
	clear(values)
	fields := raw.Read(row)
	for e, ok := fields.Next(); ok; e, ok = fields.Next() {
		if slot, ok := r.slots[string(e.Key)]; ok && values[slot].Type == 0 {
			values[slot] = e.Value()
		}
	}
	it.ID = strings.ToValidUTF8(ejson.IDText(values[slotID]), "\uFFFD") // control characters and blanks are part of it
	it.Type, it.Subtype = text(values[slotType]), text(values[slotSubtype])
	k := cmp.Or(r.subtypes[it.Subtype], r.types[it.Type], r.fallback)
	it.Forms = k.Forms
	it.fill(k)
	if name, ok := r.degrees[it.Degree]; ok {
		it.Degree = name
	}
	it.Key = key(it)
}

// fill sets the variables of an item from the values of its row.
func (it *Item) fill(k *kind) {
	for v := range variables {
		if set := variables[v].set; set != nil {
			if s := it.text(k, v); s != "" {
				set(it, s)
			}
		}
	}
	it.Authors = it.appendPersons(it.Authors, it.value(k, vAuthors))
	it.Editors = it.appendPersons(it.Editors, it.value(k, vEditors))
	it.dates(k)
}

// dates sets when a work appeared or took place. The stored year and month count before the
// start, which adds what they leave open.
func (it *Item) dates(k *kind) {
	read := func(variable int) date.Date { return date.Read(it.value(k, variable), time.UTC) }
	start, end := read(vStart), read(vEnd)
	it.Date = read(vYear)
	if it.Date.Month == 0 {
		it.Date = it.Date.With(it.value(k, vMonth), it.value(k, vDay))
	}
	d := it.Date
	if d.Year == 0 || d.Year == start.Year && (d.Month == 0 || d.Month == start.Month && d.Day == 0) {
		it.Date = start
	}
	if it.Date.Before(end) {
		it.End = end
	}
}

// value returns the first value that is not empty of those that a variable comes from.
func (it *Item) value(k *kind, variable int) bson.RawValue {
	for _, slot := range k.fields[variable] {
		if v := it.values[slot]; !empty(v) {
			return v
		}
	}
	return bson.RawValue{}
}

// text returns the first text that is not empty of those that a variable comes from.
func (it *Item) text(k *kind, variable int) string {
	for _, slot := range k.fields[variable] {
		if v := &it.values[slot]; v.Type != 0 {
			if s := text(*v); s != "" {
				return s
			}
		}
	}
	return ""
}

// empty reports whether a value says nothing: missing, null, a blank text, an empty list or document.
func empty(v bson.RawValue) bool {
	if v.Type == bson.TypeString {
		return strings.TrimSpace(raw.Text(v)) == ""
	}
	return display.Empty(v)
}

// text returns a scalar as text, and the texts of an array with ", " between them. A dash
// says that there is none.
func text(v bson.RawValue) string {
	switch v.Type {
	case bson.TypeString:
		if s := clean(raw.Text(v)); s != "-" {
			return s
		}
	case bson.TypeInt32, bson.TypeInt64:
		return strconv.FormatInt(raw.Int(v), 10)
	case bson.TypeDouble, bson.TypeDecimal128:
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
			if s := text(e); s != "" && e.Type != bson.TypeArray {
				all = append(all, s)
			}
		}
		return strings.Join(all, ", ")
	}
	return ""
}

// items keeps items for Words.
var items = sync.Pool{New: func() any { return new(Item) }}

// Words calls add for each text by which a row is found: title, authors, venue and year.
func (r *Rules) Words(row bson.Raw, add func(text string, title bool)) {
	it := items.Get().(*Item)
	defer items.Put(it)
	r.Read(row, it)
	add(it.Text, true)
	add(it.Name, true)
	for _, persons := range [...][]Person{it.Authors, it.Editors} {
		for _, p := range persons {
			add(p.Literal, false)
			add(p.Given, false)
			add(p.Family, false)
		}
	}
	for _, s := range [...]string{it.Container, it.Series, it.Event, it.Publisher, it.Place} {
		add(s, false)
	}
	if it.Date.Year > 0 {
		add(strconv.Itoa(it.Date.Year), false)
	}
}
