package lists

import (
	"cmp"
	"context"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/view"
	"vitrine/cache/view/index"
	"vitrine/proxy/lists/params"
	"vitrine/proxy/lists/selection"
	"vitrine/proxy/response"
	"vitrine/rules"
	"vitrine/rules/display"
	"vitrine/rules/filter"
	"vitrine/rules/identifier"
	"vitrine/rules/mark"
)

// listing is a list or an item, with the parameters of a request except in Lists. It is immutable: New makes one
// for each list of the configuration, a request changes a copy, and several answers read that at the same time.
//
// It has the parameters in three forms: usual are the defaults, asked is what addresses in the answer repeat, and
// rows.Query is both together, by which the rows are selected.
type listing struct {
	lists *Lists
	def   definition
	path  string // escaped, such as /lists/unit/BIO
	// what the path of the request leads to; zero in Lists
	to     target
	about  subject            // zero if the list is not about a subject
	usual  params.Query       // defaults of the list
	rows   selection.Question // its Query has all effective parameters
	format format
	links  Links        // its Base is the beginning of the URLs in the answer
	asked  params.Query // parameters of the request that differ from their defaults
}

// subject is a kind of subject that a list can be about: /lists/{name}/{id}. The zero subject is none.
type subject struct {
	name  string   // a parameter that selects the rows
	facet string   // a facet of these lists, beside year and type
	also  []string // other views that have the name of a subject
	paths []string // paths of the subject's id in marks
}

// subjects are in the order of the sections of the index and of the links of an item.
var subjects = []subject{
	{params.Unit, params.Person, []string{rules.ViewPersons}, []string{mark.Unit, mark.In}},
	{params.Person, params.Topic, []string{rules.ViewPersons}, []string{mark.Person, mark.ORCID}},
	{params.Project, params.Person, []string{rules.ViewProjects}, []string{mark.Project}},
	{params.Topic, params.Unit, nil, []string{mark.Topic}},
}

// views are the views that have the name of a subject, that of activities first. A person without activities has a
// list, too, if the person is public.
func (s subject) views() []string { return append([]string{rules.ViewActivities}, s.also...) }

// isAt reports whether a path is of a list about a subject of this kind.
func (s subject) isAt(parts []string) bool {
	return len(parts) == 3 && parts[0] == "lists" && parts[1] == s.name && parts[2] != ""
}

// ofPersons reports whether the entries of the list are persons.
func (l *listing) ofPersons() bool { return l.def.View == rules.ViewPersons }

// isOfPerson reports whether the list is about a person.
func (l *listing) isOfPerson() bool { return l.about.name == params.Person }

func (l *listing) isItem() bool { return l.rows.Kind == params.IDs }

// newListing returns a list of all rows of a view, at /lists/{slug}. Without facets it has None instead, because a
// query without values for a parameter takes the default.
func (l *Lists) newListing(d definition) listing {
	facets := d.Facets
	if len(facets) == 0 {
		facets = []string{params.None}
	}
	to := func(kind string) string { return cmp.Or(d.Links[kind], l.o.Links[kind]) }
	return listing{
		lists: l, def: d, path: "/lists/" + d.slug,
		rows:  selection.Question{Labels: l.shared.Labels, Public: l.public, View: d.View},
		links: Links{Activity: to("activity"), Person: to("person"), Project: to("project"), Photo: l.o.PhotoURL},
		usual: params.Query{
			params.Sort: {d.Sort}, params.Limit: {strconv.Itoa(d.PageSize)}, params.Style: {d.Style},
			params.Lang: {l.shared.Language}, params.Chart: {"0"},
		}.With(params.Facets, facets...).With(params.Group, strings.Split(d.Group, ",")...),
	}
}

// target is what a path leads to. It is a guess by the snapshots of the time: paths are read by ids that records
// have.
//
//	/lists/unit/BIO.bib    BIO as BibTeX, with BIO.bib in longer
//	/lists/unit/BIO.bib    the page of BIO.bib if a public record names it, with shorter set
type target struct {
	parts  []string // the last is the id or the name of the list
	format format
	asked  string // the last part of the path
	// The path leads elsewhere once a public record has one of the longer ids, or, with shorter, none has this one.
	longer  []string
	shorter bool
}

