// Package cite reads records as bibliographic items and writes them in the formats that reference
// managers and search engines read: BibTeX, RIS, CSL-JSON, schema.org's JSON-LD, COinS and
// citation_* tags.
//
// A file of mapping rules (configs/rules/cite.yaml) says which kind of work each stored code means,
// what each format calls that kind, and in which fields records store the variables of an item.
// Load compiles the file once; Mapping.Make then makes an item of a record in one pass. The mark of
// a public record has its item (Mapping.Cited), so that requests only decode it: Mapping.Read.
//
// Make never fails: a field of a wrong type counts as missing, and all texts of an item are valid
// UTF-8 without line breaks and control characters. All functions are safe for concurrent use, as
// long as each goroutine has its own Item.
//
//	record ──Make──▶ Item ──encode──▶ mark of the row
//	└──decode──▶ Item ──Append…──▶ BibTeX, RIS, CSL-JSON, JSON-LD, COinS
//
// To add a format, write a function from an Item to bytes, and put its terms into formats.yaml. To
// add a field, add it to Item and to Item.pass; the stamp of marks then changes by itself, and
// older items are made anew.
package cite

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/rules/date"
	"vitrine/rules/notice"
	"vitrine/rules/person"
)

// Person is an author, an editor or a supervisor of an item. A literal name without parts is that
// of an organisation, or could not be split.
type Person struct {
	person.Person
	User  string // of a public person of the institute (package mark)
	ORCID string // of such a person, or as the record has it of others
}

// Project is a public project that an activity is part of. The JSON names are those of lists.
type Project struct {
	ID     string `json:"id,omitempty"`
	Title  string `json:"title,omitempty"`
	Funder string `json:"funder,omitempty"`
	Grant  string `json:"grant,omitempty"`
}

// Forms are the names of a kind of work in each format. configs/rules/cite.yaml has them for each
// kind. They need no escape in any format: Load refuses other characters.
type Forms struct {
	CSL, BibTeX, RIS, Schema string
	OpenURL                  string // a format of OpenURL and a genre in it, such as "journal/article"
}

// Item is a record as bibliographic formats need it: texts in the row's memory, plain but for Title and HTML.
// Item.pass names the fields that marks have.
type Item struct {
	ID  string // the record's _id as text
	Key string // citation key: ASCII, stable and unique

	View          string // the row's view, such as rules.ViewActivities
	Type, Subtype string // as stored
	Forms         Forms

	// Title is HTML with the inline markup of titles (markup.Title); Text is the title without markup.
	Title, Text string
	Name        string // short, for links to a project

	Authors, Editors, Supervisors []Person
	// MoreAuthors and its like say that there are others, whom the record does not name: "et al."
	MoreAuthors, MoreEditors, MoreSupervisors bool

	Date date.Date
	End  date.Date // the last day, if it is not the first

	Container, Series, Volume, Issue, Pages, Publisher, Place, Edition, Event, Degree, Version string

	Number string // of a report or a patent
	EID    string // the number of an article in a volume; Pages may be the same
	// Status is what CSL calls a work that has not appeared yet, such as "in press", or "".
	Status string

	// Notices are what was said of the work after its publication, and of others by it, the gravest
	// first. Titled is whether the title begins with that.
	Notices []notice.Notice
	Titled  bool

	// Pages are as pages.Read returns them. DOI is bare. ISBN and ISSN may hold several numbers, separated by ", ".
	// URL is http or https.
	DOI, PMID, ISBN, ISSN, URL, Language, Abstract string

	Keywords []string
	OA       string // "true", "false", or "" if the record does not say
	// Licence is the address of the licence, and Rights its stored name or address. PDF is the
	// address of a PDF file.
	Licence, Rights, PDF string
	// Funder is the name of an organisation, and Grant its number of the project; both may be "".
	Funder, Grant string
	Projects      []Project // of an activity

	// HTML has the texts that may have the inline markup of titles, with it.
	HTML struct{ Container, Series, Event, Abstract string }

	Profile Profile // of a person
	// User, ORCID and Units are those of a person, from the mark: the units of the memberships that have not ended.
	User, ORCID string
	Units       []Unit

	paragraphs string  // of the abstract, as HTML, separated by line breaks
	badges     []badge // in the order of the rules

	kind   *work           // has Forms
	values []bson.RawValue // the record's values, by slot; only for Make
}
