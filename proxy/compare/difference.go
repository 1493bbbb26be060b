package compare

// Kind says what differs. It is a text, because operators write kinds in their rules and read them in reports.
type Kind string

// The kinds of differences. Failed means that a side gave no answer that could be compared.
const (
	Status       Kind = "status"
	MediaType    Kind = "media type"
	Location     Kind = "location"
	Count        Kind = "count"
	Order        Kind = "order"
	RowMissing   Kind = "row missing"
	RowAdded     Kind = "row added"
	FieldMissing Kind = "field missing"
	FieldAdded   Kind = "field added"
	FieldChanged Kind = "field changed"
	Words        Kind = "words"     // of HTML, and tags between them
	Tag          Kind = "tag"       // one or more, without words
	Attribute    Kind = "attribute" // of a tag that both have
	Text         Kind = "text"
	Failed       Kind = "failed"

	HTML Kind = "html" // in rules: Words, Tag or Attribute
)

var kinds = []Kind{Status, MediaType, Location, Count, Order, RowMissing, RowAdded, FieldMissing, FieldAdded,
	FieldChanged, Words, Tag, Attribute, Text}

// Difference is one difference of two answers. A value that a side lacks is empty. Values of JSON are shown as
// texts without quotes, unless their types differ: then as "1" and 1.
type Difference struct {
	Target string `json:"target"` // of the request; in reports only
	Kind   Kind   `json:"-"`
	// a JSON path such as $.data[17].title in the old answer, followed by the elements of HTML and @attribute
	Path string `json:"path"`
	Row  string `json:"row,omitempty"` // the id of the row with the difference
	// Relation is that of the rule which accepts the difference, or else the first that holds of the values.
	Relation string `json:"relation,omitempty"`
	Old      string `json:"old"`
	New      string `json:"new"`

	// These are for relations, while the answers are compared.
	was, is value        // of JSON; nil if a side lacks it
	about   surroundings // nil in tests and reports
	record  string       // the id of the innermost row
	list    string       // of a row of a list: the relation of the orders of both lists
}

// surroundings are what relations may know of the two answers that have a difference. answers implements it. What
// asks the sides for more asks once for two answers, or once at all.
type surroundings interface {
	both() (old, new Answer)
	asked() Request
	instants() [2]string                          // in the last attribute datetime that differs
	cleanings() map[change]bool                   // what cleaning changes in the old one of two texts of HTML
	hides(field string) bool                      // whether the new side hides a field
	partialDates(record string) []partial         // the dates of an activity that lack a day; asks the old side
	wholesAgree(byOffset bool) bool               // whether the lists agree of which the answers are pages; asks both
	whole() int                                   // the rows of the new side's whole list, after wholesAgree
	agreesFiltered() bool                         // whether the answers with a filter that all fit agree; asks both
	inLanguage(name string) (body value, ok bool) // the new answer in a language; asks the new side
}

// change is a difference without its place in a list.
type change struct {
	kind           Kind
	path, old, new string
}

// partial is a date without a day, or without day and month.
type partial struct{ year, month int }