// findTarget finds out what a path leads to. Of several ways to read an id, the one with the longest id that a
// public record has counts, or else the shortest. The plan holds for later snapshots, too: see answer.outdated. A
// path with one way to read it, like nearly all, needs no look-up.
func (l *Lists) findTarget(ctx context.Context, of snapshotOf, path Path) (t target, err error) {
	if path.err != nil {
		return t, path.err
	}
	last, all := len(path.parts)-1, path.ways
	t.parts, t.asked = slices.Clone(path.parts), path.last()
	for path.byIDs() && len(all) > 1 {
		known, err := l.has(ctx, of, path.parts, all[0].name)
		if err != nil {
			return t, err
		}
		if known {
			break
		}
		t.longer, all = append(t.longer, all[0].name), all[1:]
	}
	if !path.byIDs() {
		all = all[len(all)-1:]
	}
	t.parts[last], t.format, t.shorter = all[0].name, all[0].format, len(all) > 1
	return t, nil
}

// ItemID returns the id of the item that a request for a path is for, or "": also if lists are disabled, or the
// path is not that of an item. It need not exist. The snapshots of views are those that of returns.
func (l *Lists) ItemID(
	ctx context.Context, of func(view string) (*view.Snapshot, error), path string,
) (string, error) {
	split := SplitPath(path)
	if !l.o.Enabled || len(split.parts) != 2 || split.parts[0] != "items" {
		return "", nil
	}
	to, err := l.findTarget(ctx, of, split)
	return to.parts[1], err
}

// snapshotOf returns the snapshot of a view, of a plan or of its answer.
type snapshotOf = func(view string) (*view.Snapshot, error)

// has reports whether a public record has one of some ids, in place of the last part of a path. It stops at the
// first view that has one. parts of other paths than those of items and of lists about subjects have no ids, and
// the answer is false.
func (l *Lists) has(ctx context.Context, of snapshotOf, parts []string, ids ...string) (bool, error) {
	if parts[0] == "items" {
		// The last of the views has persons, who have no items: their page is their list.
		for _, name := range views[:3] {
			snap, err := of(name)
			if err != nil {
				return false, err
			}
			if row, err := snap.First(ctx, filter.And(l.public, selection.IDs(ids...))); row != nil || err != nil {
				return row != nil, err
			}
		}
		return false, nil
	}
	for _, s := range subjects {
		if !s.isAt(parts) {
			continue
		}
		for _, name := range s.views() {
			snap, err := of(name)
			if err != nil {
				return false, err
			}
			if _, resident := snap.Resident(); !resident { // which has no index for ids
				known, err := l.endsAlike(ctx, snap, s)
				if err != nil {
					return false, err
				}
				if slices.ContainsFunc(ids, func(id string) bool { return (*known)[id] }) {
					return true, nil
				}
				continue
			}
			if row, err := snap.First(ctx, filter.And(l.public, s.among(ids...))); row != nil || err != nil {
				return row != nil, err
			}
		}
	}
	return false, nil
}

// among returns the filter for rows whose mark has one of some ids of subjects of this kind, under any of its
// paths: a person is found by username and by ORCID, and a unit also by the units below it.
func (s subject) among(ids ...string) *filter.Filter {
	values := make([]any, len(ids))
	for i, id := range ids {
		values[i] = id
	}
	var anywhere []*filter.Filter
	for _, path := range s.paths {
		anywhere = append(anywhere, filter.OneOf(path, values...))
	}
	return filter.Or(anywhere...)
}

