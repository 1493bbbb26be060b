// Package compare sends the same requests to two servers and reports how their answers differ: an old system and the
// Vitrine that is to replace it, or two versions of Vitrine.
//
//	Side        one of the servers; asks by GET and HEAD alone (side.go)
//	Request     path and query of a logged URL, without secrets (request.go)
//	Compare     finds the differences of two answers: status, JSON by rows and fields, HTML by tokens (this file,
//	            json.go, text.go), within bounds (bounds.go)
//	Accepted    says which differences are on purpose (accepted.go), by relations of their values (relation.go)
//	evidence    asks the sides for more where two answers do not prove a relation (evidence.go)
//	Settings    what a caller configures of a comparison: pace, state file, accepted differences (comparison.go)
//	Comparison  asks both sides, paced, by its Settings (comparison.go), and counts differences by endpoint (tally.go)
//	Cause       what many differences come from, with the rule that accepts it (cause.go, suggest.go)
//	Report      the counts, causes and examples, within bounds (report.go), and as a page (page.go)
//	Shadow      does so for a share of a server's live requests (shadow.go)
//
// The data flow: logged URL → Request → one Answer of each side → Differences → Accepted → counts by
// endpoint and by place → Causes with examples → Report, as JSON, as text and as a page.
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

// answers compares two answers. It lives for one pair, in one goroutine.
type answers struct {
	exchange
	emit   func(Difference)
	row    string // the id of the row that is being compared
	record string // … of the innermost one
	depth  int    // of the JSON value that is being compared
	work   work
	times  [2]string // the instants in the last attribute datetime that differs

	markup  *texts          // the texts of HTML that are being compared
	cleaned map[change]bool // see cleanings; nil: not asked for

	wholes    *bool            // whether the whole lists agree; nil: not asked
	wholeRows int              // of the new side
	languages map[string]value // the new side's answers in other languages; nil for one that it did not give
}

// texts are two values of HTML at a path.
type texts struct{ path, old, new string }

// exchange is two answers to a request, and what else is known of them.
type exchange struct {
	old, new Answer
	request  Request
	more     *evidence // nil: the sides are asked for no more
	pause    func()    // called between stretches of work; nil: never
}

func (a *answers) both() (old, new Answer) { return a.old, a.new }
func (a *answers) asked() Request          { return a.request }
func (a *answers) whole() int              { return a.wholeRows }
func (a *answers) instants() [2]string     { return a.times }

// report emits a difference at a path, unless the work for this pair is used up. Values are whole here; reports
// shorten them when they keep an example, after the rules have seen them.
func (a *answers) report(kind Kind, path, old, new string) {
	a.reportDifference(Difference{Kind: kind, Path: path, Old: old, New: new})
}

// reportValues is report for values of JSON, of which one may be nil.
func (a *answers) reportValues(kind Kind, path string, old, new value) {
	d := Difference{Kind: kind, Path: path, Old: show(old), New: show(new), was: old, is: new}
	if old != nil && new != nil && (old[0] == '"') != (new[0] == '"') {
		d.Old, d.New = string(old), string(new)
	}
	a.reportDifference(d)
}

func (a *answers) reportDifference(d Difference) {
	if a.spend(d.Path, workToReport+workToRead*(len(d.Old)+len(d.New))) {
		d.Row, d.record, d.about = a.row, a.record, a
		a.emit(d)
	}
}

// Compare calls emit for each difference of two answers. What takes too long is a difference of the kind Failed,
// whose values begin with TooLong. If ctx ends, so does Compare. emit runs in the goroutine of the caller.
func Compare(ctx context.Context, old, new Answer, emit func(Difference)) {
	exchange{old: old, new: new}.compare(ctx, emit)
}

// compare is Compare. From the outside in: the status, then the header fields, then the body by its kind.
func (p exchange) compare(ctx context.Context, emit func(Difference)) {
	old, new := p.old, p.new
	units := workFor + workForByte*(len(old.Body)+len(new.Body))
	a := &answers{exchange: p, emit: emit, work: work{left: units, rest: units, pause: p.pause, ended: ctx.Err}}
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
