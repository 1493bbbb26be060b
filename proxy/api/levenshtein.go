package api

import (
	"bytes"
	"context"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"weak"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/fair"
	"vitrine/cache/view"
	"vitrine/cache/view/index"
	"vitrine/proxy/response"
	"vitrine/rules"
	"vitrine/rules/ejson"
	"vitrine/rules/filter"
	"vitrine/rules/flight"
	"vitrine/rules/raw"
	"vitrine/rules/similar"
)

// levenshtein answers GET /api/levenshtein: the closest title of a publication, without an envelope. It ignores
// pubmed and doi, because the comparison of titles would override them.
func (e *Env) levenshtein(_ context.Context, r Request) (response.Plan, error) {
	title := r.Params.Text("title")
	if strings.TrimSpace(title) == "" {
		return response.Plan{}, rules.Wrongf("title", "", "is required")
	}
	title = similar.NormalizeQuery(title)
	query, closest := "levenshtein\x00"+title, e.titles.closest
	list := e.activitiesOf(r, e.titles.publications)
	if list.restricted != "" && slices.Contains(e.o.Access.Hidden(r.Viewer), "publication") {
		// rare: without the corpus
		query = "levenshtein of\x00" + strconv.Quote(title) + list.filter.Key()
		closest = func(ctx context.Context, s *view.Snapshot, title string) (closestTitle, error) {
			return closestOf(ctx, s, list.filter, title)
		}
	}
	build := func(ctx context.Context, s response.Snapshots) (*response.Body, error) {
		found, err := closest(ctx, s.Own(), title)
		if err != nil {
			return nil, err
		}
		return response.Bytes(found.answer()), nil
	}
	return response.Plan{View: rules.ViewActivities, Query: query, Build: build}, nil
}

// titles has the corpora of the newest snapshots' publications. There are two, because a new snapshot is prepared
// while the one before it is still shown: requests for the old one must not discard the new corpus, nor make theirs
// again for each request.
type titles struct {
	publications *filter.Filter
	// After the first snapshot, nothing is prepared in advance for institutes that never compare titles.
	used    atomic.Bool // there was a request since warm last made a corpus
	flights flight.Group[weak.Pointer[index.Table], *corpus]

	mu sync.Mutex // guards the rest
	// latest is the corpus of the newest snapshot, which may not be shown yet; nil before the first. previous serves
	// requests for the snapshot before it, until one for the newest arrives.
	latest, previous *corpus
}

// corpus has the titles of the publications of one snapshot.
type corpus struct {
	// of is weak, so that the corpus of a replaced snapshot does not keep that snapshot in memory.
	of     weak.Pointer[index.Table]
	loaded time.Time // when the snapshot was made
	titles *similar.Corpus
	// The slots take the place of the records, which the snapshot has anyhow.
	slots []index.Slot // slots of the records, by position in titles
}

// closestTitle is the first publication with the most matching characters in its title so far. The first is the one
// with the smallest _id: of equally close titles the answer is the same after every restart.
type closestTitle struct {
	doc     bson.Raw // nil if no title has a character in common with the requested one
	matches int      // matching characters
	percent float64  // the similarity, before similar.Report
}

// closest returns the publication with the closest title. A view in memory has a corpus, made once for a snapshot.
// A view in the store has none, since the titles of a snapshot would take the memory that the store mode saves.
func (t *titles) closest(ctx context.Context, s *view.Snapshot, title string) (best closestTitle, err error) {
	rows, resident := s.Resident()
	if !resident {
		return closestOf(ctx, s, t.publications, title)
	}
	t.used.Store(true)
	c, err := t.corpus(ctx, rows, s.Loaded())
	if err == nil {
		err = best.compare(ctx, title, c.titles, func(at int) bson.Raw { return rows.Doc(c.slots[at]) })
	}
	return best, err
}

// warm makes the corpus for a new snapshot, if it is the first or if there were requests since the previous one.
// The first snapshot is prepared without a request, so that the first caller after a start does not wait.
func (t *titles) warm(ctx context.Context, s *index.Table, loaded time.Time) error {
	t.mu.Lock()
	first := t.latest == nil
	t.mu.Unlock()
	if !first && !t.used.Swap(false) {
		return nil
	}
	_, err := t.corpus(ctx, s, loaded)
	return err
}

// corpus returns the corpus of a snapshot. One caller makes it in its turn, half a second for 100,000 titles;
// concurrent callers wait without theirs, and one of them makes it if that caller leaves.
func (t *titles) corpus(ctx context.Context, s *index.Table, loaded time.Time) (*corpus, error) {
	of := weak.Make(s)
	if kept := t.find(of); kept != nil {
		return kept, nil
	}
	return fair.Lead(ctx, &t.flights, of, func() (*corpus, error) {
		// The corpus may have been made between the look-up above and the lead.
		if kept := t.find(of); kept != nil {
			return kept, nil
		}
		made, err := t.make(ctx, s, loaded)
		if err == nil {
			t.keep(made)
		}
		return made, err
	})
}

