// Package registry is what both stores have in common in what they record about views and
// leases: the documents, and the rules by which they change. A store offers a Table for
// each, in which single documents change atomically, and the functions that move Rows.
package registry

import "context"

// Table keeps a document for each name.
type Table[D any] interface {
	// Read returns the document of a name, the zero one if there is none.
	Read(ctx context.Context, name string) (D, error)
	// Update stores what change makes of the document in one atomic step, and returns it.
	// It stores nothing if change returns an error. Where another update comes first,
	// change is called again.
	Update(ctx context.Context, name string, change func(*D) error) (D, error)
}

// Revised counts the updates of a document. Those of earlier versions were not counted.
type Revised struct {
	Revision uint64 `bson:"rev"`
}

// Revise counts one more update and returns how many there were before.
func (r *Revised) Revise() (before uint64) {
	r.Revision++
	return r.Revision - 1
}
