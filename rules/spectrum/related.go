package spectrum

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"vitrine/rules/ejson"
	"vitrine/rules/raw"
)

// related is a unit or a person shown beside topics.
type related struct {
	key    string // unit identifier or username in activities; breaks ties
	fields []byte // encoded elements that are shown, without the count
}

// directory has the units or persons that may be shown, by key.
type directory map[string]*related

// add adds a unit or person, unless the key is empty or in use.
func (d directory) add(key string, fields []byte) {
	if key != "" && d[key] == nil {
		d[key] = &related{key, fields}
	}
}

// find returns the units or persons with the keys in an array, without duplicates.
func (d directory) find(keys bson.RawValue) []*related {
	var found []*related
	for v := range raw.Elements(keys) {
		if r := d[text(v)]; r != nil && !slices.Contains(found, r) {
			found = append(found, r)
		}
	}
	return found
}

// visibleUnits are the units outside the root that are not hidden.
func visibleUnits(groups []bson.Raw) directory {
	d := make(directory, len(groups))
	for _, g := range groups {
		if isRoot(g) || raw.FlagOf(raw.Get(g, "hide")).Hides() {
			continue
		}
		id := raw.StringField(g, "id")
		shown := bsoncore.AppendStringElement(nil, "id", id)
		d.add(id, appendStored(shown, g, "name", "name_de"))
	}
	return d
}

// isRoot reports whether a unit is on level 0 or without a parent. Cycles of parents do no harm, because no function
// follows parents.
func isRoot(group bson.Raw) bool {
	if level, ok := whole(raw.Get(group, "level")); ok && level == 0 {
		return true
	}
	parent := raw.Get(group, "parent")
	return raw.IsNone(parent) || parent.Type == bson.TypeString && text(parent) == ""
}

// visiblePersons are the persons with a username who are active and not hidden.
func visiblePersons(persons []bson.Raw) directory {
	d := make(directory, len(persons))
	for _, p := range persons {
		if !raw.FlagOf(raw.Get(p, "is_active")).Holds() || raw.FlagOf(raw.Get(p, "hide")).Hides() {
			continue
		}
		shown := bsoncore.AppendStringElement(nil, "id", ejson.IDText(raw.Get(p, "_id")))
		full := strings.TrimSpace(raw.StringField(p, "first") + " " + raw.StringField(p, "last"))
		shown = bsoncore.AppendStringElement(shown, "displayname", cmp.Or(raw.StringField(p, "displayname"), full))
		d.add(raw.StringField(p, "username"), appendStored(shown, p, "academic_title", "position", "position_de"))
	}
	return d
}

// appendStored appends fields of a document unchanged. A missing field becomes null.
func appendStored(dst []byte, doc bson.Raw, keys ...string) []byte {
	for _, key := range keys {
		dst = appendValue(dst, key, raw.Get(doc, key))
	}
	return dst
}

// appendValue appends an element. A missing value becomes null.
func appendValue(dst []byte, key string, v bson.RawValue) []byte {
	if v.Type == 0 {
		return bsoncore.AppendNullElement(dst, key)
	}
	return append(bsoncore.AppendHeader(dst, bsoncore.Type(v.Type), key), v.Value...)
}

// tally counts assignments by unit or person.
type tally map[*related]int

// top returns the units or persons with the highest counts, up to maxRelated, ties by key.
func (t tally) top() []*related {
	all := slices.Collect(maps.Keys(t))
	slices.SortFunc(all, func(a, b *related) int {
		return cmp.Or(cmp.Compare(t[b], t[a]), cmp.Compare(a.key, b.key))
	})
	return all[:min(len(all), maxRelated)]
}
