package mark

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/cespare/xxhash/v2"
	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/rules"
	"vitrine/rules/display"
	"vitrine/rules/filter"
	"vitrine/rules/identifier"
	"vitrine/rules/keyword"
	"vitrine/rules/markup"
	"vitrine/rules/person"
	"vitrine/rules/raw"
	"vitrine/rules/units"
)

// Options say which records are public, and which field has their topics.
type Options struct {
	Public *filter.Filter // see Rule
	Portal *Portal        // see Rule
	Topics string         // dotted path of topic assignments; catalog.topics if empty
	// Visible returns a record without the fields that callers may not see, such as a hidden list of persons; nil
	// means that they may see all.
	Visible func(record bson.Raw) bson.Raw
	// Cited returns what citations show of such a record; about is the part of its mark with persons and projects,
	// visible, too. If Cited is nil, marks have no citation.
	Cited func(view string, record, about bson.Raw) Citation
	// Finish returns a mark of Make with what takes longer than the rest: citations in styles (package styles). It is
	// called on several processors, and only for rows that are written. May be nil.
	Finish func(view string, mark bson.Raw) (bson.Raw, error)
	Rules  string    // changes with what Visible, Cited and Finish return
	Now    time.Time // decides which memberships have ended; its zone is that of days
}

// Citation has the parts of a citation by which lists select and sort records, and the whole in the form of package
// cite. Empty fields are not known.
type Citation struct {
	Year     int
	Day      int    // in the year: the month times 100, plus the day of the month
	OA       string // "1" if the record is open access, "0" if it says that it is not
	DOI      string
	Keywords []string
	About    []string // DOIs, in small letters, and ids
	Item     []byte
	// What the record lacks: a title; a year; authors, editors and supervisors.
	Untitled, Undated, Unnamed bool
}

// Directory has the persons, units and projects that marks refer to. It is immutable. The zero entry stands for
// records that are hidden or not public.
type Directory struct {
	o        Options
	topics   []string            // path of the topic assignments
	persons  map[string]entry    // by username
	projects map[string]entry    // by name and by _id
	units    map[string]entry    // by id
	parents  map[string][]string // ids of parent units, by unit id; includes hidden units
	reserved map[string]bool     // usernames of persons whose own list has only publications; see Portal
	byHide   bool                // the operator's rule depends on hide
}

// NewDirectory reads persons, groups and projects. It points into the documents, which must not change.
func NewDirectory(o Options, persons, groups, projects []bson.Raw) *Directory {
	o.Topics = cmp.Or(o.Topics, "catalog.topics")
	d := &Directory{o: o, topics: strings.Split(o.Topics, "."),
		persons: map[string]entry{}, projects: map[string]entry{}, units: map[string]entry{},
		parents:  map[string][]string{},
		reserved: map[string]bool{}, byHide: o.Public != nil && slices.Contains(o.Public.Fields(), ofPerson.Hide)}
	for _, doc := range persons {
		public, _ := d.public(rules.ViewPersons, doc)
		username := idOf(doc, ofPerson.Username)
		add(d.persons, public, personEntry(doc), username)
		if o.Portal != nil && !holds(doc, ofPerson.Others) {
			d.reserved[username] = true
		}
	}
	for _, doc := range projects {
		public, _ := d.public(rules.ViewProjects, doc)
		add(d.projects, public, projectEntry(doc), idOf(doc, ofProject.Name), idOf(doc, ofProject.ID))
	}
	for _, doc := range groups {
		id := idOf(doc, ofGroup.ID)
		if _, known := d.units[id]; id != "" && !known {
			for parent := range each(raw.Get(doc, ofGroup.Parent)) {
				d.parents[id] = append(d.parents[id], idText(parent))
			}
		}
		unit := entry{ID: id, Name: textOf(doc, ofGroup.Name), NameDE: textOf(doc, ofGroup.NameDE)}
		add(d.units, !hides(doc), unit, id)
	}
	return d
}

