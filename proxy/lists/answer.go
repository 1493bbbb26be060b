package lists

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strconv"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/view"
	"vitrine/proxy/lists/page"
	"vitrine/proxy/lists/params"
	"vitrine/proxy/lists/selection"
	"vitrine/proxy/lists/texts"
	"vitrine/proxy/query"
	"vitrine/proxy/response"
	"vitrine/rules"
	"vitrine/rules/cite"
	"vitrine/rules/filter"
	"vitrine/rules/mark"
	"vitrine/rules/raw"
)

// answer reads the rows of a listing in snapshots. A plan's Build makes one for each body: the plan is shared by
// requests and outlives snapshots, while an answer has what the snapshots say of it, such as its title and the
// number of entries.
//
// Only one goroutine may use it. An export, which several goroutines write, reads of it only what does not change
// any more.
type answer struct {
	*listing
	snaps   response.Snapshots
	snap    *view.Snapshot // of the listing's view
	rows    *selection.Matches
	mapping *cite.Mapping // the mapping of the view
	query   params.Query  // all effective parameters
	// the heading in the language of the answer, plain text; see name
	title string
	// the path for search engines. It differs from the path of the listing where that has an ORCID in place of a
	// username.
	canonical string
	// suffixes that url leaves out, see findTaken; nil until it was called
	taken []string
	// number of records
	count int
	// number of entries, at least count: a record has one in each of its groups
	entries int
	// at least 1, also for an empty list, so that its first page exists
	pages   int
	unknown []query.Unknown // values of the request that no public record has
}

// build makes the body of an answer in a format. It may return before it has read all rows: an export reads them
// while it is sent.
type build = func(context.Context, *answer) (*response.Body, error)

// selected returns the answer of a listing whose values need no look-up, see on. It returns response.ErrGuess if
// the plan's guess, which was made in other snapshots, does not hold in these; then the caller plans anew.
func (l *listing) selected(ctx context.Context, s response.Snapshots, listed bool) (*answer, error) {
	snap, err := s.Of(l.def.View)
	if err != nil {
		return nil, err
	}
	a := &answer{
		listing: l, snaps: s, snap: snap, rows: l.rows.On(snap), mapping: l.lists.o.Cite.View(l.def.View),
		query: l.rows.Query, canonical: l.path,
	}
	if listed {
		a.counting()
	}
	// The order matters: an outdated plan has no title, and neither the title nor the size is worth reading for a
	// list that does not exist.
	if err = a.outdated(ctx); err == nil {
		err = a.name(ctx)
	}
	if err == nil {
		a.count, a.entries, a.pages, err = a.rows.Size(ctx)
	}
	return a, err
}

// counting tells the selection which facets the answer shows, before it selects rows: a view in the store counts
// them by the query that also counts the rows. A page also shows the facets in which its reader has chosen
// something, to take that back.
func (a *answer) counting() {
	page := a.format.suffix == "" && !a.isItem()
	if page || a.format.suffix == ".json" {
		a.rows.Counting(page, a.query[params.Facets]...)
	} else {
		a.rows.Counting(false)
	}
	if a.query.Text(params.Chart) != "0" {
		a.rows.Dividing(params.Year)
	}
}

// name sets the title and the canonical path. The title of a list about a subject comes from the mark of a public
// record that names the subject, in the list's own view or another one. Without such a record the list does not
// exist.
func (a *answer) name(ctx context.Context) (err error) {
	lang := a.query.Text(params.Lang)
	switch {
	case a.isItem():
		// An item is a list of one. Its title begins with what other records say of it, such as a retraction.
		for e, err := range a.rows.Entries(ctx) {
			if err != nil {
				return err
			}
			it := a.readItem(&item{}, e)
			err = a.relate(ctx, it)
			a.title = it.headline(titleOf(&it.Item), lang)
			return err
		}
		return response.ErrGuess // the plan found it
	case a.about.name == "" && a.def.Title == nil:
		a.title = texts.In(lang).T(a.def.View)
		return nil
	case a.about.name == "":
		a.title = cmp.Or(either(a.def.Title, lang), a.path)
		return nil
	}
	// Activities come first, because most subjects are in the mark of one. Persons and projects without an activity
	// are in the marks of their own view.
	var row bson.Raw
	for _, name := range a.about.views() {
		snap, err := a.snaps.Of(name)
		if err != nil {
			return err
		}
		if row, err = snap.First(ctx, filter.And(a.lists.public, a.about.among(a.rows.ID))); err != nil {
			return err
		}
		if row != nil {
			break
		}
	}
	if row == nil {
		return a.absent(ctx)
	}
	one := selection.Known(mark.Of(row), a.about.name, a.rows.ID)
	if id := raw.StringField(one, "id"); id != "" {
		a.canonical = listPath(a.about.name, id) // a person's list may also be requested by ORCID
	}
	a.title = cmp.Or(selection.NameOf(one, lang), a.rows.ID)
	return nil
}