// find returns the corpus of a snapshot, or nil.
func (t *titles) find(of weak.Pointer[index.Table]) *corpus {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case t.latest != nil && t.latest.of == of:
		t.previous = nil // its snapshot has been replaced
		return t.latest
	case t.previous != nil && t.previous.of == of:
		return t.previous
	}
	return nil
}

// make makes the corpus of a snapshot, unless the context ends.
func (t *titles) make(ctx context.Context, s *index.Table, loaded time.Time) (*corpus, error) {
	found, err := s.Select(ctx, t.publications)
	if err != nil {
		return nil, err
	}
	slots, docs := make([]index.Slot, 0, found.Count()), make([]bson.Raw, 0, found.Count())
	for row, err := range found.By(raw.Sort{raw.ByID}).Rows(ctx, 0, 0) {
		if err != nil {
			return nil, err
		}
		slots, docs = append(slots, row.Slot), append(docs, row.Doc())
	}
	all, err := newCorpus(ctx, docs)
	if err != nil {
		return nil, err
	}
	return &corpus{of: weak.Make(s), loaded: loaded, slots: slots, titles: all}, nil
}

// keep keeps a corpus unless those of two newer snapshots are kept. A late maker, whose snapshot was replaced while
// it worked, must not push out a newer corpus. Its own callers have what it made.
func (t *titles) keep(c *corpus) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case t.latest == nil || !c.loaded.Before(t.latest.loaded):
		t.latest, t.previous = c, t.latest
	case t.previous == nil || !c.loaded.Before(t.previous.loaded):
		t.previous = c
	}
}

// newCorpus prepares the titles of records in the context's turn. Without a turn it rests now and then.
func newCorpus(ctx context.Context, docs []bson.Raw) (*similar.Corpus, error) {
	turn, rest, err := fair.TurnOf(ctx), fair.Rest(), error(nil)
	all := similar.NewCorpus(func(yield func(string) bool) {
		for _, doc := range docs {
			if turn == nil {
				rest()
			}
			if err = turn.Check(ctx); err != nil || !yield(raw.StringField(doc, "title")) {
				return
			}
		}
	})
	return all, err
}

// storedTitles is how many titles closestOf compares at a time. It bounds the memory: a batch of titles and records
// rather than those of the view.
const storedTitles = 4096

// closestOf returns the closest title of the records that a filter selects, without the corpus. It reads in
// batches, and copies only the record that is the closest so far: a row of a view in the store shares its memory
// with its neighbours.
func closestOf(ctx context.Context, s *view.Snapshot, among *filter.Filter,
	title string) (best closestTitle, err error) {
	found, err := s.Select(ctx, among)
	if err != nil {
		return best, err
	}
	var docs []bson.Raw
	compare := func() error {
		titles, err := newCorpus(ctx, docs)
		if err == nil {
			err = best.compare(ctx, title, titles, func(at int) bson.Raw { return bytes.Clone(docs[at]) })
		}
		docs = docs[:0]
		return err
	}
	for row, err := range found.By(raw.Sort{raw.ByID}).Only("title").Rows(ctx, 0, 0) {
		if err == nil && len(docs) == storedTitles {
			err = compare()
		}
		if err != nil {
			return best, err
		}
		docs = append(docs, row.Doc())
	}
	err = compare()
	return best, err
}

// compare replaces c by the closest title of a corpus if that title is closer. doc returns its record. Only more
// matches replace c, so that among equals the record of an earlier batch stays.
func (c *closestTitle) compare(ctx context.Context, title string, titles *similar.Corpus,
	doc func(at int) bson.Raw) error {
	inTurn := func(n int, work func(i int) error) error { return fair.Each(ctx, n, work) }
	at, matches, percent, err := titles.Closest(title, inTurn)
	if err == nil && at >= 0 && matches > c.matches {
		*c = closestTitle{doc(at), matches, percent}
	}
	return err
}

// answer writes the object that /api/levenshtein answers with. Without any match it has empty texts rather than
// null, so that clients read the same types.
func (c closestTitle) answer() []byte {
	if c.doc == nil {
		return []byte(`{"similarity":0,"id":"","title":""}`)
	}
	dst := strconv.AppendFloat([]byte(`{"similarity":`), similar.Report(c.percent), 'f', -1, 64)
	dst = ejson.AppendID(ejson.AppendKey(dst, "id"), c.doc.Lookup("_id"))
	dst = ejson.AppendString(ejson.AppendKey(dst, "title"), similar.Normalize(raw.StringField(c.doc, "title")))
	return append(dst, '}')
}
