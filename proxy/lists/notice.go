package lists

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/view"
	"vitrine/proxy/lists/page"
	"vitrine/proxy/lists/selection"
	"vitrine/proxy/lists/texts"
	"vitrine/rules"
	"vitrine/rules/cite"
	"vitrine/rules/filter"
	"vitrine/rules/identifier"
	"vitrine/rules/mark"
	"vitrine/rules/markup"
	"vitrine/rules/notice"
	"vitrine/rules/raw"
)

// said has what public records of a snapshot say of others by their notices: a retracted work need not know its
// notice, nor the notice the work. It is immutable; nil says nothing, and its methods work on nil.
type said struct {
	// of has notices by the DOI or the id of the record that they are about. Their DOI and id are those of the record
	// that says so.
	of map[string][]notice.Notice
}

// Bounds of what said has: all notices, and those of one record. Others are ignored. They bound memory: a snapshot
// keeps the table, and any record may name thousands of works.
const mostSaid, mostSaidOfOne = 100_000, 20

// saidIn returns what public records say of others in a snapshot. The first request reads it, and others wait for
// that. It is nil for views other than that of activities, which alone has notices.
func (l *Lists) saidIn(ctx context.Context, snap *view.Snapshot) (*said, error) {
	name := snap.Meta().View
	if name != rules.ViewActivities {
		return nil, nil
	}
	return l.said.Of(ctx, snap, "", func() (*said, error) {
		selected, err := snap.SelectUncounted(ctx, filter.And(l.public, filter.Compared(mark.About, filter.Gt, "")))
		if err != nil {
			return nil, err
		}
		// The order is fixed, so that the same notices are ignored in each snapshot.
		selected = selected.Only("_id", mark.Field).By(raw.Sort{raw.ByID})
		all, left := &said{of: map[string][]notice.Notice{}}, mostSaid
		mapping, it := l.o.Cite.View(name), &cite.Item{}
		for row, err := range selected.Rows(ctx, 0, 0) {
			if err != nil {
				return nil, err
			}
			mapping.Read(row.Doc(), it)
			for _, n := range it.Notices {
				if key := n.Key(); key != "" && left > 0 && len(all.of[key]) < mostSaidOfOne {
					left--
					all.of[strings.Clone(key)] = append(all.of[key], notice.Notice{
						Code: notice.Reverse(n.Code), DOI: strings.Clone(it.DOI), ID: strings.Clone(it.ID),
					})
				}
			}
		}
		return all, nil
	})
}

// concerns reports whether something is said of a record, by its row.
func (s *said) concerns(row bson.Raw) bool {
	if s == nil || len(s.of) == 0 {
		return false
	}
	return len(s.of[raw.StringField(mark.Of(row), "doi")])+len(s.of[selection.IDText(row)]) > 0
}

// by returns the ids of the records that say something of a record, by its row.
func (s *said) by(row bson.Raw) (ids []string) {
	for _, key := range [...]string{raw.StringField(mark.Of(row), "doi"), selection.IDText(row)} {
		for _, n := range s.of[key] {
			ids = append(ids, n.ID)
		}
	}
	return ids
}

// addTo adds to an item what is said of it.
func (s *said) addTo(it *cite.Item) {
	if s == nil || len(s.of) == 0 {
		return
	}
	for _, key := range [...]string{identifier.DOIKey(it.DOI), it.ID} {
		for _, n := range s.of[key] {
			add(it, n)
		}
	}
}

// add adds to an item what a record with a DOI and an id says of it, unless the item says so itself. A notice names
// the other work in one way, by DOI if it has one.
func add(it *cite.Item, n notice.Notice) {
	// The id is kept for the comparison, also if the notice names the work by DOI.
	other := n.ID
	if n.DOI != "" {
		n.ID = ""
	}
	has := func(own notice.Notice) bool {
		return own.Code == n.Code && (own.ID == other || own.Key() != "" && own.Key() == n.Key())
	}
	if it.ID != other && !slices.ContainsFunc(it.Notices, has) {
		it.Notices = notice.Settle(append(it.Notices, n))
	}
}

// relate adds to items what other public records say of them.
func (a *answer) relate(ctx context.Context, items ...*item) error {
	said, err := a.lists.saidIn(ctx, a.snap)
	for _, it := range items {
		said.addTo(&it.Item)
	}
	return err
}

// noticesIn returns an item's notices as pages and JSON have them, in a language.
func noticesIn(t texts.Language, it *item) (all []page.Notice) {
	for _, n := range it.Notices {
		all = append(all, page.Notice{
			Type: n.Code, Label: t.T("notice-" + n.Code), DOI: n.DOI,
			Href: cmp.Or(identifier.DOIAddress(n.DOI), n.URL),
		})
	}
	return all
}

// resolveNotices adds the title and the page of the other work to the notices of an item, if it is a public record.
func (a *answer) resolveNotices(ctx context.Context, it *item) error {
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
					it.shownNotices[i].Title = strings.Clone(cmp.Or(other.Text, other.ID))
					it.shownNotices[i].Href = a.links.ItemPage(other.ID)
				}
			})
		}
	}
	return nil
}

// headline returns a title of the item after what the gravest of the notices says if the title does not:
// "Retracted: Owls". Publishers often change the title of a retracted work themselves.
func (it *item) headline(title, lang string) string {
	code := it.Notice()
	if code == "" || it.Titled {
		return title
	}
	return texts.In(lang).T("notice-"+code) + ": " + title
}

// withNotice returns a citation after what the gravest of the notices says, unless it is there, as templates of
// OSIRIS have it.
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
	// The word is ours, in a citation of another language.
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
