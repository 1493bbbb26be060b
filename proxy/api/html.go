package api

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/view/index"
	"vitrine/proxy/query"
	"vitrine/proxy/response"
	"vitrine/rules/display"
	"vitrine/rules/ejson"
	"vitrine/rules/identifier"
	"vitrine/rules/markup"
	"vitrine/rules/raw"
)

// html answers GET /api/html: affiliated publications as citations. It reads limit but not offset, as described;
// count is the number before limit. A stray offset has no effect, and the answer reports it as ignored.
func (e *Env) html(_ context.Context, r Request) (response.Plan, error) {
	list := e.activitiesOf(r, e.publications)
	list.page = query.Page{Limit: r.Params.Natural("limit")}
	return list.rows("html", e.htmlRow), nil
}

// publications selects those since a year with an affiliated author: none if no field marks one. The record has to
// have one author for whom a marking field says yes, in any of the spellings of a flag (raw.Yes). $nor of the empty
// filter selects nothing: without a field that marks authors no publication is known to be the institute's.
func publications(since int, markers []string) bson.D {
	yes := bson.D{{Key: "$in", Value: raw.Yes()}}
	var marked bson.A
	for _, field := range markers {
		marked = append(marked, bson.D{{Key: field, Value: yes}})
	}
	if len(marked) == 0 {
		return bson.D{{Key: "$nor", Value: bson.A{bson.D{}}}}
	}
	return bson.D{
		{Key: "type", Value: "publication"},
		{Key: "year", Value: bson.D{{Key: "$gte", Value: since}}},
		{Key: "authors", Value: bson.D{{Key: "$elemMatch", Value: bson.D{{Key: "$or", Value: marked}}}}},
	}
}

// htmlRow appends id, html, year, departments, link. The citation is the print form, or else the web form.
func (e *Env) htmlRow(dst []byte, row index.Row) []byte {
	dst = append(dst, row.Fragment(fragID)...)
	citation := row.Fragment(fragPrint)
	if len(citation) == 0 {
		citation = row.Fragment(fragWeb)
	}
	dst = appendOr(append(dst, `,"html":`...), citation, `""`)
	if e.o.Departments == nil {
		return append(dst, row.Fragment(fragHTML)...)
	}
	doc := row.Doc()
	return appendHTMLEnd(appendYear(dst, doc, ""), doc, doc.Lookup("units"), e.o.Departments)
}

// appendHTMLRest appends the end of a row if all units are departments. They are rendered, or else the stored units.
func appendHTMLRest(dst []byte, row bson.Raw) []byte {
	dst = appendYear(dst, row, "")
	departments := row.Lookup("rendered", "departments")
	if departments.Type != bson.TypeArray {
		departments = row.Lookup("units")
	}
	return appendHTMLEnd(dst, row, departments, nil)
}

// appendHTMLEnd appends departments and link, and closes the row. It shows the units that are in departments, or
// all if departments is nil, and skips elements that are not text.
func appendHTMLEnd(dst []byte, row bson.Raw, units bson.RawValue, departments []string) []byte {
	var shown raw.Builder
	for unit := range raw.Elements(units) {
		if id, ok := unit.StringValueOK(); ok && (departments == nil || slices.Contains(departments, id)) {
			shown.Push(unit)
		}
	}
	dst = ejson.Append(ejson.AppendKey(dst, "departments"), shown.Finish(bson.TypeArray))
	link := externalLink(row)
	return append(appendMember(dst, "link", raw.NewString(link), link != "", "null"), '}')
}

// externalLink returns the link to the DOI, or else to PubMed, or else the stored URL, or "". A stored text counts
// as a DOI or number even if it cannot be read as one, unless it is another address. Such a text makes a link that
// the resolver answers, rather than none.
func externalLink(row bson.Raw) string {
	stored := func(field string) string { return strings.TrimSpace(display.Text(row.Lookup(field))) }
	id, instead := identifier.First(row.Lookup("doi"), identifier.DOI), ""
	if id == "" {
		if instead = markup.WebURL(stored("doi")); instead == "" {
			id = identifier.Bare(stored("doi"))
		}
	}
	if id != "" {
		return identifier.DOIAddress(id)
	}
	if id := stored("pubmed"); id != "" {
		return identifier.PMIDAddress(cmp.Or(identifier.PMID(id), markup.PathSegment(id)))
	}
	return cmp.Or(markup.WebURL(stored("link")), instead)
}
