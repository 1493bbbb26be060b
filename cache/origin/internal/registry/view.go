// Package registry defines the documents about views and leases that both stores keep, and the rules by which they
// change. A store provides a Table for each, in which single documents change atomically, and the functions that move
// Rows.
package registry

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"vitrine/cache/origin"
	"vitrine/cache/origin/internal/wrap"
)

// View is a stored meta with the fields that only stores need.
type View struct {
	origin.Meta `bson:",inline"`
	Revision    `bson:",inline"`
	Token       uint64 `bson:"token"`   // the newest lease token; older ones are fenced off
	Attempt     uint64 `bson:"attempt"` // counts publications; only the latest can be committed
	// the attempt that became Generation, until its rows are folded in; 0 once settled
	Staged  uint64 `bson:"staged"`
	Settled uint64 `bson:"settled"` // versions replaced up to this generation are pruned
	Swept   uint64 `bson:"swept"`   // tombstones up to this generation are pruned
	// Holder held the lease with Token. If it is empty, an older program wrote the meta, and any holder may have
	// Token.
	Holder string `bson:"holder,omitempty"`
	// Versions is how many rows and tombstones Generation published; 0 if none, or if an older program published it.
	// The store keeps them until the next generation. If it has another number, they were restored, lost or changed
	// by hand.
	Versions int `bson:"versions,omitempty"`
}

// SourceField returns a pointer to the source database of a stored meta.
func (d *View) SourceField() *string { return &d.Source }

// Next is the generation that the next publication prepares.
func (d View) Next() uint64 { return d.Generation + 1 }

// Rows move the rows of views. All but Put may be killed and repeated. Settle, then Discard run before a publication.
type Rows struct {
	// Put writes rows of d.Next() under d.Attempt, where readers do not look.
	Put func(ctx context.Context, d View, rows []origin.Row) error
	// Settle folds in the rows of the committed generation, and deletes versions that no reader can request. own has
	// some rows of this generation, as Put received them, or none. Settle need not read them back.
	Settle func(ctx context.Context, d View, lease origin.Lease, own []origin.Row) error
	// KeepBytes is how many bytes of rows a publication keeps for Settle. If it is 0, Settle gets none.
	KeepBytes int
	// Discard deletes the uncommitted rows of attempts before d.Attempt, and all rows if nothing was published.
	Discard func(ctx context.Context, d View) error
	// BulkLoad runs after Discard if nothing was published. It begins a bulk load, which writes each row once. If
	// BulkLoad is nil or returns nil, Put gets the rows.
	BulkLoad func(ctx context.Context, d View) (BulkLoad, error)
}

// BulkLoad writes the rows of one attempt at a view's first generation.
type BulkLoad interface {
	// Put writes rows to a place that neither readers nor other attempts read.
	Put(ctx context.Context, rows []origin.Row) error
	// Promote makes them the view's rows, before the commit. Only one attempt at a view can succeed; an error ends
	// the publication.
	Promote(ctx context.Context) error
}

// Views implements the methods of origin.Views that concern metas.
type Views struct {
	table  Table[View]
	leases *Leases
	rows   Rows
	now    func() time.Time
}

// NewViews returns views whose metas are kept in a table and which are published under leases.
func NewViews(table Table[View], leases *Leases, rows Rows) *Views {
	return &Views{table, leases, rows, leases.now}
}

// Read returns a view's meta. The meta of an unknown view has only a name.
func (v *Views) Read(ctx context.Context, view string) (View, error) {
	d, err := v.table.Read(ctx, view)
	d.View = view
	return d, err
}

// Meta implements origin.Views.
func (v *Views) Meta(ctx context.Context, view string) (_ origin.Meta, err error) {
	defer wrap.Error(&err, "read meta of view %s", view)
	d, err := v.Read(ctx, view)
	return d.Meta, err
}

// SetHealth implements origin.Views.
func (v *Views) SetHealth(ctx context.Context, view string, lease origin.Lease, h origin.Health) (err error) {
	defer wrap.Error(&err, "set health of view %s", view)
	_, err = fence(ctx, v, view, lease, func(d *View) error {
		d.Health = storable(h)
		if h.Status == origin.HealthOK {
			if d.Checked = storedTime(v.now()); h.Forced {
				d.Forced = d.Checked
			}
		}
		return nil
	})
	return err
}

// fence changes a view's meta, unless the meta has a greater fencing token, or the same token of another holder. It
// writes the lease's token, which fences off holders of smaller ones.
func fence(ctx context.Context, v *Views, view string, lease origin.Lease,
	change func(*View) error) (d View, err error) {
	if err := origin.CheckView(view); err != nil {
		return d, err
	}
	if err := v.leases.Check(ctx, lease); err != nil {
		return d, err
	}
	return v.table.Update(ctx, view, func(d *View) error {
		if err := outranked(lease, d.Token, d.Holder, "the view was"); err != nil {
			return err
		}
		d.View, d.Token, d.Holder = view, lease.Token, lease.Holder
		return change(d)
	})
}

// outranked returns origin.ErrFenced if what was last written under token by holder has a greater fencing token than
// the lease, or the same token of another holder.
func outranked(lease origin.Lease, token uint64, holder, what string) error {
	if token > lease.Token || token == lease.Token && holder != "" && holder != lease.Holder {
		return fmt.Errorf("%w: %s last written by %q with token %d, the lease of %q has token %d",
			origin.ErrFenced, what, holder, token, lease.Holder, lease.Token)
	}
	return nil
}

// Begin implements origin.Views. Its first step, the attempt in the meta, fences off all earlier publications; only
// then does it settle and discard what they have left.
func (v *Views) Begin(ctx context.Context, view string, lease origin.Lease) (_ origin.Publication, err error) {
	defer wrap.Error(&err, "begin publication of view %s", view)
	d, err := fence(ctx, v, view, lease, func(d *View) error {
		d.Attempt++
		return nil
	})
	if err == nil {
		err = v.rows.Settle(ctx, d, lease, nil)
	}
	if err == nil {
		err = v.rows.Discard(ctx, d)
	}
	var load BulkLoad
	if err == nil && d.Generation == 0 && v.rows.BulkLoad != nil {
		load, err = v.rows.BulkLoad(ctx, d)
	}
	if err != nil {
		return nil, err
	}
	return &publication{views: v, lease: lease, begun: d, load: load}, nil
}

// storable returns h with at most origin.MaxSkips records, and valid UTF-8: an error may quote a record that is not.
func storable(h origin.Health) origin.Health {
	h.Error = strings.ToValidUTF8(h.Error, "?")
	h.Skips = slices.Clone(h.Skips[:min(len(h.Skips), origin.MaxSkips)])
	for i, s := range h.Skips {
		h.Skips[i] = origin.Skip{ID: origin.SkipText(s.ID), Reason: origin.SkipText(s.Reason)}
	}
	return h
}

// storedTime returns t as the store returns it.
func storedTime(t time.Time) time.Time { return t.Truncate(time.Millisecond).UTC() }

// nextTime returns the publication time of a generation: now, but a later second than the last, for HTTP dates.
func nextTime(last, now time.Time) time.Time {
	next := last.Truncate(time.Second).Add(time.Second)
	if at := storedTime(now); at.After(next) {
		return at
	}
	return next
}

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
