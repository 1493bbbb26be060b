package mark

import (
	"cmp"
	"fmt"
	"regexp"
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
	// Public matches the records that are public; needed.
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
	topics   []string         // the path
	persons  map[string]entry // by username; none: not public
	units    map[string]unit
	projects map[string]entry // by name and by _id; none: not public
}

// unit is a unit of the institute.
type unit struct {
	entry     entry // none: hidden
	parents   []string
	ancestors []string // ids of visible ones, the unit itself included
}

// NewDirectory reads the documents of the collections persons, groups and projects. The
// directory keeps pointing into them, so they must not change afterwards.
func NewDirectory(o Options, persons, groups, projects []bson.Raw) *Directory {
	if o.Topics == "" {
		o.Topics = "catalog.topics"
	}
	d := &Directory{o: o, topics: strings.Split(o.Topics, "."),
		persons: map[string]entry{}, units: map[string]unit{}, projects: map[string]entry{}}
	for _, doc := range persons {
		d.add(d.persons, rules.ViewPersons, doc, personEntry(doc), "username")
	}
	for _, doc := range projects {
		d.add(d.projects, rules.ViewProjects, doc, projectEntry(doc), "name", "_id")
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
	day := d.o.Now.Format("2006-01-02 -0700 ") + d.o.Now.Location().String()
	fmt.Fprintf(h, "%q %q %q %q %q %q", day, d.o.Topics, d.o.Public.Key(), d.persons, d.projects, d.units) // maps in the order of their keys
	return h.Sum64()
}

// add adds the entry of a record under the identifiers in some of its fields. A record that is
// not public has none, and takes those of others with the same identifier with it.
func (d *Directory) add(entries map[string]entry, view string, doc bson.Raw, e entry, fields ...string) {
	if public, _ := d.Public(view, doc); !public {
		e = entry{}
	}
	for _, field := range fields {
		id := identifier(raw.Get(doc, field))
		if _, known := entries[id]; id != "" && (!known || e.ID == "") {
			entries[id] = e
		}
	}
}

// addUnit adds a unit. Of units with one id the first counts, unless another one is hidden.
func (d *Directory) addUnit(doc bson.Raw) {
	id := identifier(raw.Get(doc, "id"))
	u, known := d.units[id]
	if !known {
		u.entry = entry{ID: id, Name: text(raw.Get(doc, "name")), NameDE: text(raw.Get(doc, "name_de"))}
		for parent := range each(raw.Get(doc, "parent")) {
			u.parents = append(u.parents, identifier(parent))
		}
	}
	if truth(raw.Get(doc, "hide")) {
		u.entry = entry{}
	}
	if id != "" {
		d.units[id] = u
	}
}

// ancestors returns a unit and those above it, without hidden ones. Units that are each
// other's parents end the climb.
func (d *Directory) ancestors(id string) (visible []string) {
	climbed := []string{id}
	for i := 0; i < len(climbed); i++ {
		u := d.units[climbed[i]]
		if u.entry.ID != "" {
			visible = append(visible, climbed[i])
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
	published, _ := raw.Get(record, "public").BooleanOK()
	if view == rules.ViewProjects && !published || view == rules.ViewPersons && truth(raw.Get(record, "hide")) {
		return false, nil
	}
	public, err := d.o.Public.Match(record)
	return public && err == nil, err
}

// personEntry is the entry of a person in marks; none without a username.
func personEntry(doc bson.Raw) entry {
	family, given := text(raw.Get(doc, "last")), text(raw.Get(doc, "first"))
	name := strings.Trim(family+", "+given, ", ")
	for _, other := range []string{"formalname", "displayname", "username"} {
		name = cmp.Or(name, text(raw.Get(doc, other)))
	}
	return entry{ID: identifier(raw.Get(doc, "username")), Name: name, ORCID: NormalORCID(text(raw.Get(doc, "orcid")))}
}

// orcids matches an ORCID in capitals: in its bare form, without hyphens, or as the address of
// its page.
var orcids = regexp.MustCompile(`^(?:(?:HTTPS?://)?(?:WWW\.)?ORCID\.ORG/)?([0-9]{4})-?([0-9]{4})-?([0-9]{4})-?([0-9]{3}[0-9X])$`)

// NormalORCID returns an ORCID in its bare form, 0000-0002-1825-0097; "" for text that is none.
// It does not compute the check digit: a person is found by the ORCID that the institute stores.
func NormalORCID(text string) string {
	if parts := orcids.FindStringSubmatch(strings.ToUpper(strings.TrimSpace(text))); parts != nil {
		return strings.Join(parts[1:], "-")
	}
	return ""
}

// projectEntry is the entry of a project in marks; none without a name.
func projectEntry(doc bson.Raw) entry {
	name := identifier(raw.Get(doc, "name"))
	return entry{ID: name, Title: cmp.Or(text(raw.Get(doc, "title")), name)}
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
