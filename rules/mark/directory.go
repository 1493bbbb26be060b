package mark

import (
	"encoding/binary"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/cespare/xxhash/v2"
	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/rules"
	"vitrine/rules/display"
	"vitrine/rules/filter"
	"vitrine/rules/raw"
)

// Options say what is public, and where marks find what they hold.
type Options struct {
	// Public matches the records that are public. If nil, all are.
	Public *filter.Filter
	// Topics is the dotted path of the topic assignments; catalog.topics if empty.
	Topics string
	// Now decides which memberships of persons have ended. Its location is the zone in
	// which days and years begin.
	Now time.Time
}

// Directory knows the persons, units and projects that marks refer to. It is immutable.
type Directory struct {
	o        Options
	topics   []string                 // the path
	persons  map[string]bson.RawValue // entries by username; zero: not public
	units    map[string]unit
	projects map[string]bson.RawValue // entries by name and by _id; zero: not public
}

// unit is a unit of the institute.
type unit struct {
	entry     bson.RawValue // zero: hidden
	parents   []string
	ancestors []bson.RawValue // ids of visible ones, the unit itself included
}

// NewDirectory reads the documents of the collections persons, groups and projects. The
// directory keeps pointing into them, so they must not change afterwards.
func NewDirectory(o Options, persons, groups, projects []bson.Raw) *Directory {
	if o.Topics == "" {
		o.Topics = "catalog.topics"
	}
	d := &Directory{o: o, topics: strings.Split(o.Topics, "."),
		persons: map[string]bson.RawValue{}, units: map[string]unit{}, projects: map[string]bson.RawValue{}}
	for _, doc := range persons {
		add(d.persons, identifier(valueOf(doc, "username")), d.entryOf(rules.ViewPersons, doc, personEntry))
	}
	for _, doc := range projects {
		entry := d.entryOf(rules.ViewProjects, doc, projectEntry)
		add(d.projects, identifier(valueOf(doc, "name")), entry)
		add(d.projects, identifier(valueOf(doc, "_id")), entry)
	}
	for _, doc := range groups {
		d.addUnit(doc)
	}
	for id, u := range d.units {
		u.ancestors = d.ancestors(id)
		d.units[id] = u
	}
	return d
}

// Digest stands for all that Make depends on besides the record. Two directories of one
// process that have the same digest make the same marks.
func (d *Directory) Digest() uint64 {
	h := xxhash.New()
	var scratch [4]byte
	count := func(n int) { h.Write(binary.LittleEndian.AppendUint32(scratch[:0], uint32(n))) }
	add := func(s string) {
		count(len(s))
		h.WriteString(s)
	}
	add(d.o.Now.Format("2006-01-02 -0700 ") + d.o.Now.Location().String())
	add(d.o.Topics)
	if d.o.Public != nil {
		add(d.o.Public.Key())
	}
	for _, entries := range []map[string]bson.RawValue{d.persons, d.projects} {
		count(len(entries))
		for _, key := range slices.Sorted(maps.Keys(entries)) {
			add(key)
			add(string(entries[key].Value))
		}
	}
	for _, id := range slices.Sorted(maps.Keys(d.units)) {
		u := d.units[id]
		add(id)
		add(string(u.entry.Value))
		count(len(u.ancestors))
		for _, above := range u.ancestors {
			add(string(above.Value))
		}
	}
	return h.Sum64()
}

// add adds the entry of a record. A record that is not public takes another of the same
// key with it.
func add(entries map[string]bson.RawValue, key string, entry bson.RawValue) {
	if before, ok := entries[key]; key != "" && (!ok || !before.IsZero() && entry.IsZero()) {
		entries[key] = entry
	}
}

// entryOf returns the entry of a document of a view, the zero value unless it is public.
func (d *Directory) entryOf(view string, doc bson.Raw, entry func(bson.Raw) bson.RawValue) bson.RawValue {
	if public, err := d.Public(view, doc); err != nil || !public {
		return bson.RawValue{}
	}
	return entry(doc)
}

// addUnit adds a unit. Of units with one id the first counts, unless another one is hidden.
func (d *Directory) addUnit(doc bson.Raw) {
	id := identifier(valueOf(doc, "id"))
	u, known := d.units[id]
	if !known {
		u.entry = entry("id", id, "name", text(valueOf(doc, "name")), "name_de", text(valueOf(doc, "name_de")))
		for parent := range each(valueOf(doc, "parent")) {
			u.parents = append(u.parents, identifier(parent))
		}
	}
	if truth(valueOf(doc, "hide")) {
		u.entry = bson.RawValue{}
	}
	if id != "" {
		d.units[id] = u
	}
}

// ancestors returns a unit and those above it, without hidden ones. Units that are each
// other's parents end the climb.
func (d *Directory) ancestors(id string) (visible []bson.RawValue) {
	climbed := []string{id}
	for i := 0; i < len(climbed); i++ {
		u, known := d.units[climbed[i]]
		if known && !u.entry.IsZero() {
			visible = append(visible, raw.NewString(climbed[i]))
		}
		for _, parent := range u.parents {
			if !slices.Contains(climbed, parent) {
				climbed = append(climbed, parent)
			}
		}
	}
	return visible
}

// Public reports whether a record of a view is public. The error is that Options.Public
// cannot be decided for it: the record is not.
func (d *Directory) Public(view string, record bson.Raw) (bool, error) {
	switch {
	case view == rules.ViewPersons && truth(valueOf(record, "hide")):
		return false, nil
	case view == rules.ViewProjects && !is(valueOf(record, "public"), true):
		return false, nil
	case d.o.Public == nil:
		return true, nil
	}
	return d.o.Public.Match(record)
}

// personEntry is the entry of a person in marks; the zero value without a username.
func personEntry(doc bson.Raw) bson.RawValue {
	user := identifier(valueOf(doc, "username"))
	if user == "" {
		return bson.RawValue{}
	}
	family, given := text(valueOf(doc, "last")), text(valueOf(doc, "first"))
	name := strings.Trim(family+", "+given, ", ")
	for _, other := range []string{"formalname", "displayname", "username"} {
		if name == "" {
			name = text(doc.Lookup(other))
		}
	}
	return entry("id", user, "name", name, "orcid", NormalORCID(text(valueOf(doc, "orcid"))))
}

// projectEntry is the entry of a project in marks; the zero value without a name.
func projectEntry(doc bson.Raw) bson.RawValue {
	name, title := identifier(valueOf(doc, "name")), text(valueOf(doc, "title"))
	if name == "" {
		return bson.RawValue{}
	}
	if title == "" {
		title = name
	}
	return entry("id", name, "title", title)
}

// entry builds a document of the texts that are not empty, given as key, value pairs.
func entry(pairs ...string) bson.RawValue {
	size := 5
	for _, s := range pairs {
		size += len(s) + 4
	}
	var b raw.Builder
	b.Grow(size)
	for i := 0; i < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			b.AddString(pairs[i], pairs[i+1])
		}
	}
	return b.Finish(bson.TypeEmbeddedDocument)
}

// truth reports whether a flag is set: true, a number that is not 0, "1" or "true".
func truth(v bson.RawValue) bool {
	switch {
	case v.Type == bson.TypeBoolean || raw.IsNumber(v.Type):
		return raw.Truth(v)
	case v.Type == bson.TypeString:
		s := strings.TrimSpace(display.Text(v))
		return s == "1" || strings.EqualFold(s, "true")
	}
	return false
}

// is reports whether v is the boolean b.
func is(v bson.RawValue, b bool) bool {
	got, ok := v.BooleanOK()
	return ok && got == b
}
