package compare

import (
	"bytes"
	"context"
	"slices"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/time/rate"
)

// evidence asks the sides for more than the two answers that are compared, where the answers alone do not prove that
// a difference is on purpose: for the days that records have, for whole lists of which both sides have a page, and
// for labels in other languages. Its requests are not counted as compared.
//
// It is used by one comparison at a time, and asks for the same thing once for each pair of answers, or once at all.
type evidence struct {
	ctx      context.Context
	old, new *Side
	accepted Accepted
	hidden   func(path string) bool // whether the new side hides a field; nil: none
	limit    *rate.Limiter          // nil: not limited
	records  *records
}

// records is what a Comparison remembers of all activities. Several comparisons share it, one after the other.
type records struct {
	mu       sync.Mutex
	failed   bool
	partials map[string][]partial        // by id: what an activity's dates lack, on the old side
	years    map[string]map[string]value // by path and id: the year on the new side
}

// ask sends a request for more. It returns false if there is no such answer, or if too much was asked already: then
// the difference stands.
func (e *evidence) ask(side *Side, target string) (a Answer, ok bool) {
	if e == nil || len(target) > mostURL || e.limit != nil && !e.limit.Allow() {
		return a, false
	}
	a, err := side.Ask(e.ctx, Request{"GET", target})
	return a, err == nil && a.Status == 200 && a.envelope() == 200
}

// The dates of activities, as their records have them: year, month and day, and the same in start and end.
const datesOfAll = "/api/activities?columns[]=year&columns[]=month&columns[]=day&columns[]=start&columns[]=end"

// partialDates returns the dates of an activity that lack a day. The old side is asked: a new side that has lost a
// day would vouch for itself.
func (e *evidence) partialDates(id string) []partial {
	if e == nil {
		return nil
	}
	e.records.mu.Lock()
	defer e.records.mu.Unlock()
	if e.records.partials == nil && !e.records.failed {
		answer, ok := e.ask(e.old, datesOfAll)
		e.records.failed = !ok
		e.records.partials = map[string][]partial{}
		for _, row := range answer.rows() {
			if id, dates := partialsOf(row); len(dates) > 0 {
				e.records.partials[id] = dates
			}
		}
	}
	return e.records.partials[id]
}

// partialsOf returns the id of a row of datesOfAll, and its dates that lack a day. A date that another field has with
// its day is not one of them.
func partialsOf(row value) (id string, dates []partial) {
	type date struct{ Year, Month, Day value }
	r := decoded[struct {
		ID string
		date
		Start, End value
	}](row)
	all := []date{r.date}
	for _, nested := range []value{r.Start, r.End} {
		if len(nested) > 0 && nested[0] == '{' {
			all = append(all, decoded[date](nested))
		}
	}
	var whole []partial
	for _, d := range all {
		p := partial{number(d.Year), number(d.Month)}
		if number(d.Day) > 0 {
			whole = append(whole, p)
		} else if p.year > 0 {
			dates = append(dates, p)
		}
	}
	return r.ID, slices.DeleteFunc(dates, func(p partial) bool { return slices.Contains(whole, p) })
}

// years returns the years of all records of a path by id, as the new side sorts them, and whether they are known.
func (e *evidence) years(of Request) (byID map[string]value, known bool) {
	if e == nil {
		return nil, false
	}
	e.records.mu.Lock()
	defer e.records.mu.Unlock()
	path, _, _ := strings.Cut(of.Target, "?")
	if byID, known = e.records.years[path]; known {
		return byID, byID != nil
	}
	if e.records.years == nil {
		e.records.years = map[string]map[string]value{}
	}
	answer, ok := e.ask(e.new, path+"?raw=1&columns[]=year")
	if ok {
		byID = map[string]value{}
	}
	for _, row := range answer.rows() {
		if year := decoded[struct{ Year value }](row).Year; year != nil {
			byID[idOf(row)] = slices.Clone(year) // so that the answer is not kept with it
		}
	}
	e.records.years[path] = byID
	return byID, ok
}

