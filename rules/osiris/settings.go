package osiris

import (
	"iter"
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/rules/access"
	"vitrine/rules/label"
	"vitrine/rules/raw"
	"vitrine/rules/render"
)

// The collections of an OSIRIS database from which settings are read.
const (
	General      = "adminGeneral"
	Rights       = "adminRights"
	Features     = "adminFeatures"
	Categories   = "adminCategories"
	Types        = "adminTypes"
	Projects     = "adminProjects"
	Vocabularies = "adminVocabularies"
	Fields       = "adminFields"
	Topics       = "topics"
	Journals     = "journals"
	Persons      = "persons"
	Groups       = "groups"
)

// ForAnswers returns the collections that determine everything in Settings but Render, and the names of types and
// subtypes in Render.
func ForAnswers() []string {
	return []string{Categories, Features, General, Projects, Rights, Types, Vocabularies, Groups, Topics}
}

// ForRendering returns the collections that determine Settings.Render and Language.
func ForRendering() []string {
	return []string{Categories, Fields, General, Types, Vocabularies, Journals, Persons}
}

// ForPortal returns the collections that determine Settings.Portal.
func ForPortal() []string { return []string{Features, General, Types} }

// Administrative returns the collections that an administrator edits. The others have records of the institute.
func Administrative() []string {
	return []string{Categories, Features, Fields, General, Projects, Rights, Types, Vocabularies}
}

// RoleUser is the role of every logged-in user.
const RoleUser = "user"

// Settings are the settings in a database. Missing settings are zero. They are plain values. The
// configuration takes precedence over them (docs/osiris.md).
type Settings struct {
	StartYear    int    // first year of /api/html
	APIKey       APIKey // key of /api
	PortfolioKey APIKey // key of /portfolio
	Language     string // en or de
	Portfolio    *bool  // whether the spectrum is enabled; nil if the database does not say
	Portal       Portal // which activities the portal shows
	// Departments are the ids of the units that /api/html names, sorted; nil if the database has no units.
	Departments []string

	Roles   map[string][]access.Permission // permissions of each role
	Visible map[string][]string            // roles that may see a type of activities; all may see others
	Labels  label.Sets
	Render  render.Osiris

	Warnings []render.Fault // what From could not use, in order of collections and records
}

// From reads the documents of a database, by collection. Settings in missing collections are zero.
// Each step reads one kind of record, and none needs the result of another.
func From(docs map[string][]bson.Raw) Settings {
	r := &reader{docs: docs}
	r.general()
	r.features()
	r.rights()
	r.categories()
	r.types()
	r.portal()
	r.departments()
	r.fields()
	r.journals()
	r.persons()
	r.labels()
	slices.SortStableFunc(r.settings.Warnings, func(a, b render.Fault) int {
		before, _ := a.Record()
		after, _ := b.Record()
		return strings.Compare(before, after)
	})
	return r.settings
}

// reader collects the settings and the warnings of one call of From.
type reader struct {
	docs     map[string][]bson.Raw
	settings Settings
}

// records yields the documents of a collection in order of _id, so that the first record does not depend on the
// store.
func (r *reader) records(collection string) iter.Seq[record] {
	docs := slices.Clone(r.docs[collection])
	slices.SortStableFunc(docs, func(a, b bson.Raw) int { return raw.Compare(a.Lookup("_id"), b.Lookup("_id")) })
	return func(yield func(record) bool) {
		for _, doc := range docs {
			rec := record{reader: r, from: collection + " " + idText(doc.Lookup("_id")), doc: doc}
			if err := doc.Validate(); err != nil {
				rec.warn("is not a document that can be read")
				continue
			}
			if !yield(rec) {
				return
			}
		}
	}
}

// idText returns an _id as text, the form in which people read it and records refer to it.
func idText(id bson.RawValue) string {
	if oid, ok := id.ObjectIDOK(); ok {
		return oid.Hex()
	}
	if s, ok := textOf(id); ok {
		return s
	}
	return id.String()
}
