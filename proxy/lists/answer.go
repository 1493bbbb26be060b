package lists

import (
	"cmp"
	"context"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/view"
	"vitrine/proxy/lists/params"
	"vitrine/proxy/lists/selection"
	"vitrine/proxy/lists/texts"
	"vitrine/proxy/response"
	"vitrine/rules/cite"
	"vitrine/rules/mark"
	"vitrine/rules/markup"
	"vitrine/rules/raw"
)

// answer is what a listing has in a snapshot. Faces write it. It is for one goroutine.
type answer struct {
	*listing
	*selection.Selection
	rules     *cite.Rules // of the view
	title     string
	canonical string // the path under which the list is to be known
	count     int    // of records
	pages     int
	items     []*item // of the page; nil where the face reads them while it writes
}

// on reads a listing in a snapshot, but not its items.
func (l *listing) on(ctx context.Context, snap *view.Snapshot) (*answer, error) {
	rows, err := l.rows.On(snap)
	if err != nil {
		return nil, err
	}
	a := &answer{listing: l, Selection: rows, rules: l.lists.o.Cite.View(l.View), canonical: l.path}
	if a.title, err = a.heading(ctx); err != nil {
		return nil, err
	}
	a.count, a.pages, err = a.Size(ctx)
	return a, err
}

// paged returns what builds the body of a face from the items of a page.
func paged(write build) build {
	return func(ctx context.Context, a *answer) (*response.Body, error) {
		for e, err := range a.Entries(ctx) {
			if err != nil {
				return nil, err
			}
			it := a.read(&item{Entry: e})
			if it.html, err = a.citation(ctx, it); err != nil {
				return nil, err
			}
			a.items = append(a.items, it)
		}
		return write(ctx, a)
	}
}

// heading returns the title of the list. That of a unit, person, project or topic is in the
// mark of a public record that names it; without one there is no such list.
func (a *answer) heading(ctx context.Context) (string, error) {
	lang := a.Query.Text(params.Lang)
	switch {
	case a.isItem():
		for e, err := range a.Entries(ctx) {
			if err != nil {
				return "", err
			}
			return a.read(&item{Entry: e}).title(), nil
		}
		return "", errNoItem
	case a.Kind == "" && a.Title == nil:
		return texts.In(lang).T(a.View), nil
	case a.Kind == "":
		return cmp.Or(a.Title[lang], a.Title["en"], a.path), nil
	}
	one, err := a.known(ctx)
	if id := raw.StringField(one, "id"); id != "" {
		a.canonical = "/lists/" + a.Kind + "/" + cite.Segment(id) // of a person by ORCID, too
	}
	return cmp.Or(selection.NameOf(one, lang), a.ID), err
}

// known returns what a mark has of what the list is about: in its own view, or in another
// that knows it.
func (a *answer) known(ctx context.Context) (bson.Raw, error) {
	var anywhere bson.A
	for _, path := range a.kind.paths {
		anywhere = append(anywhere, bson.D{{Key: path, Value: a.ID}})
	}
	where := bson.D{{Key: "$or", Value: anywhere}}
	row, err := a.lists.first(ctx, a.Snap, where)
	for i := 0; row == nil && err == nil && i < len(a.kind.also); i++ {
		var snap *view.Snapshot
		if snap, err = a.lists.o.Views.Snapshot(a.kind.also[i]); err == nil {
			row, err = a.lists.first(ctx, snap, where)
		}
	}
	if row == nil && err == nil {
		err = notFound("No public record knows " + markup.PathSegment(a.ID) + ".")
	}
	return selection.Known(mark.Of(row), a.Kind, a.ID), err
}
