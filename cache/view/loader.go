package view

import (
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/view/mapped"
	"vitrine/rules/parallel"
)

// loader collects the rows of a view, or changes of them. A goroutine meanwhile strips them and moves them into
// mapped files, so that few are in memory at once. Its owner calls wait in the end.
type loader struct {
	view     *view
	batches  [][]bson.Raw     // stripped and moved, or about to be
	batch    []bson.Raw       // the newest rows
	bytes    int              // bytes of the newest rows
	n        int              // number of rows
	again    map[int]bson.Raw // newer versions of rows
	total    int64            // bytes of all versions, as they were put
	moving   parallel.Group   // moves the last of the batches
	stripped bool             // a row has lost fields; valid after wait
}

// put sets the i-th row, which may be the next one. A nil row is a deleted one. It may keep doc, and waits if the
// batch before is still moving.
func (l *loader) put(i int, doc bson.Raw) {
	l.total += int64(len(doc))
	if i < l.n {
		if l.again == nil {
			l.again = make(map[int]bson.Raw)
		}
		l.again[i] = doc
		return
	}
	l.batch, l.n, l.bytes = append(l.batch, doc), l.n+1, l.bytes+len(doc)
	if l.bytes >= mapped.FileBytes {
		l.settle()
	}
}

// settle hands the newest rows to the moving goroutine. With mapped files, at most two batches are in memory: the
// one that is moving and the one that put fills.
func (l *loader) settle() {
	l.wait()
	batch := l.batch
	l.batches, l.batch, l.bytes = append(l.batches, batch), nil, 0
	l.moving.Go(func() {
		l.strip(batch)
		mapped.Move(l.view.builder.Files, batch)
	})
}

func (l *loader) wait() { l.moving.Wait() }

// strip strips rows, of which some may be nil. One goroutine at a time calls it.
func (l *loader) strip(docs []bson.Raw) {
	if l.view.strip(len(docs), func(i int) *bson.Raw { return &docs[i] }) {
		l.stripped = true
	}
}

// rows returns the rows when all are put.
func (l *loader) rows() []bson.Raw {
	return slices.DeleteFunc(l.versions(), func(doc bson.Raw) bool { return doc == nil })
}

// versions is rows with the nil ones.
func (l *loader) versions() []bson.Raw {
	l.settle()
	l.wait()
	docs := slices.Concat(l.batches...)
	for i, doc := range l.again {
		docs[i] = doc
		l.strip(docs[i : i+1])
	}
	return docs
}
