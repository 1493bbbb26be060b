package view

import (
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/view/mapped"
)

// loader collects all rows of a view. While it does, it strips them and moves them into mapped files, so that few of
// them are in memory at once.
type loader struct {
	view     *view
	asIs     bool // the rows are stripped already
	docs     []bson.Raw
	ready    int   // docs[:ready] are stripped and moved
	bytes    int   // bytes of the others
	total    int64 // bytes of all rows, as they were put
	stripped bool  // a row has lost fields
}

// put sets the i-th row, which may be the next one. A nil row is left out.
func (l *loader) put(i int, doc bson.Raw) {
	if i == len(l.docs) {
		l.docs = append(l.docs, nil)
	}
	l.total += int64(len(doc) - len(l.docs[i]))
	if l.docs[i] = doc; i < l.ready {
		l.strip(l.docs[i : i+1])
	}
	if l.bytes += len(doc); l.bytes >= mapped.FileBytes {
		l.settle()
	}
}

// settle strips and moves the rows that are not ready.
func (l *loader) settle() {
	rest := l.docs[l.ready:]
	l.strip(rest)
	mapped.Move(l.view.builder.Files, rest)
	l.ready, l.bytes = len(l.docs), 0
}

func (l *loader) strip(docs []bson.Raw) {
	if !l.asIs && l.view.strip(len(docs), func(i int) *bson.Raw { return &docs[i] }) {
		l.stripped = true
	}
}

// rows returns the rows when all are put.
func (l *loader) rows() []bson.Raw {
	l.settle()
	return slices.DeleteFunc(l.docs, func(doc bson.Raw) bool { return doc == nil })
}
