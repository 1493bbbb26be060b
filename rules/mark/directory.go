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
	public := ""
	if d.o.Public != nil {
		public = d.o.Public.Key()
	}
	h := xxhash.New()
	day := d.o.Now.Format("2006-01-02 -0700 ") + d.o.Now.Location().String()
	fmt.Fprintf(h, "%q %q %q %q %q %q", day, d.o.Topics, public, d.persons, d.projects, d.units) // maps in the order of their keys
	return h.Sum64()
}

// add adds the entry of a record. A record that is not public takes another of the same
// key with it.
func add(entries map[string]entry, key string, e entry) {
	if _, ok := entries[key]; key != "" && (!ok || e.ID == "") {
		entries[key] = e
	}
}

// entryOf returns the entry of a document of a view, none unless it is public.
func (d *Directory) entryOf(view string, doc bson.Raw, of func(bson.Raw) entry) entry {
	if public, err := d.Public(view, doc); err != nil || !public {
		return entry{}
	}
	return of(doc)
}

// addUnit adds a unit. Of units with one id the first counts, unless another one is hidden.
func (d *Directory) addUnit(doc bson.Raw) {
	id := identifier(valueOf(doc, "id"))
	u, known := d.units[id]
	if !known {
		u.entry = entry{ID: id, Name: text(valueOf(doc, "name")), NameDE: text(valueOf(doc, "name_de"))}
		for parent := range each(valueOf(doc, "parent")) {
			u.parents = append(u.parents, identifier(parent))
		}
	}
	if truth(valueOf(doc, "hide")) {
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
	published, _ := valueOf(record, "public").BooleanOK()
	switch {
	case view == rules.ViewPersons && truth(valueOf(record, "hide")):
		return false, nil
	case view == rules.ViewProjects && !published:
		return false, nil
	case d.o.Public == nil:
		return true, nil
	}
	return d.o.Public.Match(record)
}

// personEntry is the entry of a person in marks; none without a username.
func personEntry(doc bson.Raw) entry {
	family, given := text(valueOf(doc, "last")), text(valueOf(doc, "first"))
	name := strings.Trim(family+", "+given, ", ")
	for _, other := range []string{"formalname", "displayname", "username"} {
		name = cmp.Or(name, text(valueOf(doc, other)))
	}
	return entry{ID: identifier(valueOf(doc, "username")), Name: name, ORCID: NormalORCID(text(valueOf(doc, "orcid")))}
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
	name := identifier(valueOf(doc, "name"))
	return entry{ID: name, Title: cmp.Or(text(valueOf(doc, "title")), name)}
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
