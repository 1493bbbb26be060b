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
	a := &answer{listing: l, rules: l.lists.o.Cite.View(l.View), canonical: l.path}
	rows := selection.Question{
		Reader: l.lists.reader, Labels: l.lists.o.Labels, Public: l.lists.public,
		View: l.View, Where: l.where, Kind: l.kind.name, ID: l.id, Query: l.q, Sorted: len(l.asked[params.Sort]) > 0,
	}
	var err error
	if a.Selection, err = rows.On(snap); err != nil {
		return nil, err
	}
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
			it := a.read(e, &item{})
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
	lang := a.q.Text(params.Lang)
	switch {
	case a.isItem():
		for e, err := range a.Entries(ctx) {
			if err != nil {
				return "", err
			}
			return a.read(e, &item{}).title(), nil
		}
		return "", notFound("There is no such item.")
	case a.kind.name == "" && a.Title == nil:
		return texts.In(lang).T(a.list.View), nil
	case a.kind.name == "":
		return cmp.Or(a.Title[lang], a.Title["en"], a.path), nil
	}
	one, err := a.known(ctx)
	if err != nil {
		return "", err
	}
	if id := raw.StringField(one, "id"); id != "" {
		a.canonical = "/lists/" + a.kind.name + "/" + cite.Segment(id) // of a person by ORCID, too
	}
	return cmp.Or(selection.NameOf(one, lang), a.id), nil
}

// known returns what a mark has of what the list is about: in its own view, or in another
// that knows it.
func (a *answer) known(ctx context.Context) (bson.Raw, error) {
	snaps := []*view.Snapshot{a.Snap}
	for _, name := range a.kind.also {
		snap, err := a.lists.o.Views.Snapshot(name)
		if err != nil {
			return nil, err
		}
		snaps = append(snaps, snap)
	}
	for _, path := range a.kind.paths {
		for _, snap := range snaps {
			row, err := a.lists.first(ctx, snap, bson.D{{Key: path, Value: a.id}})
			if row != nil || err != nil {
				return selection.Known(mark.Of(row), a.kind.name, a.id), err
			}
		}
	}
	return nil, notFound("No public record knows " + markup.PathSegment(a.id) + ".")
}
