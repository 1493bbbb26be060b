// Package compare sends the same requests to two servers and reports how their answers differ: an old system and the
// Vitrine that is to replace it, or two versions of Vitrine.
//
//	Side        one of the servers; asks by GET and HEAD alone (side.go)
//	Request     path and query of a logged URL, without secrets (request.go)
//	Compare     finds the differences of two answers: status, JSON by rows and fields, HTML by tokens (this file,
//	            json.go, text.go), within bounds (bounds.go)
//	Accepted    says which differences are on purpose (accepted.go)
//	Settings    what a caller configures of a comparison: pace, state file, accepted differences (comparison.go)
//	Comparison  asks both sides, paced, by its Settings (comparison.go), and counts differences by endpoint (tally.go)
//	Report      the counts, groups and examples, within bounds (report.go)
//	Shadow      does so for a share of a server's live requests (shadow.go)
//
// The data flow: logged URL → Request → one Answer of each side → Differences → Accepted → counts by endpoint,
// groups with examples → Report, as JSON, as a table and as a page.
//
// The promises: no request changes anything (GET and HEAD), no key is in a URL, in an error or in a report, and the
// memory for two answers is bounded by their size, whatever they contain.
package compare

import (
	"bytes"
	"context"
	"fmt"
	"strconv"
	"unicode/utf8"
)

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
	HTML         Kind = "html"
	Text         Kind = "text"
	Failed       Kind = "failed"
)

var kinds = []Kind{Status, MediaType, Location, Count, Order, RowMissing, RowAdded, FieldMissing, FieldAdded,
	FieldChanged, HTML, Text}

// Difference is one difference of two answers. A value that a side lacks is empty.
type Difference struct {
	Target string `json:"target"` // of the request; in reports only
	Kind   Kind   `json:"-"`
	// a JSON path such as $.data[17].title in the old answer, followed by the elements of HTML
	Path string `json:"path"`
	Row  string `json:"row,omitempty"` // the id of the row with the difference
	Old  string `json:"old"`
	New  string `json:"new"`
}

// answers compares two answers. It lives for one pair, in one goroutine.
type answers struct {
	emit  func(Difference)
	row   string // the id of the row that is being compared
	depth int    // of the JSON value that is being compared
	work  work
}

// report emits a difference at a path, unless the work for this pair is used up. Values are whole here; reports
// shorten them when they keep an example, after the rules have seen them.
func (a *answers) report(kind Kind, path, old, new string) {
	if a.spend(path, workToReport+workToRead*(len(old)+len(new))) {
		a.emit(Difference{Kind: kind, Path: path, Row: a.row, Old: old, New: new})
	}
}

// Compare calls emit for each difference of two answers. What takes too long is a difference of the kind Failed,
// whose values begin with TooLong. If ctx ends, so does Compare. emit runs in the goroutine of the caller.
func Compare(ctx context.Context, old, new Answer, emit func(Difference)) {
	compare(ctx, old, new, nil, emit)
}

// compare is Compare, but calls pause between stretches of work, unless it is nil. From the outside in: the status,
// then the header fields, then the body by its kind.
func compare(ctx context.Context, old, new Answer, pause func(), emit func(Difference)) {
	units := workFor + workForByte*(len(old.Body)+len(new.Body))
	a := &answers{emit: emit, work: work{left: units, rest: units, pause: pause, ended: ctx.Err}}
	if o, n := old.envelope(), new.envelope(); o != n {
		a.report(Status, "", strconv.Itoa(o), strconv.Itoa(n))
		return // the bodies of an error and of a list have nothing in common
	}
	if old.Status != new.Status {
		a.report(Status, "HTTP", strconv.Itoa(old.Status), strconv.Itoa(new.Status))
	}
	if old.Location != new.Location {
		a.report(Location, "", old.Location, new.Location)
	}
	if old.Type != new.Type {
		a.report(MediaType, "", old.Type, new.Type)
	}
	if bytes.Equal(old.Body, new.Body) {
		return
	}
	was, is := documents(old.Body), documents(new.Body)
	switch {
	case !a.spend("", 4*workToRead*(len(old.Body)+len(new.Body))):
	case len(was) == 1 && len(is) == 1:
		a.json("$", was[0], is[0])
	case was != nil && is != nil:
		if a.fit("$", len(was), len(is), mostParts, "documents") {
			a.rows("$", was, is)
		}
	case !utf8.Valid(old.Body) || !utf8.Valid(new.Body):
		a.report(Text, "", fmt.Sprintf("%d bytes", len(old.Body)), fmt.Sprintf("%d other bytes", len(new.Body)))
	case old.Type == "text/html" || new.Type == "text/html":
		a.html("", string(old.Body), string(new.Body))
	default:
		a.lines(old.Body, new.Body)
	}
}
