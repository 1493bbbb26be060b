package lists

import (
	"cmp"
	"context"
	"iter"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/view/index"
	"vitrine/proxy/lists/page"
	"vitrine/proxy/lists/params"
	"vitrine/rules"
	"vitrine/rules/cite"
	"vitrine/rules/display"
	"vitrine/rules/doi"
	"vitrine/rules/mark"
	"vitrine/rules/markup"
	"vitrine/rules/raw"
)

// entry is a row at its place in a list.
type entry struct {
	from  index.Row
	row   bson.Raw
	group string
	place int // from 1 on
}

// item is an entry of a list, read as a bibliographic item.
type item struct {
	cite.Item
	entry
}

// title is the title of an item as plain text; what else it is called by, without one.
func (it *item) title() string { return cmp.Or(it.Text(), it.Name, it.ID) }

// read reads an entry by mapping rules.
func (it *item) read(e entry, rules *cite.Rules) {
	it.entry = e
	rules.Read(e.row, &it.Item)
}

// items yields the items of the listing's page. It reuses one item for all of them.
func (l *listing) items(ctx context.Context) iter.Seq2[*item, error] {
	return func(yield func(*item, error) bool) {
		it, rules := &item{}, l.lists.cite[l.view]
		for e, err := range entries(ctx, l) {
			if err == nil {
				it.read(e, rules)
			}
			if !yield(it, err) {
				return
			}
		}
	}
}

// entries yields the entries of a listing's page.
func entries(ctx context.Context, l *listing) iter.Seq2[entry, error] {
	return func(yield func(entry, error) bool) {
		number, limit := l.q.Number(params.Page), l.q.Number(params.Limit)
		if limit == 0 && number > 1 {
			return // everything is on the first page
		}
		place := (number - 1) * limit
		for e, err := range l.Entries(ctx, place, limit) {
			if err != nil {
				yield(entry{}, err)
				return
			}
			place++
			if !yield(entry{e.Row, e.Doc(), e.Group, place}, nil) {
				return
			}
		}
	}
}

// users returns the usernames of the public persons of the institute that a row names.
func users(row bson.Raw) (all []string) {
	for one := range mark.Entries(mark.Of(row), "persons") {
		all = append(all, raw.StringField(one, "id"))
	}
	return all
}

// citation returns the HTML of an item. For an activity it is the stored citation, with the
// links of the list. Other items have their title, event, place, publisher and dates.
func (l *listing) citation(ctx context.Context, it *item) (string, error) {
	form := l.q.Text(params.Style)
	if stored := display.Text(it.row.Lookup("rendered", form)); l.view == rules.ViewActivities && stored != "" {
		public, failed := users(it.row), error(nil)
		html := markup.Relink(stored, func(kind markup.LinkKind, id string) string {
			switch {
			case kind == markup.LinkActivity && id == it.ID:
				return l.links.ToItem(&it.Item)
			case kind == markup.LinkActivity:
				shown, err := l.lists.shows(ctx, l.snap, id)
				if err != nil {
					failed = err
				}
				if shown {
					return l.links.ToItem(&cite.Item{ID: id})
				}
			case slices.Contains(public, id):
				return l.links.ToPerson(id)
			}
			return ""
		})
		return html, failed
	}
	title, href := it.Title, l.itemLink(it)
	if title == "" {
		title = markup.Escape(it.Name)
	}
	if href != "" && form != "print" {
		title = `<a href="` + markup.Escape(href) + `">` + title + `</a>`
	}
	for _, more := range []string{it.Event, it.Place, it.Publisher, period(it.Date, it.End)} {
		if more != "" {
			title += ", " + markup.Escape(more)
		}
	}
	return title, nil
}

// itemLink returns the address that the title of an item links to, "" for none.
func (l *listing) itemLink(it *item) string {
	switch l.view {
	case rules.ViewPersons:
		for _, user := range users(it.row) {
			return l.links.ToPerson(user)
		}
		return ""
	case rules.ViewProjects:
		return l.links.ToProject(it.Name)
	}
	return l.links.ToItem(&it.Item)
}

// period returns the date of an item, or its first and last day.
func period(from, to cite.Date) string {
	if to.Year == 0 || to == from {
		return from.String()
	}
	return from.String() + " – " + to.String()
}

// own returns the address of an item's page, "" if it has none.
func (l *listing) own(it *item) string {
	if l.view == rules.ViewPersons || cite.Segment(it.ID) == "" {
		return ""
	}
	return l.links.ItemPage(it.ID)
}

// outside returns the links of an item to its publication elsewhere.
func outside(it *item) (all []page.Link) {
	if it.DOI != "" {
		all = append(all, page.Link{Href: doi.URL(it.DOI), Label: "DOI"})
	}
	if it.URL != "" {
		all = append(all, page.Link{Href: it.URL, Label: "URL"})
	}
	return all
}

// shown returns an item as package page shows it.
func (l *listing) shown(ctx context.Context, it *item) (page.Item, error) {
	html, err := l.citation(ctx, it)
	return page.Item{
		ID: it.ID, Key: it.Key, Href: l.own(it), Lang: it.Language, HTML: html, Links: outside(it),
		COinS: string(cite.AppendCOinS(nil, &it.Item)),
	}, err
}