// Digest returns a hash of everything that Make depends on besides the record. Two directories of one process with
// the same digest make the same marks, unless Cited reads other documents.
func (d *Directory) Digest() uint64 {
	h := xxhash.New()
	// Fprintf sorts maps by key.
	fmt.Fprintf(h, "%s %q %q %q %q %v", d.o.Key(), d.persons, d.projects, d.units, d.parents, d.reserved)
	return h.Sum64()
}

// Key returns a text that is the same, in one process, for options that make the same marks.
func (o Options) Key() string {
	day := o.Now.Format("2006-01-02 -0700 ") + o.Now.Location().String()
	return fmt.Sprintf("%q %q %q %q %q", day, o.Topics, o.Public.Key(), o.Portal.key(), o.Rules)
}

// add adds an entry under some identifiers. If several records have the same identifier, it keeps the first, or the
// zero entry if one of them is not public.
func add(entries map[string]entry, public bool, e entry, ids ...string) {
	if !public {
		e = entry{}
	}
	for _, id := range ids {
		if _, known := entries[id]; id != "" && (!known || e.ID == "") {
			entries[id] = e
		}
	}
}

func (d *Directory) public(view string, record bson.Raw) (bool, error) {
	return Rule{d.o.Public, d.o.Portal}.Holds(view, record)
}

// visible returns a document without what callers may not see.
func (d *Directory) visible(doc bson.Raw) bson.Raw {
	if d.o.Visible == nil {
		return doc
	}
	return d.o.Visible(doc)
}

// person returns a person by username, or by a document with one; the zero entry if not public.
func (d *Directory) person(v bson.RawValue) entry { return d.persons[reference(v, inPerson.User)] }

// participant is person for an activity that is not a publication.
func (d *Directory) participant(v bson.RawValue) entry {
	if who := d.person(v); !d.reserved[who.ID] {
		return who
	}
	return entry{}
}

// project returns the entry of a project by name or _id. It returns the zero entry if the project is not public.
func (d *Directory) project(v bson.RawValue) entry { return d.projects[idText(v)] }

// unit returns a unit by id, or by a document with one; the zero entry if hidden.
func (d *Directory) unit(v bson.RawValue) entry {
	id := cmp.Or(reference(v, inMembership.Unit), reference(v, inMembership.ID))
	if u, known := d.units[id]; known {
		return u
	}
	return entry{ID: id}
}

// membership returns the unit of a membership; the zero entry if it has ended.
func (d *Directory) membership(v bson.RawValue) entry {
	if doc, _ := v.DocumentOK(); units.InPast(raw.Get(doc, inMembership.End), d.o.Now) {
		return entry{}
	}
	return d.unit(v)
}

func topicEntry(v bson.RawValue) entry {
	topic, _ := v.DocumentOK()
	return entry{
		ID: reference(v, inTopic.ID), Name: cmp.Or(textOf(topic, inTopic.Name), textOf(topic, inTopic.Display)),
	}
}

// keywordEntry leaves out a name that is the key.
func keywordEntry(word string) entry {
	e := entry{ID: keyword.Key(word)}
	if e.ID != word {
		e.Name = trim(word)
	}
	return e
}

func personEntry(doc bson.Raw) entry {
	self := person.Of(doc)
	name := cmp.Or(trim(self.Inverted()), textOf(doc, ofPerson.Formal), textOf(doc, ofPerson.Display),
		textOf(doc, ofPerson.Username))
	orcid := identifier.ORCID(textOf(doc, ofPerson.ORCID))
	return entry{ID: idOf(doc, ofPerson.Username), Name: name, ORCID: orcid}
}

func projectEntry(doc bson.Raw) entry {
	name := idOf(doc, ofProject.Name)
	return entry{
		ID: name, Title: cmp.Or(textOf(doc, ofProject.Title), name),
		Funder: trim(display.Text(raw.Get(doc, ofProject.Funder))),
		Grants: trim(markup.Plain(strings.Join(display.Texts(raw.Get(doc, ofProject.Grants)), ", "))),
	}
}
