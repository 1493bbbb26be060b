package lists

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"

	"vitrine/proxy/lists/page"
	"vitrine/proxy/lists/params"
	"vitrine/proxy/lists/selection"
	"vitrine/rules"
	"vitrine/rules/cite"
	"vitrine/rules/display"
	"vitrine/rules/doi"
	"vitrine/rules/mark"
	"vitrine/rules/markup"
	"vitrine/rules/raw"
)

// item is an entry of a list, read as a bibliographic item.
type item struct {
	cite.Item
	selection.Entry
	html string // its citation, for faces of pages
}

// read reads the row of an item by the mapping rules.
func (a *answer) read(it *item) *item {
	a.rules.Read(it.Doc(), &it.Item)
	return it
}

// title is the title of an item as plain text; what else it is called by, without one.
func (it *item) title() string { return cmp.Or(it.Text, it.Name, it.ID) }

// year is the year of an item, as lists have it; empty if it has none.
func (it *item) year() string {
	if year, ok := mark.Of(it.Doc()).Lookup("year").Int32OK(); ok {
		return strconv.Itoa(int(year))
	}
	return ""
}

// period is the date of an item, or its first and last day.
func (it *item) period() string {
	if it.End.Year == 0 || it.End == it.Date {
		return it.Date.String()
	}
	return it.Date.String() + " – " + it.End.String()
}

// users returns the usernames of the public persons of the institute that an item names.
func (it *item) users() (all []string) {
	for one := range mark.Entries(mark.Of(it.Doc()), "persons") {
		all = append(all, raw.StringField(one, "id"))
	}
	return all
}

// names lists persons in one text.
func names(all []cite.Person) string {
	texts := make([]string, len(all))
	for i, p := range all {
		texts[i] = p.Inverted()
	}
	return strings.Join(texts, "; ")
}

// citation returns the HTML of an item. For an activity it is the stored citation, with the
// links of the list. Other items have their title, event, place, publisher and dates.
func (a *answer) citation(ctx context.Context, it *item) (html string, err error) {
	form := a.Query.Text(params.Style)
	if stored := display.Text(it.Doc().Lookup("rendered", form)); a.View == rules.ViewActivities && stored != "" {
		public := it.users()
		html = markup.Relink(stored, func(kind markup.LinkKind, id string) string {
			switch {
			case kind == markup.LinkActivity && id == it.ID:
				return a.links.ToItem(&it.Item)
			case kind == markup.LinkActivity:
				row, failed := a.lists.first(ctx, a.Snap, selection.IDs("$in", []string{id}))
				if err = cmp.Or(err, failed); row != nil {
					return a.links.ToItem(&cite.Item{ID: id})
				}
			case slices.Contains(public, id):
				return a.links.ToPerson(id)
			}
			return ""
		})
		return html, err
	}
	html = cmp.Or(it.Title, markup.Escape(it.Name))
	if href := a.itemLink(it); href != "" && form != "print" {
		html = `<a href="` + markup.Escape(href) + `">` + html + `</a>`
	}
	for _, more := range []string{it.Event, it.Place, it.Publisher, it.period()} {
		if more != "" {
			html += ", " + markup.Escape(more)
		}
	}
	return html, nil
}

// itemLink returns the address that the title of an item links to, "" for none.
func (a *answer) itemLink(it *item) string {
	switch a.View {
	case rules.ViewPersons:
		return a.links.ToPerson(cmp.Or(it.users()...))
	case rules.ViewProjects:
		return a.links.ToProject(it.Name)
	}
	return a.links.ToItem(&it.Item)
}

// own returns the address of an item's page, "" if it has none.
func (a *answer) own(it *item) string {
	if a.View == rules.ViewPersons || cite.Segment(it.ID) == "" {
		return ""
	}
	return a.links.ItemPage(it.ID)
}

// people returns the authors of an item, whose links are those of the list.
func (a *answer) people(it *item) []page.Author {
	all := []page.Author{}
	for _, p := range it.Authors {
		all = append(all, page.Author{Name: p.Inverted(), ID: p.User, ORCID: p.ORCID, Href: a.links.ToPerson(p.User)})
	}
	return all
}

// outside returns the links of an item to its publication elsewhere.
func (it *item) outside() []page.Link {
	all := []page.Link{{Href: doi.URL(it.DOI), Label: "DOI"}, {Href: it.URL, Label: "URL"}}
	return slices.DeleteFunc(all, func(l page.Link) bool { return l.Href == "" })
}
