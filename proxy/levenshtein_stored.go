package proxy

import (
	"bytes"
	"context"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/view"
	"vitrine/rules/similar"
)

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
