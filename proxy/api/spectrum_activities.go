package api

import (
	"bytes"
	"cmp"
	"context"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/view"
	"vitrine/proxy/query"
	"vitrine/proxy/response"
	"vitrine/rules"
	"vitrine/rules/ejson"
	"vitrine/rules/raw"
)

// spectrumActivities answers GET /api/spectrum-activities: a row for each
// spectrum entry of the requested name, best score first. Its count is always 0.
func (e *Env) spectrumActivities(_ context.Context, r Request) (response.Plan, error) {
	name := r.Params.Text("spectrum")
	if name == "" {
		return response.Plan{}, rules.Wrongf("spectrum", "", "is required")
	}
	in := e.translator(r.Params)
	list := listing{view: rules.ViewActivities}
	list.filter = e.where(r.Params, "spectrum", condition("spectrum.display_name", "$eq", name))
	form := "spectrum-activities" + in.key()
	return list.plan(form, func(ctx context.Context, _ *view.Snapshot, selected view.Selection) (*response.Body, error) {
		entries, err := spectrumEntries(ctx, selected, name, in)
		if err != nil {
			return nil, err
		}
		return response.JoinRange(response.List(0, query.Page{}), 0, len(entries), func(dst []byte, i int) []byte {
			return append(dst, entries[i].text...)
		}), nil
	}), nil
}

// spectrumEntry is one activity's score in a spectrum. It keeps no row: those of a view in
// the store would keep the rows around them.
type spectrumEntry struct {
	score bson.RawValue // zero where the entry has none
	id    bson.RawValue // of the activity, by which entries of equal scores are sorted
	text  []byte        // the row
}

// spectrumEntries returns the entries of a spectrum by score descending, ties by _id.
func spectrumEntries(ctx context.Context, selected view.Selection, name string, in *translator) ([]spectrumEntry, error) {
	var entries []spectrumEntry
	var text []byte
	for row, err := range selected.Rows(ctx, 0, 0) {
		if err != nil {
			return nil, err
		}
		doc := row.Doc()
		id := doc.Lookup("_id")
		spectrum := doc.Lookup("spectrum")
		all := slices.Collect(raw.Elements(spectrum))
		if spectrum.Type == bson.TypeEmbeddedDocument {
			all = []bson.RawValue{spectrum}
		}
		for _, topic := range all {
			topic, _ := topic.DocumentOK()
			if have, ok := topic.Lookup("display_name").StringValueOK(); ok && have == name {
				score := topic.Lookup("score")
				text = appendEntry(text[:0], in.translate(doc), score)
				entries = append(entries, spectrumEntry{raw.Clone(score), raw.Clone(id), bytes.Clone(text)})
			}
		}
	}
	slices.SortStableFunc(entries, func(a, b spectrumEntry) int {
		return cmp.Or(raw.Compare(b.score, a.score), raw.Compare(a.id, b.id))
	})
	return entries, nil
}

// appendEntry writes score, icon, activity, type, id.
func appendEntry(dst []byte, doc bson.Raw, score bson.RawValue) []byte {
	begin := len(dst)
	dst = appendMember(dst, "score", score, present(score), "")
	dst = appendRendered(dst, doc, "icon", "")
	web, shown := rendered(doc, "web")
	dst = appendMember(dst, "activity", web, shown, "")
	dst = appendRendered(dst, doc, "type", "")
	dst = ejson.AppendID(appendKey(dst, "id"), fieldOf(doc, "_id"))
	dst[begin] = '{' // in place of the first comma
	return append(dst, '}')
}