// has is Lists.has in the snapshots of the answer. For an item that is the one of its view: records of two views
// rarely have the same id, and the answer does not depend on the others.
func (a *answer) has(ctx context.Context, ids ...string) (bool, error) {
	if a.isItem() {
		row, err := a.snap.First(ctx, filter.And(a.lists.public, selection.IDs(ids...)))
		return row != nil, err
	}
	return a.lists.has(ctx, a.snaps.Of, a.to.parts, ids...)
}

// outdated returns response.ErrGuess if the path of the request leads to a longer id in the answer's snapshots.
// Plans are kept longer than snapshots: /items/a.bib is the file of item a until a record has the id a.bib.
func (a *answer) outdated(ctx context.Context) error {
	if len(a.to.longer) == 0 {
		return nil
	}
	moved, err := a.has(ctx, a.to.longer...)
	if moved && err == nil {
		err = response.ErrGuess
	}
	return err
}

// findTaken finds the suffixes with which the path of the answer is that of another id, which ends like a format.
// If there is a unit BIO.bib, then /lists/unit/BIO.bib is its page, and no address of the BibTeX of unit BIO.
func (a *answer) findTaken(ctx context.Context) error {
	if !a.isItem() && a.about.name == "" {
		return nil
	}
	suffixes := map[string][]string{} // by the other id
	for _, f := range formats[1:] {
		for _, other := range readings(a.rows.ID + f.suffix) {
			if len(other.name) > len(a.rows.ID) {
				suffixes[other.name] = append(suffixes[other.name], f.suffix)
			}
		}
	}
	// One look-up for all suffixes answers nearly every request. Only if it finds something is each id looked up by
	// itself.
	found, err := a.has(ctx, slices.Collect(maps.Keys(suffixes))...)
	if !found || err != nil {
		return err
	}
	for id, all := range suffixes {
		if found, err = a.has(ctx, id); err != nil {
			return err
		} else if found {
			a.taken = append(a.taken, all...)
		}
	}
	return nil
}

// url returns an address of the listing in a format, or without the suffix, where Accept decides, if that is taken.
func (a *answer) url(suffix string, q params.Query) string {
	if slices.Contains(a.taken, suffix) {
		suffix = ""
	}
	return address(a.links.Base+a.path+suffix, q)
}

// whole returns the address of the whole list in another format, with what the format has of this one's look.
// Without Merge, a file would have two parameters, frame and choices, for what one can say, and be kept twice.
func (a *answer) whole(f format) string {
	q := a.asked.Merge().Only(slices.Concat(filterParams, f.reads)...)
	// The page of entries and what surrounds them are no part of the whole list.
	return a.url(f.suffix, q.Beyond(q.Only(notWhole...)))
}

// mostNamesakes is the most ids that the error for a name of several subjects has. It keeps the message readable.
const mostNamesakes = 10