// wholesAgree reports whether the whole lists, of which the answers are pages, agree but for differences on purpose,
// and the pages are theirs. It asks once for a pair of answers.
func (a *answers) wholesAgree(byOffset bool) bool {
	limit, err := strconv.Atoi(a.request.parameter("limit"))
	offset := a.request.offset()
	if a.more == nil || err != nil || limit < 0 || byOffset != (offset > 0) {
		return false
	}
	if a.wholes == nil {
		agree := a.compareWholes(limit, offset)
		a.wholes = &agree
	}
	return *a.wholes
}

func (a *answers) compareWholes(limit, offset int) bool {
	whole, ok := a.more.exchange(a.request.with("limit", "").with("offset", ""), a.pause)
	if !ok {
		return false
	}
	was, is := whole.old.rows(), whole.new.rows()
	a.wholeRows = len(is)
	if limit == 0 {
		limit = len(is) // the new side has all rows
	}
	if !isSlice(a.new.rows(), is, offset, limit) {
		return false
	}
	if offset > 0 && !isSlice(a.old.rows(), was, 1, limit) && !isSlice(a.old.rows(), was, offset, limit) {
		return false
	}
	return whole.agree()
}

// filterForAll is a filter that all records fit.
const filterForAll = `{"_id":{"$exists":true}}`

// agreesFiltered reports whether both sides agree about the same groups with a filter, and the new side has the same
// with and without it. It asks anew each time: a pair of answers has one status.
func (a *answers) agreesFiltered() bool {
	filtered, ok := a.more.exchange(a.request.with("json", filterForAll), a.pause)
	return ok && bytes.Equal(filtered.new.Body, a.new.Body) && filtered.new.Type == a.new.Type && filtered.agree()
}

// exchange asks both sides. It returns false if one of them has no such answer.
func (e *evidence) exchange(r Request, pause func()) (p exchange, ok bool) {
	p = exchange{request: r, more: e, pause: pause}
	if e == nil {
		return p, false
	}
	if p.old, ok = e.ask(e.old, r.Target); ok {
		p.new, ok = e.ask(e.new, r.Target)
	}
	return p, ok
}

// agree reports whether the answers agree but for differences on purpose.
func (p exchange) agree() bool {
	agree := true
	endpoint := p.request.Endpoint()
	p.compare(p.more.ctx, func(d Difference) {
		agree = agree && p.more.accepted.Accept(endpoint, d) != nil
	})
	return agree
}

// isSlice reports whether rows are those of a whole list from an offset, limit of them at most: none beyond its end.
func isSlice(rows, whole []value, offset, limit int) bool {
	from := min(offset, len(whole))
	to := min(from+limit, len(whole))
	return rows != nil && slices.EqualFunc(rows, whole[from:to],
		func(a, b value) bool { return string(a) == string(b) || keyOf(a) == keyOf(b) })
}

// hides reports whether the new side hides the field at a path, by its own reader of access.hidden_fields.
func (a *answers) hides(path string) bool {
	return a.more != nil && a.more.hidden != nil && path != "" && a.more.hidden(path)
}

func (a *answers) partialDates(record string) []partial { return a.more.partialDates(record) }

// inLanguage returns the new side's answer in a language. It is asked for once for a pair of answers.
func (a *answers) inLanguage(language string) (body value, ok bool) {
	if body, known := a.languages[language]; known || a.more == nil {
		return body, body != nil
	}
	if a.languages == nil {
		a.languages = map[string]value{}
	}
	answer, ok := a.more.ask(a.more.new, a.request.with("lang", language).Target)
	if all := documents(answer.Body); ok && len(all) == 1 {
		a.languages[language] = all[0]
	} else {
		a.languages[language] = nil
	}
	return a.languages[language], a.languages[language] != nil
}
