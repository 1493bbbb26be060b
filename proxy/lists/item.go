package lists

import (
	"cmp"
	"context"
	"slices"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/proxy/lists/page"
	"vitrine/proxy/lists/params"
	"vitrine/proxy/lists/selection"
	"vitrine/proxy/lists/texts"
	"vitrine/rules"
	"vitrine/rules/cite"
	"vitrine/rules/display"
	"vitrine/rules/filter"
	"vitrine/rules/mark"
	"vitrine/rules/markup"
	"vitrine/rules/raw"
	"vitrine/rules/render"
	"vitrine/rules/styles"
)

// item is an entry of a list, read as a bibliographic item. Its texts may refer to the memory of the row; what
// outlives the answer is a clone.
type item struct {
	cite.Item
	groups []page.Group
	// position in the list, from 1; later pages go on counting
	position      int
	year          string // as text; empty if there is none
	kind, subkind string // labels of the type and the subtype
	page          string // the address of the item's page; empty if it has none

	// Only formats of pages have these:
	brief        *cite.Item      // the item itself on its own page, else without what is too much for a list
	html         string          // the item's citation
	styled       styles.Citation // by the citation style of the answer; zero if there is none
	text         string          // the citation by that style as plain text
	citationLang string          // the language of the words of html, as a tag; "" if it is that of the item
	period       string          // the date, or the first and last day, in the language of the answer
	href         string          // the target of the link on its title; empty if there is none
	authors      []page.Author
	shown        parts // the parts that the answer shows beside the citation
	extras       page.Extras
	person       *page.Person // of an entry that is a person
	shownNotices []page.Notice
	// for feeds; updated is zero if the item has not changed since it was entered
	created, updated time.Time // for feeds; updated is zero if the item has not changed
}

// titleOf returns the title of an item that has one, the name of a person or a project, or else the id.
func titleOf(it *cite.Item) string { return cmp.Or(it.Text, it.Name, it.ID) }

// parts are the values of params.Show.
type parts []string

// have reports whether an answer shows a part of entries.
func (p parts) have(part string) bool { return slices.Contains(p, part) }

// times returns when an item was entered, or else its own day, and when it was last changed, or zero. Times after
// the publication of the view are ignored: future days do not count (docs/decisions.md, "exports"). The zone of
// published is the one in which days begin.
func times(it *item, row bson.Raw, published time.Time) (created, updated time.Time) {
	if at := mark.EnteredOf(row); at != 0 {
		// the time of a record entered today may lie in the future
		created = time.Unix(min(at, published.Unix()), 0).UTC()
	} else if created = it.Date.Time(published.Location()).UTC(); it.Date.Year == 0 || created.After(published) {
		created = time.Unix(0, 0).UTC() // a constant time, because Atom requires one
	}
	if at := mark.UpdatedOf(row); at != 0 {
		updated = time.Unix(at, 0).UTC()
	}
	// An update before the entry is none: an entry of a feed would contradict itself.
	if updated.After(published) || updated.Before(created) {
		updated = time.Time{}
	}
	return created, updated
}

// complete adds to an item what only the formats of pages show: its links, its parts and its citation. Exports do
// not call it, because their files have none of these.
func (a *answer) complete(ctx context.Context, it *item, row bson.Raw) (err error) {
	var users []string // usernames of public persons
	for one := range mark.Entries(mark.Of(row), "persons") {
		users = append(users, raw.StringField(one, "id"))
	}
	// The title leads to the list of a person or a project, which is their page, and to the DOI or the page of
	// other records.
	switch a.def.View {
	case rules.ViewPersons:
		it.href = a.links.ToPerson(cmp.Or(users...))
	case rules.ViewProjects:
		it.href = a.links.ToProject(it.Name)
	default:
		it.href = a.links.ToItem(&it.Item)
	}
	it.brief = a.brief(&it.Item)
	it.period = render.Period(it.Date, it.End, a.query.Text(params.Lang))
	it.authors = a.links.persons(it.Authors)
	a.show(it, row)
	it.created, it.updated = times(it, row, a.snap.Meta().Published.In(a.lists.shared.Zone).Truncate(time.Second))
	it.shownNotices = noticesIn(texts.In(a.query.Text(params.Lang)), it)
	// Only activities have stored citations, one for each plain style. A citation style takes its place, see addStyled.
	style := a.query.Text(params.Style)
	if !slices.Contains(styles.Plain, style) {
		style = styles.Plain[0]
	}
	stored := display.Text(row.Lookup("rendered", style))
	if a.def.View != rules.ViewActivities || stored == "" {
		it.html = it.withNotice(a.shorten(a.compose(it), it), a.query.Text(params.Lang))
		return nil
	}
	// The stored citation has links to activities and persons by id. They lead to the addresses of this list, or
	// are dropped if the record is not public here.
	it.html = markup.Relink(stored, func(kind markup.LinkKind, id string) string {
		switch {
		case kind == markup.LinkActivity && id == it.ID:
			return a.links.ToItem(&it.Item)
		case kind == markup.LinkActivity:
			found, failed := a.snap.First(ctx, filter.And(a.lists.public, selection.IDs(id)))
			if err = cmp.Or(err, failed); found != nil {
				return a.links.ToItem(&cite.Item{ID: id})
			}
		case slices.Contains(users, id):
			return a.links.ToPerson(id)
		}
		return ""
	})
	if style == "web" {
		it.html = withExtent(it.html, &it.Item, it.year)
	}
	it.html = it.withNotice(a.shorten(bylinesOf(a).in(it.html, it), it), a.query.Text(params.Lang))
	return err
}

// brief returns an item as the answer shows it: an item of a list without what is too much there
// (docs/decisions.md, "huge entries"), and the item itself on its own page.
func (a *answer) brief(it *cite.Item) *cite.Item {
	if a.isItem() {
		return it
	}
	return it.Brief(mostListed)
}

// mostHTML is the most bytes of a citation or an abstract in a list. A citation with a hundred names has fewer, so
// only citations and texts that no list shows are cut.
const mostHTML = 20_000

// shorten cuts a citation that is too long for a list. A link to the item stands for the rest.
func (a *answer) shorten(citation string, it *item) string {
	if a.isItem() || len(citation) <= mostHTML {
		return citation
	}
	t := texts.In(a.query.Text(params.Lang))
	return markup.Cut(citation, mostHTML) + " … " + it.link(markup.Escape(t.T("details")), t.Code())
}

// compose returns the HTML of an item without a stored citation: its title, event, place, publisher and dates,
// separated by commas. The title is a link, except in the style for print, where an address cannot be followed.
func (a *answer) compose(it *item) string {
	html := cmp.Or(it.Title, markup.Escape(it.Name))
	if it.href != "" && a.query.Text(params.Style) != "print" {
		html = `<a href="` + markup.Escape(it.href) + `">` + html + `</a>`
	}
	for _, more := range []string{
		it.HTML.Event, markup.Escape(it.Place), markup.Escape(it.Publisher), markup.Escape(it.period),
	} {
		if more != "" {
			html += ", " + more
		}
	}
	return html
}
