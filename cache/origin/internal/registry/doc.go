// Package registry defines the documents about views and leases that both stores keep, and the rules by which they
// change. A store provides a Table for each and the functions that move Rows.
package registry

import "context"

// Table keeps a document for each name.
type Table[D any] interface {
	// Read returns the document of a name, or the zero document.
	Read(ctx context.Context, name string) (D, error)
	// Update changes the document in one atomic step and returns it. It stores nothing if
	// change returns an error. If another update comes first, it calls change again.
	Update(ctx context.Context, name string, change func(*D) error) (D, error)
}

// Revision counts the updates of a document, for tables that compare it before they write.
type Revision struct {
	Revision uint64 `bson:"rev"`
}

// Revise increments the count of updates and returns the count before.
func (r *Revision) Revise() (before uint64) {
	r.Revision++
	return r.Revision - 1
}
