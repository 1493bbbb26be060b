package api

import (
	"bytes"
	"context"
	"strconv"
	"sync"
	"weak"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/view"
	"vitrine/cache/view/index"
	"vitrine/rules/ejson"
	"vitrine/rules/filter"
	"vitrine/rules/similar"
)

// titles holds the corpus of one snapshot's publications, made when the first of
// activities is shown, of a later one then if there was a question since, else when it
// is first asked for.
type titles struct {
	publications *filter.Filter

	// mu guards the rest. It is held while a corpus is made, about half a second for
	// 100,000 titles: whoever asks meanwhile would have to wait for it anyway.
	mu     sync.Mutex
	latest *corpus
}

// corpus is the titles of the publications of one snapshot.
type corpus struct {
	// of is weak: a snapshot that was replaced is not kept because nobody has asked
	// for a title since.
	of     weak.Pointer[index.Snapshot]
	titles *similar.Corpus
	slots  []index.Slot // by position in titles
	asked  bool         // by a question; guarded like latest
}

// closest writes the answer for a title from a snapshot.
func (t *titles) closest(ctx context.Context, s *view.Snapshot, title string) ([]byte, error) {
	rows, resident := s.Resident()
	if !resident {
		return t.closestStored(ctx, s, title)
	}
	found, err := t.in(ctx, rows)
	if err != nil {
		return nil, err
	}
	return found.closest(ctx, rows, title)
}

// in returns the corpus of a snapshot.
func (t *titles) in(ctx context.Context, s *index.Snapshot) (*corpus, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := t.makeLocked(ctx, s); err != nil {
		return nil, err
	}
	t.latest.asked = true
	return t.latest, nil
}

// follow makes the corpus of a snapshot that is just shown, if it is the first or there
// was a question to the one before.
func (t *titles) follow(ctx context.Context, s *index.Snapshot) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.latest != nil && !t.latest.asked {
		return nil
	}
	return t.makeLocked(ctx, s)
}

// makeLocked makes the latest corpus that of a snapshot.
func (t *titles) makeLocked(ctx context.Context, s *index.Snapshot) error {
	if t.latest != nil && t.latest.of == weak.Make(s) {
		return nil
	}
	found, err := s.Select(ctx, t.publications)
	if err != nil {
		return err
	}
	slots := found.By(idOrder(false)).Page(0, 0) // of equally close titles the first counts (DESIGN.md: 9)
	t.latest = &corpus{of: weak.Make(s), slots: slots, titles: similar.NewCorpus(func(yield func(string) bool) {
		for _, slot := range slots {
			if !yield(storedTitle(s.Doc(slot))) {
				return
			}
		}
	})}
	return nil
}

// storedTitle is a record's title; one that is no text is like none.
func storedTitle(doc bson.Raw) string {
	title, _ := doc.Lookup("title").StringValueOK()
	return title
}

// closest writes the answer for a title.
func (c *corpus) closest(ctx context.Context, s *index.Snapshot, title string) ([]byte, error) {
	at, _, percent, err := c.titles.Closest(ctx, title)
	if err != nil {
		return nil, err
	}
	if at < 0 {
		return noTitle(), nil
	}
	return closestTitle(s.Doc(c.slots[at]), percent), nil
}

// noTitle is the answer where no title has anything in common with the one asked for.
func noTitle() []byte { return []byte(`{"similarity":0,"id":"","title":""}`) }

// closestTitle is the answer that names a publication.
func closestTitle(doc bson.Raw, percent float64) []byte {
	dst := strconv.AppendFloat([]byte(`{"similarity":`), similar.Report(percent), 'f', -1, 64)
	dst = ejson.AppendID(appendKey(dst, "id"), doc.Lookup("_id"))
	dst = ejson.AppendString(appendKey(dst, "title"), similar.Normalize(storedTitle(doc)))
	return append(dst, '}')
}

// storedTitles is how many titles of a view in the store are compared at a time.
const storedTitles = 4096

// closestStored reads the titles of a view in the store once, and keeps the closest.
func (t *titles) closestStored(ctx context.Context, s *view.Snapshot, title string) ([]byte, error) {
	found, err := s.Select(ctx, t.publications)
	if err != nil {
		return nil, err
	}
	best := closestSoFar{title: title}
	var docs []bson.Raw
	for row, err := range found.By(idOrder(false)).Only("title").Rows(ctx, 0, 0) {
		if err != nil {
			return nil, err
		}
		if docs = append(docs, row.Doc()); len(docs) == storedTitles {
			if err := best.compare(ctx, docs); err != nil {
				return nil, err
			}
			docs = docs[:0]
		}
	}
	if err := best.compare(ctx, docs); err != nil {
		return nil, err
	}
	if best.doc == nil {
		return noTitle(), nil
	}
	return closestTitle(best.doc, best.percent), nil
}

// closestSoFar is the publication with the most matching characters among those
// compared, the first of equals.
type closestSoFar struct {
	title   string
	doc     bson.Raw // nil: none
	matches int
	percent float64
}

func (c *closestSoFar) compare(ctx context.Context, docs []bson.Raw) error {
	corpus := similar.NewCorpus(func(yield func(string) bool) {
		for _, doc := range docs {
			if !yield(storedTitle(doc)) {
				return
			}
		}
	})
	at, matches, percent, err := corpus.Closest(ctx, c.title)
	if err == nil && at >= 0 && matches > c.matches {
		c.doc, c.matches, c.percent = bytes.Clone(docs[at]), matches, percent
	}
	return err
}
