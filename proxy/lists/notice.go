package lists

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"vitrine/proxy/lists/page"
	"vitrine/proxy/lists/params"
	"vitrine/proxy/lists/selection"
	"vitrine/proxy/lists/texts"
	"vitrine/rules"
	"vitrine/rules/cite"
	"vitrine/rules/filter"
	"vitrine/rules/identifier"
	"vitrine/rules/mark"
	"vitrine/rules/markup"
	"vitrine/rules/notice"
)

// mostAsked is the most DOIs and ids in one query.
const mostAsked = 1000

// relate adds to activities what other public records say of them: a retracted work need not know its notice, nor the
// notice the work.
func (a *answer) relate(ctx context.Context, items ...*item) error {
	if a.def.View != rules.ViewActivities {
		return nil
	}
	byKey, keys := map[string][]*item{}, []any{}
	for _, it := range items {
		for _, key := range []string{identifier.DOIKey(it.DOI), it.ID} {
			if key == "" {
				continue
			}
			if byKey[key] == nil {
				keys = append(keys, key)
			}
			byKey[key] = append(byKey[key], it)
		}
	}
	var other cite.Item
	for some := range slices.Chunk(keys, mostAsked) {
		about := filter.And(a.lists.public, filter.OneOf(mark.About, some...))
		selected, err := a.snap.SelectUncounted(ctx, about)
		if err != nil {
			return err
		}
		for row, err := range selected.Rows(ctx, 0, mostAsked) {
			if err != nil {
				return err
			}
			a.mapping.Read(row.Doc(), &other)
			for _, n := range other.Notices {
				for _, it := range byKey[n.Key()] {
					it.add(notice.Reverse(n.Code), &other)
				}
			}
		}
	}
	return nil
}

// add adds a notice that connects the item with another record, unless the item has it.
func (it *item) add(code string, other *cite.Item) {
	n := notice.Notice{Code: code, DOI: other.DOI}
	if n.DOI == "" {
		n.ID = other.ID
	}
	has := func(own notice.Notice) bool {
		return own.Code == code && (own.ID == other.ID || own.Key() != "" && own.Key() == n.Key())
	}
	if it.ID != other.ID && !slices.ContainsFunc(it.Notices, has) {
		it.Notices = notice.Settle(append(it.Notices, n))
	}
}

// named returns an item's notices as pages and JSON have them.
func (a *answer) named(it *item) (all []page.Notice) {
	t := texts.In(a.query.Text(params.Lang))
	for _, n := range it.Notices {
		all = append(all, page.Notice{
			Type: n.Code, Label: t.T("notice-" + n.Code), DOI: n.DOI, Href: cmp.Or(identifier.DOIAddress(n.DOI), n.URL),
		})
	}
	return all
}

// find adds the title and the page of the other work to the notices of an item, if it is a public record.
func (a *answer) find(ctx context.Context, it *item) error {
	for i, n := range it.Notices {
		by := filter.OneOf(mark.DOI, n.Key())
		if n.ID != "" {
			by = selection.IDs(n.ID)
		} else if n.DOI == "" {
			continue
		}
		row, err := a.snap.First(ctx, filter.And(a.lists.public, by))
		if err != nil {
			return err
		}
		if row != nil {
			a.mapping.With(row, func(other *cite.Item) {
				if segment(other.ID) != "" && other.ID != it.ID {
					it.notices[i].Title = strings.Clone(cmp.Or(other.Text, other.ID))
					it.notices[i].Href = a.links.ItemPage(other.ID)
				}
			})
		}
	}
	return nil
}

// headline returns a title of the item after what the gravest of the notices says if the title does not.
func (it *item) headline(title, lang string) string {
	code := it.Notice()
	if code == "" || it.Titled {
		return title
	}
	return texts.In(lang).T("notice-"+code) + ": " + title
}

// withNotice returns a citation after what the gravest of the notices says, unless it is there, as templates of OSIRIS
// have it.
func (it *item) withNotice(citation, lang string) string {
	code := it.Notice()
	if code == "" {
		return citation
	}
	t, own := texts.In(lang), ""
	label := "[" + t.T("notice-"+code) + "]"
	if strings.Contains(citation, label) {
		return citation
	}
	if it.Language != "" && texts.In(it.Language) != t {
		own = ` lang="` + t.Code() + `"`
	}
	return `<strong class="vl-notice"` + own + `>` + markup.Escape(label) + `</strong> ` + citation
}

// noticesOf returns the codes of an item's notices, and the DOIs of the other works.
func noticesOf(it *item) (codes, dois string) {
	var kinds, works []string
	for _, n := range it.Notices {
		if !slices.Contains(kinds, n.Code) {
			kinds = append(kinds, n.Code)
		}
		if n.DOI != "" && !slices.Contains(works, n.DOI) {
			works = append(works, n.DOI)
		}
	}
	return strings.Join(kinds, "; "), strings.Join(works, "; ")
}
