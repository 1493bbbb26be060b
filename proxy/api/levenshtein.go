package api

import (
	"bytes"
	"context"
	"strconv"
	"strings"
	"sync"
	"weak"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/fair"
	"vitrine/cache/view"
	"vitrine/cache/view/index"
	"vitrine/proxy/response"
	"vitrine/rules"
	"vitrine/rules/ejson"
	"vitrine/rules/filter"
	"vitrine/rules/raw"
	"vitrine/rules/similar"
)

// levenshtein answers GET /api/levenshtein: the closest title of a publication,
// outside of any envelope. pubmed and doi name exact look-ups whose results the
// comparison of titles overwrites, so neither is read.
func (e *Env) levenshtein(_ context.Context, r Request) (response.Plan, error) {
	title := r.Params.Text("title")
	if strings.TrimSpace(title) == "" {
		return response.Plan{}, rules.Wrongf("title", "", "is required")
	}
	title = similar.Normalize(title)
	build := func(ctx context.Context, snapshot *view.Snapshot) (*response.Body, error) {
		found, err := e.titles.closest(ctx, snapshot, title)
		if err != nil {
			return nil, err
		}
		return response.Bytes(found.answer()), nil
	}
	return response.Plan{View: rules.ViewActivities, Query: "levenshtein\x00" + title, Build: build}, nil
}

// titles holds the corpus of one snapshot's publications. It makes the corpus of the first
// snapshot of activities at once. It makes that of a later one at once if there was a
// request since the one before, and otherwise at the next request.
type titles struct {
	publications *filter.Filter

	mu     sync.Mutex // guards latest
	latest *corpus    // nil before the first
}

// corpus is the titles of the publications of one snapshot.
type corpus struct {
	// of is weak: the corpus of a replaced snapshot does not keep that snapshot in memory.
	of   weak.Pointer[index.Table]
	used bool // by a request; guarded like latest

	made   chan struct{} // closed when the rest is there
	titles *similar.Corpus
	slots  []index.Slot // of the records, by position in titles
	err    error
}

// closestTitle is the publication with the most matching characters among those
// compared, the first of equals (DESIGN.md: 9).
type closestTitle struct {
	doc     bson.Raw // nil: no title has a character in common with the requested one
	matches int      // characters
	percent float64  // the similarity, before similar.Report
}

// closest finds the closest title in a snapshot.
func (t *titles) closest(ctx context.Context, s *view.Snapshot, title string) (best closestTitle, err error) {
	rows, resident := s.Resident()
	if !resident {
		return t.closestStored(ctx, s, title)
	}
	made, err := t.corpus(ctx, rows, true)
	if err == nil {
		err = best.compare(ctx, title, made.titles, func(at int) bson.Raw { return rows.Doc(made.slots[at]) })
	}
	return best, err
}

// corpus returns the corpus of a snapshot for a request. Without a request, which used
// says, the snapshot has just been shown: its corpus is made if it is the first, or if a
// request used the one before.
//
// A goroutine of its own makes the corpus, about half a second for 100,000 titles, so that it
// does not end with the request that began it. Requests wait for it without their turns.
func (t *titles) corpus(ctx context.Context, rows *index.Table, used bool) (*corpus, error) {
	t.mu.Lock()
	if t.latest == nil || t.latest.of != weak.Make(rows) && (used || t.latest.used) {
		t.latest = &corpus{of: weak.Make(rows), made: make(chan struct{})}
		go t.latest.build(rows, t.publications)
	}
	c := t.latest
	c.used = c.used || used
	t.mu.Unlock()
	if err := fair.TurnOf(ctx).Wait(ctx, c.made); err != nil {
		return nil, err
	}
	return c, c.err
}

// build makes the corpus of the rows that a filter selects.
func (c *corpus) build(rows *index.Table, publications *filter.Filter) {
	defer close(c.made)
	ctx := context.Background()
	found, err := rows.Select(ctx, publications)
	if err != nil {
		c.err = err
		return
	}
	docs := make([]bson.Raw, 0, found.Count())
	c.slots = make([]index.Slot, 0, found.Count())
	for row := range found.By(raw.Sort{raw.ByID}).Rows(ctx, 0, 0) {
		c.slots, docs = append(c.slots, row.Slot), append(docs, row.Doc())
	}
	c.titles = newCorpus(docs)
}

// newCorpus makes a corpus of the titles of records.
func newCorpus(docs []bson.Raw) *similar.Corpus {
	return similar.NewCorpus(func(yield func(string) bool) {
		for _, doc := range docs {
			if !yield(raw.StringField(doc, "title")) {
				return
			}
		}
	})
}

// storedTitles is how many titles of a view in the store are compared at a time.
const storedTitles = 4096

// closestStored reads the titles of a view in the store once, and keeps the closest.
func (t *titles) closestStored(ctx context.Context, s *view.Snapshot, title string) (best closestTitle, err error) {
	found, err := s.Select(ctx, t.publications)
	if err != nil {
		return best, err
	}
	var docs []bson.Raw
	compare := func() error {
		err := best.compare(ctx, title, newCorpus(docs), func(at int) bson.Raw { return bytes.Clone(docs[at]) })
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

// compare takes the closest title of a corpus if it is closer; doc returns its record.
func (c *closestTitle) compare(ctx context.Context, title string, titles *similar.Corpus, doc func(at int) bson.Raw) error {
	at, matches, percent, err := titles.Closest(ctx, title)
	if err == nil && at >= 0 && matches > c.matches {
		*c = closestTitle{doc(at), matches, percent}
	}
	return err
}

// answer is the answer that names the publication.
func (c closestTitle) answer() []byte {
	if c.doc == nil {
		return []byte(`{"similarity":0,"id":"","title":""}`)
	}
	dst := strconv.AppendFloat([]byte(`{"similarity":`), similar.Report(c.percent), 'f', -1, 64)
	dst = ejson.AppendID(appendKey(dst, "id"), c.doc.Lookup("_id"))
	dst = ejson.AppendString(appendKey(dst, "title"), similar.Normalize(raw.StringField(c.doc, "title")))
	return append(dst, '}')
}