// endsAlike returns the ids of a kind that end like a format and that public rows of a view have. They are read
// once for each snapshot: few institutes have such ids, while each request whose path has a suffix asks for them. A
// look-up of the id itself would read the whole view in a store that has no index for marks.
func (l *Lists) endsAlike(ctx context.Context, snap *view.Snapshot, s subject) (*map[string]bool, error) {
	return l.endings.Of(ctx, snap, s.name, func() (*map[string]bool, error) {
		selected, err := snap.SelectUncounted(ctx, filter.And(l.public, l.alike[s.name]))
		if err != nil {
			return nil, err
		}
		found, err := selected.Facets(ctx, index.FacetsAt(s.paths...), s.paths...)
		known := map[string]bool{}
		for _, group := range slices.Concat(found...) {
			if id := display.Text(group.Value); len(readings(id)) > 1 {
				// A clone, because the set outlives the rows that were read.
				known[strings.Clone(id)] = true
			}
		}
		return &known, err
	})
}

// alikeOf returns filters, by kinds of subjects, for rows with an id that ends like a format. They are parsed from
// text, like those of requests, since package filter has no other way to make a regular expression. An error is a
// mistake in the program.
func alikeOf() (map[string]*filter.Filter, error) {
	var suffixes []string
	for _, f := range formats[1:] {
		suffixes = append(suffixes, regexp.QuoteMeta(f.suffix))
	}
	ending := bson.D{{Key: "$regex", Value: "(" + strings.Join(suffixes, "|") + ")$"}}
	all := map[string]*filter.Filter{}
	for _, s := range subjects {
		var anywhere []*filter.Filter
		for _, path := range s.paths {
			text, err := bson.MarshalExtJSON(bson.D{{Key: path, Value: ending}}, false, false)
			if err != nil {
				return nil, err
			}
			one, err := filter.Parse(text, filter.Options{})
			if err != nil {
				return nil, err
			}
			anywhere = append(anywhere, one)
		}
		all[s.name] = filter.Or(anywhere...)
	}
	return all, nil
}

// findListing returns the list at the parts of a path, without the request's parameters. It returns a list about
// any id: whether there is such a subject depends on the snapshots of the answer, see answer.name. Errors are 404
// and may suggest a name.
func (l *Lists) findListing(ctx context.Context, planning *response.Planning, parts []string) (listing, error) {
	switch {
	case parts[0] == "items" && len(parts) == 2 && parts[1] != "":
		return l.item(ctx, planning, parts[1])
	case parts[0] == "items":
		return listing{}, errNoItem
	case parts[0] != "lists":
		return listing{}, notFound("There is nothing at this path.")
	case len(parts) == 2:
		var slugs, suffixes []string
		for _, one := range l.lists {
			if one.def.slug == parts[1] {
				return one, nil
			}
			slugs = append(slugs, one.def.slug)
		}
		for _, f := range formats {
			if f.suffix != "" {
				suffixes = append(suffixes, f.suffix)
			}
		}
		return listing{}, noList(parts[1], slugs, suffixes)
	}
	for _, s := range subjects {
		if s.isAt(parts) {
			about := l.newListing(
				l.builtIn("", rules.ViewActivities, params.Year, params.Type, s.facet))
			id := parts[2]
			if s.name == params.Person {
				id = cmp.Or(identifier.FindORCID(id), id)
			}
			about.path, about.about, about.rows.Kind, about.rows.ID = listPath(s.name, id), s, s.name, id
			return about, nil
		}
	}
	var kinds []string
	for _, s := range subjects {
		kinds = append(kinds, s.name)
	}
	return listing{}, notFound("There is no such list. /lists has all" +
		//	/lists/units/BIO → did you mean unit?
		cmp.Or(kindMeanings.Hint(parts[1], kinds), "."))
}

var errNoItem = notFound("There is no such item.")

// item returns the listing of the public record with an id, which stays in its view as long as it exists, or nearly
// so: the plan is made anew if the view does not have it any more. So a plan names one view, and not the three that
// may have the record, and changes in the others leave its answers in the cache.
func (l *Lists) item(ctx context.Context, planning *response.Planning, id string) (listing, error) {
	in, where := l.WhereItem(id)
	for _, view := range in {
		snap, err := planning.Guess(view)
		if err != nil {
			return listing{}, err
		}
		if row, err := snap.First(ctx, where); row != nil || err != nil {
			one := l.newListing(l.builtIn("", view))
			one.path, one.rows.Kind, one.rows.ID = "/items/"+segment(id), params.IDs, id
			return one, err
		}
	}
	return listing{}, errNoItem
}

