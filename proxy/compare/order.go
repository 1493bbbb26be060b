package compare

import (
	"cmp"
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/rules/ejson"
	"vitrine/rules/raw"
)

// ranking says in which order the two sides have the rows of a list. OSIRIS sorts some lists by one member of their
// rows, and leaves rows of the same rank, and the rows of all other lists, in the order of its database, which is
// none. Vitrine's order is total: its rank, then the id (docs/decisions.md).
type ranking struct {
	old string // the member by which OSIRIS sorts, descending; empty: it does not sort
	new string // the member by which Vitrine sorts, descending, before the id
	id  string // the member with which Vitrine's order ends, ascending, or descending if it begins with "-"
}

// rankings has the rankings of lists by endpoint. A list that is not there has the same order on both sides.
var rankings = map[string]ranking{
	"/api/activities":                 {old: "year", new: "year", id: "id"},
	"/api/html":                       {new: "year", id: "id"},
	"/api/all-activities":             {new: "year", id: "id"},
	"/api/projects":                   {old: "year", new: "year", id: "id"},
	"/api/proposals":                  {old: "year", new: "year", id: "id"},
	"/api/search/activities":          {old: "year", new: "year", id: "id"},
	"/api/search/projects":            {old: "year", new: "year", id: "id"},
	"/api/search/proposals":           {old: "year", new: "year", id: "id"},
	"/api/search/journals":            {old: "year", new: "year", id: "id"},
	"/api/search/persons":             {old: "year", new: "year", id: "id"},
	"/api/search/conferences":         {old: "year", new: "year", id: "id"},
	"/api/events":                     {old: "start", new: "start", id: "id"},
	"/api/conferences":                {old: "start", new: "start", id: "id"},
	"/api/deadlines":                  {old: "start", new: "start", id: "id"},
	"/api/spectrum-activities":        {old: "score", new: "score", id: "id"},
	"/api/projects-by-funding-number": {id: "_id"},
}

// ranking returns the ranking of the list in an answer, and whether there is one.
func (p exchange) ranking() (of ranking, known bool) {
	of, known = rankings[p.request.Endpoint()]
	has := p.request.parameters()
	switch {
	case !known || strings.HasPrefix(p.request.Target, "/api/search/") && has.Has("full"):
	case has.Get("aggregate") != "" && of.old == "year":
		of = ranking{old: "count", new: "count", id: "value"}
	case has.Has("full") && of.old == "year":
		of = ranking{old: "_id", new: "_id", id: "_id"} // no two rows have the same rank
	case has.Has("formatted"):
		of.old = "" // the table is not sorted; the list that follows it is, by what no row shows
	}
	return of, known
}

// listRelation returns the relation of the orders of two lists whose rows are paired: "tie" if rows of the same rank
// alone are in another order, "unsorted" if the old side does not sort them, or "". In both cases the new side's
// rows have to be in Vitrine's own order, as far as the rows show it: any order at all would accept a list that is
// reversed.
func (a *answers) listRelation(path string, was, is []*row) string {
	of, known := a.ranking()
	if !known || path != "$.data" && path != "$[0].data" && path != "$[1].data" {
		return ""
	}
	ranks, total := a.ranksOf(of, is)
	if !total || of.old == "_id" {
		return ""
	}
	for i, r := range is[:max(len(is)-1, 0)] {
		next := is[i+1]
		if c := cmp.Or(compareValues(ranks[next], ranks[r]), compareValues(r.end, next.end)); c > 0 {
			return ""
		}
		if r.id == next.id && r.twin != nil && next.twin != nil && r.twin.at > next.twin.at {
			return "" // rows that unwinding made of one record have the order of its array
		}
	}
	if of.old == "" {
		return "unsorted"
	}
	// the rows that both sides have are in the order of their ranks on the old side, too
	var last *row
	for _, r := range was {
		if r.twin == nil {
			continue
		}
		if last != nil && compareValues(ranks[r.twin], ranks[last.twin]) > 0 {
			return ""
		}
		last = r
	}
	return "tie"
}

// ranksOf returns the new side's ranks of its rows, and whether they are known. It notes the end of the order, the
// id, in the rows. Years that the rows do not show are asked for.
func (a *answers) ranksOf(of ranking, rows []*row) (ranks map[*row]value, known bool) {
	ranks = make(map[*row]value, len(rows))
	hidden := false
	for _, r := range rows {
		if len(r.text) == 0 || r.text[0] != '{' || !a.spend("", 2*workToDecode+2*workToRead*len(r.text)) {
			return nil, false
		}
		members := decoded[map[string]value](r.text)
		ranks[r] = members[of.new]
		r.end = members[strings.TrimPrefix(of.id, "-")]
		hidden = hidden || of.new == "year" && members["year"] == nil
	}
	if !hidden || len(rows) == 0 {
		return ranks, true
	}
	years, known := a.more.years(a.request)
	for r := range ranks {
		ranks[r] = years[r.id]
	}
	return ranks, known
}

// compareValues compares two JSON values as MongoDB sorts them. Nothing is null.
func compareValues(a, b value) int { return raw.Compare(stored(a), stored(b)) }

// stored returns a JSON value as a store has it, or null if it is none or long.
func stored(v value) bson.RawValue {
	if len(v) == 0 || len(v) > mostSpelled {
		return bson.RawValue{Type: bson.TypeNull}
	}
	doc, err := ejson.Parse(slices.Concat([]byte(`{"v":`), v, []byte(`}`)), ejson.Options{})
	if err != nil {
		return bson.RawValue{Type: bson.TypeNull}
	}
	return doc.Lookup("v")
}
