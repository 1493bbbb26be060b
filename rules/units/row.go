package units

import (
	"fmt"
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/rules/raw"
)

// Names resolves unit identifiers. It is immutable.
type Names map[string]names

// names holds a unit's names; "" means no name.
type names struct{ en, de string }

// NewNames indexes units by their field id. If an id comes twice, the first unit counts.
func NewNames(groups []bson.Raw) Names {
	n := make(Names, len(groups))
	for _, g := range groups {
		id := raw.StringField(g, "id")
		if _, ok := n[id]; id == "" || ok {
			continue
		}
		n[id] = names{en: raw.StringField(g, "name"), de: raw.StringField(g, "name_de")}
	}
	return n
}

// Row makes a person's row:
//
//	{_id, username, name, units: [{membership: {…}, name, name_de}]}
//
// _id and username are the stored ones, name is the first and last name. units has the last stored membership of
// each unit, in reverse order of storage. membership is the stored document; name and name_de are null if the unit
// or its name is unknown. Row fails only if person is not a valid document.
func (n Names) Row(person bson.Raw) (bson.Raw, error) {
	if err := person.Validate(); err != nil {
		return nil, fmt.Errorf("read person: %w", err)
	}
	var row, units raw.Builder
	row.Grow(len(person))
	for _, key := range []string{"_id", "username"} {
		if e, ok := raw.Lookup(person, key); ok {
			row.Add(key, e.Value())
		}
	}
	full := raw.StringField(person, "first") + " " + raw.StringField(person, "last")
	row.Add("name", raw.NewString(strings.TrimSpace(full)))
	for _, m := range memberships(person) {
		units.Push(n.unit(m))
	}
	row.Add("units", units.Finish(bson.TypeArray))
	return row.Document(), nil
}

// unit returns one element of a row's units.
func (n Names) unit(membership bson.RawValue) bson.RawValue {
	unit := n[raw.StringField(membership.Value, "unit")]
	var b raw.Builder
	b.Add("membership", membership)
	b.Add("name", nameOf(unit.en))
	b.Add("name_de", nameOf(unit.de))
	return b.Finish(bson.TypeEmbeddedDocument)
}

// nameOf returns a name as a value; "" becomes null.
func nameOf(name string) bson.RawValue {
	if name == "" {
		return bson.RawValue{Type: bson.TypeNull}
	}
	return raw.NewString(name)
}

// memberships returns the last stored membership of each unit, last stored first.
func memberships(person bson.Raw) []bson.RawValue {
	var kept []bson.RawValue
	seen := map[string]bool{} // units by type and bytes of their identifier
	for _, m := range slices.Backward(slices.Collect(raw.Elements(raw.Get(person, "units")))) {
		if m.Type != bson.TypeEmbeddedDocument {
			continue
		}
		if key := raw.Key(raw.Get(m.Value, "unit")); !seen[key] {
			seen[key] = true
			kept = append(kept, m)
		}
	}
	return kept
}
