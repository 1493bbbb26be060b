package render

import (
	"iter"
	"math"
	"strconv"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/rules/raw"
)

// Slots of the stored fields that the code itself reads. Fields declared in the rules file get later slots.
const (
	slotID = iota
	slotType
	slotSubtype
	slotAuthors
	slotEditors
	slotUnits
	slotYear
	slotMonth
	slotDay
	slotStart
	slotEnd
	slotStartParts // dates that an OSIRIS database stores in parts
	slotEndParts
	slotRendered
	baseSlots
)

// baseNames has the names of the stored fields in the base slots. Position and slot are the same.
var baseNames = [baseSlots]string{
	slotID: "_id", slotType: "type", slotSubtype: "subtype",
	slotAuthors: "authors", slotEditors: "editors", slotUnits: "units",
	slotYear: "year", slotMonth: "month", slotDay: "day",
	slotStart: "start_date", slotEnd: "end_date", slotStartParts: "start", slotEndParts: "end",
	slotRendered: "rendered",
}

// walk calls fn for the elements of a BSON document or array, and reports whether the document is well-formed. It
// stops at the first malformed element.
func walk(doc []byte, fn func(raw.Element)) bool {
	r := raw.Read(doc)
	for e, ok := r.Next(); ok; e, ok = r.Next() {
		fn(e)
	}
	return len(doc) >= raw.MinDocument && int(raw.Length(doc)) == len(doc) && doc[len(doc)-1] == 0 && !r.Faulty()
}

// load fills the slots, and reports whether the activity is well-formed. The first of equal keys
// counts. Values point into the activity, so the page must not outlive it.
func (p *page) load(doc bson.Raw) bool {
	clear(p.values)
	return walk(doc, func(e raw.Element) {
		if slot, ok := p.rules.slots[string(e.Key)]; ok && p.values[slot].Type == 0 {
			p.values[slot] = e.Value()
		}
	})
}

// text returns a scalar as trimmed text: strings, finite numbers and ids. It returns "" for other values.
func text(v bson.RawValue) string {
	switch v.Type {
	case bson.TypeString:
		return strings.TrimSpace(raw.Text(v))
	case bson.TypeInt32, bson.TypeInt64:
		return strconv.FormatInt(raw.Int(v), 10)
	case bson.TypeDouble:
		if f := raw.Double(v); !math.IsNaN(f) && !math.IsInf(f, 0) {
			return strconv.FormatFloat(f, 'f', -1, 64)
		}
	case bson.TypeDecimal128:
		return v.Decimal128().String()
	case bson.TypeObjectID:
		return v.ObjectID().Hex()
	}
	return ""
}

// texts yields the text of a scalar, or the texts of an array's elements, without empty ones.
func texts(v bson.RawValue) iter.Seq[string] {
	return func(yield func(string) bool) {
		if v.Type != bson.TypeArray {
			if s := text(v); s != "" {
				yield(s)
			}
			return
		}
		for e := range raw.Elements(v) {
			if s := text(e); s != "" && !yield(s) {
				return
			}
		}
	}
}

// integer returns a whole number, also one stored as text or double. ok is false for other values.
// Ten characters are enough for years and editions.
func integer(v bson.RawValue) (n int, ok bool) {
	s := text(v)
	if s == "" || len(s) > 10 {
		return 0, false
	}
	n, err := strconv.Atoi(s)
	return n, err == nil
}

// truthy reports whether a flag is set.
func truthy(v bson.RawValue) bool { return raw.FlagOf(v) == raw.FlagYes }