// WhereItem says where the public record with an id is looked for: in these views, by this filter.
func (l *Lists) WhereItem(id string) (in []string, where *filter.Filter) {
	return views[:3], filter.And(l.public, selection.IDs(id).As("the path"))
}

// filterParams are the parameters that select the rows of a list. All formats read them, in addition to their own.
var filterParams = append(params.Framing(), params.Narrowing()...)

// listing applies a request's parameters to the list or item at a path. Absolute URLs begin with the request's
// base; other URLs are relative, so that an answer is the same for all hosts.
//
// Parameters that change nothing in the format are dropped here, after Parse has checked them. So they make no
// second answer in the cache.
func (l *Lists) listing(ctx context.Context, r Request, to target, q params.Query) (*listing, error) {
	ls, err := l.findListing(ctx, r.Planning, to.parts)
	if err != nil {
		return nil, err
	}
	f, base := to.format, r.Base
	if !f.absolute() {
		base = l.o.BaseURL
	} else if base == "" {
		return nil, ErrHost
	}
	reads := slices.Concat(filterParams, f.reads)
	// An item takes no parameter that selects, orders or divides: such a link is a mistake, and not a request for
	// less.
	if ls.isItem() {
		if others := q.Beyond(q.Only(params.Authors, params.Lang, params.Style, params.Show, params.Heading,
			params.JSONLD, params.LaTeX, params.Embed, params.Theme)); len(others) > 0 {
			return nil, rules.Wrongf(strings.Split(others.String(), "=")[0], "", "is no parameter of an item")
		}
		reads = f.reads
	}
	if q.Text(params.Sort) == params.Relevance && len(q.Both(params.Words)) == 0 {
		return nil, rules.Wrongf(params.Sort, "", "relevance needs q")
	}
	usual := f.usual.Over(ls.usual)
	if ls.isOfPerson() && f.suffix == "" && !q.Flag(params.Embed) { // beside the card
		usual = usual.With(params.Chart, params.OA)
	}
	sort := usual[params.Sort]
	if !f.feed && len(q.Only(reads...).Over(usual).Order()) > 0 {
		// the ids are the order, unless the request has another
		usual = usual.With(params.Sort).With(params.Group, params.None)
	}
	// asked has no defaults, so that addresses are short and a changed default holds for links that were made
	// before.
	ls.rows.Year = r.year(l.shared.Zone)
	ls.to, ls.format, ls.links.Base = to, f, base
	ls.asked = ls.simple(q.Only(reads...).Beyond(usual))
	ls.rows.Query = ls.asked.Over(usual)
	// Sorted is false only if the ids alone are the order. A request with ids and a group has no sort, and gets
	// that of the list.
	if ls.rows.Sorted = len(usual[params.Sort])+len(ls.asked[params.Sort])+
		len(ls.asked[params.Group]) > 0; ls.rows.Sorted {
		ls.rows.Query = ls.rows.Query.Over(params.Query{params.Sort: sort})
	}
	return &ls, nil
}

// simple returns a query without choices that say what the frame says. Where readers choose nothing, the frame has
// their choices: a file of unit=A&and.year=2020 is the one of unit=A&year=2020, and is kept once.
func (l *listing) simple(q params.Query) params.Query {
	if q = q.Simplify(); !l.format.choices(q) {
		return q.Merge()
	}
	return q
}

// notWhole are parameters of a page of a list, and not of the whole list: files in other formats have all entries.
var notWhole = []string{params.Page, params.Limit, params.Facets, params.Chart, params.Numbered,
	params.Jump, params.Pager, params.JSONLD}

// sitePage returns the address of page n of the list on the site that shows it.
func (l *listing) sitePage(n int) string {
	return strings.ReplaceAll(l.def.PageURL, "{page}", strconv.Itoa(n))
}

// address returns an address with a query, and without the question mark if the query is empty.
func address(page string, q params.Query) string {
	if text := q.String(); text != "" {
		page += "?" + text
	}
	return page
}
