package registry

import (
	"context"
	"time"

	"vitrine/cache/origin"
	"vitrine/cache/origin/internal/wrap"
)

// View is a view's meta as stored, with what only stores need to know.
type View struct {
	origin.Meta `bson:",inline"`
	Revised     `bson:",inline"`
	Token       uint64 `bson:"token"`   // the newest lease token seen; older ones are fenced off
	Attempt     uint64 `bson:"attempt"` // counts publications begun; only the latest can be committed
	Staged      uint64 `bson:"staged"`  // the attempt that Generation is of, while its rows are yet to be folded in; 0: settled
	Settled     uint64 `bson:"settled"` // versions superseded up to this generation are pruned
	Swept       uint64 `bson:"swept"`   // tombstones up to this generation are pruned
}

// Next is the generation that a publication begun now prepares.
func (d View) Next() uint64 { return d.Generation + 1 }

// Rows are the functions by which a store moves the rows of its views. Each of them but
// Put may be killed and repeated anywhere. Settle and then Discard come before each
// publication.
type Rows struct {
	// Put writes rows of d.Next() under d.Attempt, where no reader looks.
	Put func(ctx context.Context, d View, rows []origin.Row) error
	// Settle folds the rows of the committed generation in, and deletes what no reader can
	// ask for any more.
	Settle func(ctx context.Context, d View, lease origin.Lease) error
	// Discard deletes what attempts before d.Attempt have not committed: where nothing was
	// ever published, everything.
	Discard func(ctx context.Context, d View) error
}

// Views implements the part of origin.Views that is about metas.
type Views struct {
	table  Table[View]
	leases *Leases
	rows   Rows
	now    func() time.Time
}

// NewViews returns views whose metas are kept in a table, and which are published under
// leases.
func NewViews(table Table[View], leases *Leases, rows Rows) *Views {
	return &Views{table, leases, rows, leases.now}
}

// Read returns a view's meta; a view that is not there has only a name.
func (v *Views) Read(ctx context.Context, view string) (View, error) {
	d, err := v.table.Read(ctx, view)
	d.View = view
	return d, err
}

// Meta implements origin.Views.
func (v *Views) Meta(ctx context.Context, view string) (_ origin.Meta, err error) {
	defer wrap.Error(&err, "meta of view %s", view)
	d, err := v.Read(ctx, view)
	return d.Meta, err
}

// SetHealth implements origin.Views.
func (v *Views) SetHealth(ctx context.Context, view string, lease origin.Lease, h origin.Health) (err error) {
	defer wrap.Error(&err, "set health of view %s", view)
	_, err = v.fence(ctx, view, lease, func(d *View) error {
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

// fence changes a view's meta unless a newer lease was seen, and leaves the token of this
// one, so that older ones are fenced off from now on.
func (v *Views) fence(ctx context.Context, view string, lease origin.Lease, change func(*View) error) (d View, err error) {
	if err := origin.CheckView(view); err != nil {
		return d, err
	}
	if err := v.leases.Check(ctx, lease); err != nil {
		return d, err
	}
	return v.table.Update(ctx, view, func(d *View) error {
		if d.Token > lease.Token {
			return origin.ErrFenced
		}
		d.View, d.Token = view, lease.Token
		return change(d)
	})
}

// Begin implements origin.Views. It fences off earlier publications and repairs what they
// left.
func (v *Views) Begin(ctx context.Context, view string, lease origin.Lease) (_ origin.Publication, err error) {
	defer wrap.Error(&err, "begin publication of view %s", view)
	d, err := v.fence(ctx, view, lease, func(d *View) error {
		d.Attempt++
		return nil
	})
	if err == nil {
		err = v.rows.Settle(ctx, d, lease)
	}
	if err == nil {
		err = v.rows.Discard(ctx, d)
	}
	if err != nil {
		return nil, err
	}
	return &publication{views: v, lease: lease, begun: d}, nil
}
