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

// names are a unit's names; "" where it has none.
type names struct{ en, de string }

// NewNames indexes units by their identifier, id. Where one comes twice the first
// counts.
func NewNames(groups []bson.Raw) *Names {
	n := &Names{byID: make(map[string]names, len(groups))}
	for _, g := range groups {
		id := text(g, "id")
		if _, there := n.byID[id]; id == "" || there {
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
// with the stored _id and username, first and last name as name, and the units as they
// are answered: last stored first, of each unit the last stored. membership is the
// stored document; name and name_de are null where the unit or its name is unknown. The
// only error is that person is not a readable document.
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
	known := n.byID[text(membership, "unit")]
	start, dst := bsoncore.AppendDocumentElementStart(dst, key)
	dst = bsoncore.AppendDocumentElement(dst, "membership", membership)
	dst = appendName(dst, "name", known.en)
	dst = appendName(dst, "name_de", known.de)
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

// memberships returns the stored memberships, last first, of each unit the last stored.
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

// text returns a field that is a string; "" for all else.
func text(doc bson.Raw, key string) string {
	s, _ := doc.Lookup(key).StringValueOK()
	return s
}
