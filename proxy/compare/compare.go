// Package compare asks two servers for the same and reports what they answer differently: an old system and the Vitrine
// that is to replace it, or two versions of Vitrine.
//
//	Side     one of the servers; asks by GET and HEAD alone (side.go)
//	Request  path and query of a logged URL, without secrets (request.go)
//	Answers  finds the differences of two answers: status, JSON by rows and fields, HTML by tokens (this file, json.go, text.go)
//	Rules    say which differences are on purpose (rules.go)
//	Report   counts by endpoint, keeps examples within bounds, prints (report.go, page.go)
//	Run      asks both sides for many requests, paced (run.go)
//	Shadow   does so for a share of a server's live requests (shadow.go)
package compare

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Kind says what differs.
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

var kinds = []Kind{Status, MediaType, Location, Count, Order, RowMissing, RowAdded, FieldMissing, FieldAdded, FieldChanged, HTML, Text}

// Difference is one difference of two answers. What one side lacks is empty.
type Difference struct {
	Kind     Kind
	Path     string // the place: a JSON path such as $.data[17].title, by the old answer; behind it the elements of HTML
	Row      string // the id of the row with the difference
	Old, New string
}

// answers compares two answers.
type answers struct {
	emit  func(Difference)
	row   string // the id of the row that is being compared
	depth int    // of the JSON value that is being compared
}

func (a *answers) report(kind Kind, path, old, new string) {
	a.emit(Difference{kind, path, a.row, old, new})
}

// Compare calls emit for each difference of two answers.
func Compare(old, new Answer, emit func(Difference)) {
	a := &answers{emit: emit}
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
	if old.Sum == new.Sum && old.Size == new.Size {
		return
	}
	if old.cut() || new.cut() {
		a.report(Failed, "", fmt.Sprintf("%d bytes, too many to compare", old.Size), fmt.Sprintf("%d bytes, too many to compare", new.Size))
		return
	}
	was, is := documents(old.Body), documents(new.Body)
	switch {
	case was != nil && is != nil:
		for i := range max(len(was), len(is)) { // /api/projects?formatted has two
			path := "$" + strings.Repeat("$", i)
			switch {
			case i >= len(is):
				a.report(FieldMissing, path, string(was[i]), "")
			case i >= len(was):
				a.report(FieldAdded, path, "", string(is[i]))
			default:
				a.json(path, was[i], is[i])
			}
		}
	case !utf8.Valid(old.Body) || !utf8.Valid(new.Body):
		a.report(Text, "", fmt.Sprintf("%d bytes", old.Size), fmt.Sprintf("%d other bytes", new.Size))
	case old.Type == "text/html" || new.Type == "text/html":
		a.html("", string(old.Body), string(new.Body))
	default:
		a.text(Text, "", lines(old.Body), lines(new.Body))
	}
}

// lines returns the lines of a text as tokens.
func lines(text []byte) (all []token) {
	for line := range bytes.Lines(text) {
		all = append(all, token{text: string(bytes.TrimRight(line, "\r\n"))})
	}
	return all
}
