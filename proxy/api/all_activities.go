package api

import (
	"cmp"
	"context"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/view/index"
	"vitrine/proxy/response"
	"vitrine/rules/ejson"
	"vitrine/rules/filter"
	"vitrine/rules/markup"
)

// allActivities answers GET /api/all-activities: all rows, for tables and portals, without pages.
func (e *Env) allActivities(_ context.Context, r Request) (response.Plan, error) {
	p := r.Params
	list := e.activitiesOf(r, e.query.Filter(p, "projects"))
	// type is beside filter and not part of it, so that Vitrine-Ignored can say that no activity has the given
	// type.
	if kind := p.Text("type"); kind != "" {
		list.filter = filter.And(list.filter, filter.OneOf("type", kind).As("type"))
		list.value = parameterValue{"type", "type", kind}
	}
	// page says which table asks: my-activities has the rows of one user, portal has links for the institute's
	// website. An unknown one is answered like all-activities, and reported.
	user, page, path := p.Text("user"), p.Text("page"), strings.TrimSpace(p.Text("path"))
	p.MarkUnknown("page", page, "all-activities", "my-activities", "portal")
	if page == "my-activities" {
		list.filter = filter.And(list.filter, namedIn(cmp.Or(user, r.Viewer.User), "rendered.users").As("page"))
	} else {
		p.MarkUnused("user")
	}
	in := e.translator(p)
	row := tableRow{citation: fragWeb}
	if r.PrintForm {
		row.citation = fragPrint
	}
	// An empty path is a base, too: that of the website's root.
	if p.Has("path") || page == "portal" {
		var err error
		if row.activityBase, row.personBase, err = markup.LinkBases(path); err != nil {
			return response.Plan{}, err
		}
	}
	// The bases are valid URLs or paths and have no blank, so a blank separates the parts of the form.
	form := "all-activities " + row.citation + " " + row.activityBase + " " + row.personBase + in.key()
	if !r.Anonymous() {
		// Two users may have the same filter, but each needs an answer of their own.
		form += " " + string(ejson.AppendString(nil, r.Viewer.User))
	}
	// Only this one row is stored as a whole. A stored row for each base and language would multiply the memory.
	if in == nil && row == (tableRow{citation: fragWeb}) { // true for most requests
		list.prepared = fragTable
	}
	plan := list.rows(form, in.rows(row.append))
	// The citation's form and my-activities are the user's: no cache outside may share the answer.
	plan.Personal = !r.Anonymous()
	return plan, nil
}

// tableRow writes rows of all-activities: the citation depends on the caller and on the bases of links.
type tableRow struct {
	citation                 string // the fragment of the citation: fragWeb or fragPrint
	activityBase, personBase string // bases of the links in the citation; if empty, links do not change
}

// append writes a row. All its members are there, as empty texts where the record has no value, because the table
// reads the same columns of every row:
//
//	{"id":"64a0…","activity":"<b>…","icon":"<i…","quarter":"…","links":"","search-text":"…","start":…}
//
// It must write the bytes that the fragment fragTable has for the same record: a page of few rows may be made in
// either way.
func (t tableRow) append(dst []byte, a index.Row) []byte {
	dst = append(append(dst, a.Fragment(fragID)...), `,"activity":`...)
	if t.activityBase == "" {
		dst = appendOr(dst, a.Fragment(t.citation), `""`)
	} else {
		citation, _ := rendered(a.Doc(), t.citation)
		html, _ := citation.StringValueOK()
		dst = ejson.AppendString(dst, markup.RewriteLinks(html, t.activityBase, t.personBase))
	}
	dst = appendOr(dst, a.Fragment(fragIcon), `,"icon":""`)
	dst = append(dst, a.Fragment(fragMiddle)...)
	dst = appendOr(dst, a.Fragment(fragPrint), `""`)
	return append(dst, a.Fragment(fragRest)...)
}

// appendOr appends a fragment, or otherwise if it is empty. A fragment is empty if the record lacks the field; then
// a member that has been begun still needs a value.
func appendOr(dst, fragment []byte, otherwise string) []byte {
	if len(fragment) == 0 {
		return append(dst, otherwise...)
	}
	return append(dst, fragment...)
}

// appendAllMiddle writes icon to search-text, without the value. links is always empty. The value of search-text is
// fragPrint, which follows in the row.
func appendAllMiddle(dst []byte, row bson.Raw) []byte {
	return append(appendRendered(dst, row, "quarter", `""`), `,"links":"","search-text":`...)
}

// appendAllRest writes the members start to tags, and closes the row. Members without a text for a missing value
// are left out if the record lacks it. The value of workflow is its status, and "verif" for a record without one.
func appendAllRest(dst []byte, row bson.Raw) []byte {
	dst = appendStored(dst, row, `""`, "start", "start_date")
	dst = appendStored(dst, row, `""`, "end", "end_date")
	dst = appendArray(dst, row, "departments", "units")
	dst = appendStored(dst, row, "", "epub", "epub")
	dst = appendRendered(dst, row, "type", `""`)
	dst = appendRendered(dst, row, "subtype", `""`)
	dst = appendStored(dst, row, "", "raw_type", "type")
	dst = appendStored(dst, row, "", "raw_subtype", "subtype")
	dst = appendYear(dst, row, "0")
	dst = appendRendered(dst, row, "authors", `""`)
	dst = appendRendered(dst, row, "editors", `""`)
	dst = appendRendered(dst, row, "title", `""`)
	dst = appendArray(dst, row, "topics", "topics")
	dst = appendStored(dst, row, "false", "affiliated", "affiliated")
	dst = appendStored(dst, row, `"verif"`, "workflow", "workflow", "status")
	dst = appendStored(dst, row, "", "tags", "tags")
	return append(dst, '}')
}
