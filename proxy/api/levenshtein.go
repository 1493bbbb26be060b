package api

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
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

// levenshtein answers GET /api/levenshtein: the closest title of a publication, without an envelope. It ignores pubmed
// and doi, because the comparison of titles would override them.
func (e *Env) levenshtein(_ context.Context, r Request) (response.Plan, error) {
	title := r.Params.Text("title")
	if strings.TrimSpace(title) == "" {
		return response.Plan{}, rules.Wrongf("title", "", "is required")
	}
	title = similar.Normalize(title)
	query, closest := "levenshtein\x00"+title, e.titles.closest
	list := e.activitiesOf(r, e.titles.publications)
	if list.restricted != "" && slices.Contains(e.o.Access.Hidden(r.Viewer), "publication") { // rare: without the corpus
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

// titles holds the corpus of one snapshot's publications.
type titles struct {
	publications *filter.Filter
	latest       atomic.Pointer[corpus] // nil until the first corpus is made
	used         atomic.Bool            // there was a request since warm last made a corpus
	flights      flight.Group[*corpus]
}

// corpus has the titles of the publications of one snapshot.
type corpus struct {
	// of is weak, so that the corpus of a replaced snapshot does not keep that snapshot in memory.
	of     weak.Pointer[index.Table]
	titles *similar.Corpus
	slots  []index.Slot // slots of the records, by position in titles
}

// closestTitle is the first publication with the most matching characters in its title so far (DESIGN.md: 9).
type closestTitle struct {
	doc     bson.Raw // nil if no title has a character in common with the requested one
	matches int      // matching characters
	percent float64  // the similarity, before similar.Report
}

func (t *titles) closest(ctx context.Context, s *view.Snapshot, title string) (best closestTitle, err error) {
	rows, resident := s.Resident()
	if !resident {
		return closestOf(ctx, s, t.publications, title)
	}
	t.used.Store(true)
	c, err := t.corpus(ctx, rows)
	if err == nil {
		err = best.compare(ctx, title, c.titles, func(at int) bson.Raw { return rows.Doc(c.slots[at]) })
	}
	return best, err
}

// warm makes the corpus for a new snapshot, if it is the first or if there were requests since the previous one.
func (t *titles) warm(ctx context.Context, s *index.Table) error {
	if t.latest.Load() != nil && !t.used.Swap(false) {
		return nil
	}
	_, err := t.corpus(ctx, s)
	return err
}

// corpus returns the corpus of a snapshot. Callers wait half a second for 100,000 titles, without their turns.
func (t *titles) corpus(ctx context.Context, s *index.Table) (*corpus, error) {
	if latest := t.latest.Load(); latest != nil && latest.of == weak.Make(s) {
		return latest, nil
	}
	turn := fair.TurnOf(ctx)
	turn.Pause()
	made, err := t.flights.Do(ctx, fmt.Sprintf("%p", s), func() (*corpus, error) {
		found, err := s.Select(context.Background(), t.publications)
		if err != nil {
			return nil, err
		}
		slots, docs := make([]index.Slot, 0, found.Count()), make([]bson.Raw, 0, found.Count())
		for row := range found.By(raw.Sort{raw.ByID}).Rows(context.Background(), 0, 0) {
			slots, docs = append(slots, row.Slot), append(docs, row.Doc())
		}
		made := &corpus{of: weak.Make(s), slots: slots, titles: newCorpus(docs)}
		t.latest.Store(made)
		return made, nil
	})
	if err != nil {
		return nil, err
	}
	return made, turn.Resume(ctx)
}

func newCorpus(docs []bson.Raw) *similar.Corpus {
	return similar.NewCorpus(func(yield func(string) bool) {
		for _, doc := range docs {
			if !yield(raw.StringField(doc, "title")) {
				return
			}
		}
	})
}

// storedTitles is how many titles closestOf compares at a time.
const storedTitles = 4096

// closestOf returns the closest title of the records that a filter selects, without the corpus.
func closestOf(ctx context.Context, s *view.Snapshot, among *filter.Filter, title string) (best closestTitle, err error) {
	found, err := s.Select(ctx, among)
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

// compare replaces c by the closest title of a corpus if that title is closer. doc returns its record.
func (c *closestTitle) compare(ctx context.Context, title string, titles *similar.Corpus, doc func(at int) bson.Raw) error {
	at, matches, percent, err := titles.Closest(ctx, title)
	if err == nil && at >= 0 && matches > c.matches {
		*c = closestTitle{doc(at), matches, percent}
	}
	return err
}

func (c closestTitle) answer() []byte {
	if c.doc == nil {
		return []byte(`{"similarity":0,"id":"","title":""}`)
	}
	dst := strconv.AppendFloat([]byte(`{"similarity":`), similar.Report(c.percent), 'f', -1, 64)
	dst = ejson.AppendID(ejson.AppendKey(dst, "id"), c.doc.Lookup("_id"))
	dst = ejson.AppendString(ejson.AppendKey(dst, "title"), similar.Normalize(raw.StringField(c.doc, "title")))
	return append(dst, '}')
}
