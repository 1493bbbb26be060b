package api

import (
	"cmp"
	"context"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/fair"
	"vitrine/cache/result"
	"vitrine/cache/view"
	"vitrine/proxy/query"
	"vitrine/proxy/response"
	"vitrine/rules"
	"vitrine/rules/ejson"
	"vitrine/rules/filter"
	"vitrine/rules/raw"
)

// spectrumActivities answers GET /api/spectrum-activities: a row for each entry of a spectrum, best score first. An
// activity with two entries of the name has two rows. There are no pages: a topic's list is read as a whole.
func (e *Env) spectrumActivities(_ context.Context, r Request) (response.Plan, error) {
	name := r.Params.Text("spectrum")
	if name == "" {
		return response.Plan{}, rules.Wrongf("spectrum", "", "is required")
	}
	in := e.translator(r.Params)
	list := e.activitiesOf(r, filter.OneOf("spectrum.display_name", name))
	list.value = parameterValue{"spectrum", "spectrum.display_name", name}
	form := "spectrum-activities" + in.key()
	return list.plan(form,
		func(ctx context.Context, _ *view.Snapshot, selected view.Selection) (*response.Body, error) {
			entries, texts, err := spectrumEntries(ctx, selected, name, in)
			if err != nil {
				return nil, err
			}
			b := response.JoinRange(response.List(0, query.Page{}), 0, len(entries), func(dst []byte, i int) []byte {
				return append(dst, texts[entries[i].from:entries[i].to]...)
			})
			b.RowMemory = result.Held(ctx)
			return b, nil
		}), nil
}

// spectrumEntry is one activity's score in a spectrum. It does not refer to the row, because a row of a view in the
// store would keep its neighbours in memory. The texts of all entries are one slice; sorting moves the bounds
// alone.
type spectrumEntry struct {
	score    bson.RawValue // zero if the entry has no score
	id       bson.RawValue // _id of the activity, which orders entries with equal scores
	from, to int           // bounds of the entry's row in the texts
}

// before orders entries by score descending, then by _id, compared only for equal scores, then by their order.
func (a spectrumEntry) before(b spectrumEntry) int {
	if c := raw.Compare(b.score, a.score); c != 0 {
		return c
	}
	return cmp.Or(raw.Compare(a.id, b.id), cmp.Compare(a.from, b.from))
}

// entryBytes is how many bytes of memory an entry takes beside its text: twice, because entries are sorted.
const entryBytes = 256

// spectrumEntries returns the entries of a spectrum in the order of the answer, and their texts one after the other.
// It counts what they take by result.Hold.
func spectrumEntries(ctx context.Context, selected view.Selection, name string,
	in *translator) (entries []spectrumEntry, texts []byte, err error) {
	pace := fair.Pace(ctx)
	for row, err := range selected.Rows(ctx, 0, 0) {
		if err != nil {
			return nil, nil, err
		}
		doc := row.Doc()
		spectrum := fieldOf(doc, "spectrum")
		for topic := range elementsOf(spectrum, true) {
			if err := pace(); err != nil {
				return nil, nil, err
			}
			topic, _ := topic.DocumentOK()
			have, ok := fieldOf(topic, "display_name").StringValueOK()
			if !ok || have != name {
				continue
			}
			// The budget counts the capacity, because append grows it by more than the row.
			from, before, score := len(texts), cap(texts), fieldOf(topic, "score")
			texts = appendEntry(texts, in.translate(doc), score)
			if err := result.Hold(ctx, entryBytes+int64(cap(texts)-before)); err != nil {
				return nil, nil, err
			}
			entries = append(entries,
				spectrumEntry{raw.Clone(score), raw.Clone(fieldOf(doc, "_id")), from, len(texts)})
		}
	}
	return entries, texts, fair.Sort(ctx, entries, spectrumEntry.before)
}

// appendEntry appends score, icon, activity, type, id.
func appendEntry(dst []byte, doc bson.Raw, score bson.RawValue) []byte {
	dst = appendMember(append(dst, '{'), "score", score, !raw.IsNone(score), "")
	dst = appendRendered(dst, doc, "icon", "")
	web, shown := rendered(doc, "web")
	dst = appendMember(dst, "activity", web, shown, "")
	dst = appendRendered(dst, doc, "type", "")
	return append(ejson.AppendID(ejson.AppendKey(dst, "id"), fieldOf(doc, "_id")), '}')
}
