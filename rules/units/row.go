package units

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"
)

// Names resolves unit identifiers. It is immutable.
type Names struct {
	byID map[string]names
}

// names holds a unit's names, "" for none.
type names struct{ en, de string }

// NewNames indexes units by their identifier, id. Of units with the same id the first
// counts.
func NewNames(groups []bson.Raw) *Names {
	n := &Names{byID: make(map[string]names, len(groups))}
	for _, g := range groups {
		id := text(g, "id")
		if _, ok := n.byID[id]; id == "" || ok {
			continue
		}
		n.byID[id] = names{en: text(g, "name"), de: text(g, "name_de")}
	}
	return n
}

// Row makes a person's row:
//
//	{_id, username, name, units: [{membership: {…}, name, name_de}]}
//
// _id and username are the stored ones, name is the first and last name. units has the
// last stored membership of each unit, in reverse order of storage. membership is the
// stored document; name and name_de are null if the unit or its name is unknown. Row
// fails only if person is not a valid document.
func (n *Names) Row(person bson.Raw) (bson.Raw, error) {
	if err := person.Validate(); err != nil {
		return nil, fmt.Errorf("read person: %w", err)
	}
	start, dst := bsoncore.AppendDocumentStart(make([]byte, 0, len(person)))
	for _, key := range []string{"_id", "username"} {
		if v, err := person.LookupErr(key); err == nil {
			dst = bsoncore.AppendValueElement(dst, key, bsoncore.Value{Type: bsoncore.Type(v.Type), Data: v.Value})
		}
	}
	full := strings.TrimSpace(text(person, "first") + " " + text(person, "last"))
	dst = bsoncore.AppendStringElement(dst, "name", full)
	list, dst := bsoncore.AppendArrayElementStart(dst, "units")
	for i, m := range memberships(person) {
		dst = n.appendUnit(dst, strconv.Itoa(i), m)
	}
	dst, _ = bsoncore.AppendArrayEnd(dst, list)     // fails only for a start out of range
	dst, _ = bsoncore.AppendDocumentEnd(dst, start) // likewise
	return dst, nil
}

// appendUnit appends one element of a row's units.
func (n *Names) appendUnit(dst []byte, key string, membership bson.Raw) []byte {
	unit := n.byID[text(membership, "unit")]
	start, dst := bsoncore.AppendDocumentElementStart(dst, key)
	dst = bsoncore.AppendDocumentElement(dst, "membership", membership)
	dst = appendName(dst, "name", unit.en)
	dst = appendName(dst, "name_de", unit.de)
	dst, _ = bsoncore.AppendDocumentEnd(dst, start) // fails only for a start out of range
	return dst
}

// appendName appends a name, null for none.
func appendName(dst []byte, key, name string) []byte {
	if name == "" {
		return bsoncore.AppendNullElement(dst, key)
	}
	return bsoncore.AppendStringElement(dst, key, name)
}

// memberships returns the last stored membership of each unit, last stored first.
func memberships(person bson.Raw) []bson.Raw {
	list, ok := person.Lookup("units").ArrayOK()
	if !ok {
		return nil
	}
	values, _ := list.Values() // the person is valid, so is the list
	slices.Reverse(values)
	kept := make([]bson.Raw, 0, len(values))
	type identifier struct {
		t     bson.Type
		bytes string
	}
	seen := make(map[identifier]bool, len(values))
	for _, v := range values {
		m, ok := v.DocumentOK()
		if !ok {
			continue
		}
		unit := m.Lookup("unit")
		if id := (identifier{unit.Type, string(unit.Value)}); !seen[id] {
			seen[id] = true
			kept = append(kept, m)
		}
	}
	return kept
}

// text returns a string field, "" if the field is no string.
func text(doc bson.Raw, key string) string {
	s, _ := doc.Lookup(key).StringValueOK()
	return s
}