// absent returns the error for a list about a subject of which there is no public record. It is Moved if the path
// has the name of exactly one subject in place of its id, or the id in another case; otherwise it is 404 with the
// ids of namesakes or the nearest name. Only ids and names of public records occur in it.
//
//	/lists/unit/moth               Moved to /lists/unit/MOTH
//	/lists/unit/Moth Ecology       Moved to /lists/unit/MOTH
//	/lists/person/Moe, Anna        404: Several have the name Moe%2C%20Anna: amoe, moe2.
//	/lists/unit/MOHT               404: No public record knows MOHT, did you mean MOTH?
func (a *answer) absent(ctx context.Context) error {
	if a.to.shorter {
		return response.ErrGuess // the plan found a record
	}
	var snaps []*view.Snapshot
	for _, name := range a.about.views() {
		snap, err := a.snaps.Of(name)
		if err != nil {
			return err
		}
		snaps = append(snaps, snap)
	}
	values, kind := a.lists.values, a.about.name
	// The whole segment may be a name with a dot. So each way to read it is tried, the longest name first.
	for _, way := range readings(a.to.asked) {
		found, err := values.Named(ctx, snaps, kind, way.name)
		if err != nil {
			return err
		}
		found = slices.DeleteFunc(found, func(id string) bool { return segment(id) == "" || id == way.name })
		switch {
		case len(found) == 1:
			address := a.lists.o.BaseURL + listPath(kind, found[0])
			other, err := values.Named(ctx, snaps, kind, found[0]+way.suffix)
			// Another id may end like the format.
			if err == nil && !slices.Contains(other, found[0]+way.suffix) {
				address += way.suffix
			}
			return cmp.Or[error](err, &Moved{address})
		case len(found) > 1:
			for i, id := range found {
				found[i] = segment(id)
			}
			found = found[:min(len(found), mostNamesakes)]
			return notFound("Several have the name " + segment(way.name) + ": " + strings.Join(found, ", ") + ".")
		}
	}
	near, err := values.Near(ctx, snaps[0], kind, a.rows.ID) // of activities: their lists have entries
	if err != nil {
		return err
	}
	reason := "No public record knows " + segment(a.rows.ID)
	if near == "" {
		return notFound(reason + ".")
	}
	return notFound(reason + ", did you mean " + near + "?")
}

// turn returns the address of page n of the list. In a fragment it is the address of a whole page, because browsers
// without scripts follow it; on a site with a page_url it is an address of that site.
func (a *answer) turn(n int) string {
	suffix := strings.TrimSuffix(a.format.suffix, ".html")
	if suffix != a.format.suffix && a.def.PageURL != "" {
		return a.sitePage(n)
	}
	return a.url(suffix, a.asked.With(params.Page, strconv.Itoa(n)))
}

// turns returns the addresses of other pages, as far as they exist, by their relation: first, prev, next and last.
func (a *answer) turns() map[string]string {
	// prev leads to the last page if the request asks for a page behind it.
	n, all := a.query.Number(params.Page), map[string]string{}
	if n > 1 {
		all["first"], all["prev"] = a.turn(1), a.turn(min(n-1, a.pages))
	}
	if n < a.pages {
		all["next"], all["last"] = a.turn(n+1), a.turn(a.pages)
	}
	return all
}

// canonicalURL returns the address of the list for search engines, on the site that shows it if there is one. It
// has no parameters that change only the look, so that all looks of a list are one page to them.
func (a *answer) canonicalURL() string {
	if a.def.PageURL != "" {
		return a.sitePage(a.query.Number(params.Page))
	}
	return address(a.links.Base+a.canonical, a.asked.Merge().Entries())
}

// readItem reads what all formats show of an entry into an item, and returns the item. Exports pass one item for
// all entries, so every field that it sets must be set for each entry.
func (a *answer) readItem(it *item, e selection.Entry) *item {
	row := e.Doc()
	a.mapping.Read(row, &it.Item)
	it.groups, it.position, it.year, it.page = a.groups(e), e.Position, "", ""
	it.kind, it.subkind = a.rows.Label(params.Type, it.Type, row), a.rows.Label(params.Subtype, it.Subtype, row)
	if year, ok := mark.Of(row).Lookup("year").Int32OK(); ok {
		it.year = strconv.Itoa(int(year))
	}
	if a.def.View != rules.ViewPersons && segment(it.ID) != "" {
		it.page = a.links.ItemPage(it.ID)
	}
	return it
}

// groups returns the groups of an entry for the model of pages. Counts are 0, which means not shown, unless the
// request asks for them.
func (a *answer) groups(e selection.Entry) (all []page.Group) {
	for _, g := range e.Groups {
		if !a.query.Flag(params.Counts) {
			g.Count = 0
		}
		all = append(all, page.Group(g))
	}
	return all
}
