// Package cite reads records as bibliographic items and writes them in the formats that
// reference managers and search engines read: BibTeX, RIS, CSL-JSON, schema.org's JSON-LD,
// COinS and citation_* tags.
//
// A file of mapping rules (configs/rules/cite.yaml) says which kind of work the stored
// codes mean, what each format calls that kind, and which stored fields hold what. Load
// compiles it once; Mapping.Read then passes over a record once.
//
// Read never fails: a field of a wrong type counts as missing, and what a writer gets is
// valid UTF-8 without line breaks and control characters. All functions are safe for
// concurrent use, as long as each goroutine has its own Item.
package cite

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/rules/date"
)

// Person is an author or an editor of an item.
type Person struct {
	Given, Family string
	// Literal is the whole name where there is no family name: an organisation, or a name
	// stored as one text.
	Literal string
	// User and ORCID are those of a public person of the institute (package mark), else "".
	User, ORCID string
}

// Forms are the names of a kind of work in the formats.
type Forms struct {
	CSL, BibTeX, RIS, Schema string
	// OpenURL is a format of OpenURL and a genre in it, such as "journal/article".
	OpenURL string
}

// Item is a record as bibliographic formats see it. Its texts share the memory of the row
// that it was read from. Everything but Title is plain text.
type Item struct {
	ID  string // the record's _id as text
	Key string // citation key: ASCII, stable and unique

	View          string // the view of its row, such as rules.ViewActivities
	Type, Subtype string // as stored
	Forms         Forms

	// Title is HTML with the inline markup of titles (markup.Title), Text is without it.
	Title, Text string
	// Name is the short name by which a project is linked.
	Name string

	Authors, Editors []Person
	Date             date.Date
	End              date.Date // of what lasts longer than a day, else no date

	Container, Series, Volume, Issue, Pages, Publisher, Place, Edition, Event, Degree, Version string

	// DOI is bare, ISBN and ISSN may be several, separated by ", ", and URL is http or https.
	DOI, PMID, ISBN, ISSN, URL, Language, Abstract string

	values []bson.RawValue // of the row, by slot
}
