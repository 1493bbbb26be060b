package registry

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"

	"vitrine/cache/origin"
	"vitrine/cache/origin/internal/wrap"
	"vitrine/rules/raw"
)

// publication is one attempt at a view's next generation. Any later Begin fences it off.
type publication struct {
	views    *Views
	lease    origin.Lease
	begun    View         // the view as of Begin, with our Attempt
	rows     int          // number of rows that Put has received
	own      []origin.Row // the first of these rows, for Settle
	bytes    int          // size of own, at most Rows.KeepBytes
	load     BulkLoad     // gets the rows instead of Rows.Put, unless it is nil
	promoted bool         // load is promoted
	done     bool         // the publication was committed or aborted
}

// errDone is returned after Commit or Abort has succeeded.
var errDone = errors.New("publication is over")

// newest returns origin.ErrFenced unless this publication can be committed.
func (p *publication) newest(d *View) error {
	if d.Attempt != p.begun.Attempt || d.Generation != p.begun.Generation {
		return Outdated(*d, p.begun)
	}
	return nil
}

// Outdated returns the error of a publication that has begun with the meta begun, after a later one has begun with
// the meta now. It wraps origin.ErrFenced.
func Outdated(now, begun View) error {
	return fmt.Errorf("%w: the view is at attempt %d for generation %d, "+
		"the publication at attempt %d for generation %d",
		origin.ErrFenced, now.Attempt, now.Next(), begun.Attempt, begun.Next())
}

// Put implements origin.Publication. It checks all rows before it writes any of them.
func (p *publication) Put(ctx context.Context, rows []origin.Row) (err error) {
	defer wrap.Error(&err, "put rows of view %s", p.begun.View)
	if p.done {
		return errDone
	}
	for _, r := range rows {
		if err := r.Check(); err != nil {
			return err
		}
	}
	p.rows += len(rows)
	if p.load != nil {
		return p.load.Put(ctx, rows)
	}
	err = p.views.rows.Put(ctx, p.begun, rows)
	if err == nil {
		p.keep(rows)
	}
	return err
}

// keep keeps written rows for Settle, up to Rows.KeepBytes.
func (p *publication) keep(rows []origin.Row) {
	const overhead = 100 // bytes that each row takes in memory besides its contents, so that tombstones count
	for _, r := range rows {
		p.bytes += len(r.ID.Value) + len(r.Doc) + overhead
		for _, word := range r.Words {
			p.bytes += len(word)
		}
		if p.bytes > p.views.rows.KeepBytes {
			p.bytes = p.views.rows.KeepBytes // so that no later row is kept, either
			return
		}
		r.ID = raw.Clone(r.ID) // a tombstone's may be part of a record
		p.own = append(p.own, r)
	}
}

// Commit implements origin.Publication. Changing the meta publishes; the next Begin settles what fails to settle
// here.
func (p *publication) Commit(ctx context.Context, rows int, rules string) (_ origin.Meta, err error) {
	defer wrap.Error(&err, "commit view %s", p.begun.View)
	if p.done {
		return origin.Meta{}, errDone
	}
	if err := p.promote(ctx); err != nil {
		return origin.Meta{}, err
	}
	d, err := fence(ctx, p.views, p.begun.View, p.lease, func(d *View) error {
		if err := p.newest(d); err != nil {
			return err
		}
		if d.Generation == 0 {
			d.Epoch = rand.Text()
		}
		if p.rows > 0 && p.load == nil {
			d.Staged = d.Attempt
		}
		d.Versions = p.rows
		d.Generation, d.Rows, d.Rules = d.Next(), rows, rules
		d.Published = nextTime(d.Published, p.views.now())
		d.Past = append(d.Past[max(0, len(d.Past)+1-origin.MaxPublishedTimes):], d.Published)
		return nil
	})
	if err != nil && !errors.Is(err, origin.ErrFenced) && p.checkCommit(ctx, &d) {
		err = nil
	}
	if err != nil {
		return origin.Meta{}, err
	}
	p.done = true
	if p.views.rows.Settle(ctx, d, p.lease, p.own) == nil {
		if settled, err := p.views.Read(ctx, p.begun.View); err == nil {
			d.Pruned = settled.Pruned
		}
	}
	return d.Meta, nil
}

// promote promotes a bulk load if the commit can still succeed. Only one bulk load of a view can ever be promoted, so
// an outdated publication must not promote its own.
func (p *publication) promote(ctx context.Context) error {
	if p.load == nil || p.promoted {
		return nil
	}
	if err := p.views.leases.Check(ctx, p.lease); err != nil {
		return err
	}
	d, err := p.views.Read(ctx, p.begun.View)
	if err == nil {
		err = p.newest(&d)
	}
	if err == nil {
		err = p.load.Promote(ctx)
	}
	p.promoted = err == nil
	return err
}

// checkCommit reads the meta and reports whether a commit succeeded although its response was lost.
func (p *publication) checkCommit(ctx context.Context, d *View) bool {
	stored, err := p.views.Read(ctx, p.begun.View)
	*d = stored
	return err == nil && d.Attempt == p.begun.Attempt && d.Generation == p.begun.Next()
}

// Abort implements origin.Publication. It increments the attempt before it deletes rows, so that a commit of ours
// that is still running, because its response was lost, fails. If the commit came first, the rows stay.
func (p *publication) Abort(ctx context.Context) (err error) {
	defer wrap.Error(&err, "abort publication of view %s", p.begun.View)
	if p.done {
		return nil
	}
	d, err := p.views.table.Update(ctx, p.begun.View, func(d *View) error {
		err := p.newest(d)
		d.Attempt++
		return err
	})
	if err == nil {
		err = p.views.rows.Discard(ctx, d)
	}
	if errors.Is(err, origin.ErrFenced) { // a newer publication has deleted the rows
		err = nil
	}
	p.done = err == nil
	return err
}
