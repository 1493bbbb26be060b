package render

import (
	"bytes"
	"math"
	"strconv"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"
)

// Slots of the stored fields that the code itself reads. Fields declared in the
// rules file get the slots after them.
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
	slotVolume
	slotIssue
	slotPages
	slotRendered
	baseSlots
)

// baseNames are the stored names of the base slots.
var baseNames = [baseSlots]string{
	slotID: "_id", slotType: "type", slotSubtype: "subtype",
	slotAuthors: "authors", slotEditors: "editors", slotUnits: "units",
	slotYear: "year", slotMonth: "month", slotDay: "day",
	slotStart: "start_date", slotEnd: "end_date",
	slotVolume: "volume", slotIssue: "issue", slotPages: "pages",
	slotRendered: "rendered",
}

// each calls fn for the elements of a BSON document or array until it returns
// false, and reports whether the document was well-formed as far as it was read.
func each(doc []byte, fn func(key []byte, v bsoncore.Value) bool) bool {
	length, rest, ok := bsoncore.ReadLength(doc)
	if !ok || int(length) != len(doc) || length < 5 {
		return false
	}
	for len(rest) > 1 {
		var elem bsoncore.Element
		if elem, rest, ok = bsoncore.ReadElement(rest); !ok {
			return false
		}
		end := 1 + bytes.IndexByte(elem[1:], 0)
		if !fn(elem[1:end], bsoncore.Value{Type: bsoncore.Type(elem[0]), Data: elem[end+1:]}) {
			return true
		}
	}
	return len(rest) == 1 && rest[0] == 0
}

// load puts the activity's values into their slots; of doubled keys the first
// counts, as in a query.
func (p *page) load(doc bson.Raw) bool {
	clear(p.values)
	return each(doc, func(key []byte, v bsoncore.Value) bool {
		if slot, ok := p.rules.slots[string(key)]; ok && p.values[slot].Type == 0 {
			p.values[slot] = v
		}
		return true
	})
}

// at follows a path of sub-document keys down from v.
func at(v bsoncore.Value, path []string) bsoncore.Value {
	for _, key := range path {
		doc, ok := v.DocumentOK()
		if !ok {
			return bsoncore.Value{}
		}
		v = bsoncore.Value{}
		each(doc, func(k []byte, e bsoncore.Value) bool {
			if string(k) != key {
				return true
			}
			v = e
			return false
		})
	}
	return v
}

// absent reports values that count as missing: null, undefined and missing ones.
func absent(v bsoncore.Value) bool {
	return v.Type == 0 || v.Type == bsoncore.TypeNull || v.Type == bsoncore.TypeUndefined
}

// text returns a scalar as trimmed text: strings, finite numbers and ids; ""
// for everything else.
func text(v bsoncore.Value) string {
	switch v.Type {
	case bsoncore.TypeString:
		s, _ := v.StringValueOK()
		return strings.TrimSpace(s)
	case bsoncore.TypeInt32, bsoncore.TypeInt64:
		n, _ := v.AsInt64OK()
		return strconv.FormatInt(n, 10)
	case bsoncore.TypeDouble:
		if f, ok := v.DoubleOK(); ok && !math.IsNaN(f) && !math.IsInf(f, 0) {
			return strconv.FormatFloat(f, 'f', -1, 64)
		}
	case bsoncore.TypeDecimal128:
		if h, l, ok := v.Decimal128OK(); ok {
			return bson.NewDecimal128(h, l).String()
		}
	case bsoncore.TypeObjectID:
		if id, ok := v.ObjectIDOK(); ok {
			return bson.ObjectID(id).Hex()
		}
	}
	return ""
}

// integer returns a whole number, also one stored as text or double; ok is false
// for everything else.
func integer(v bsoncore.Value) (n int, ok bool) {
	s := text(v)
	if s == "" || len(s) > 10 {
		return 0, false
	}
	n, err := strconv.Atoi(s)
	return n, err == nil
}

// truthy reports a set flag: true, 1 or "1" (DESIGN.md: 4).
func truthy(v bsoncore.Value) bool {
	if b, ok := v.BooleanOK(); ok {
		return b
	}
	return text(v) == "1"
}
