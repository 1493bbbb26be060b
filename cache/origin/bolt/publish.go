package bolt

import (
	"context"
	"crypto/rand"
	"errors"
	"math"

	bbolt "go.etcd.io/bbolt"

	"vitrine/cache/origin"
	"vitrine/cache/origin/internal/batch"
	"vitrine/cache/origin/internal/metadoc"
	"vitrine/cache/origin/internal/wrap"
)

// publication is the one that began last; any later Begin fences it off.
type publication struct {
	store      *Store
	view       string
	lease      origin.Lease
	attempt    uint64
	generation uint64
	done       bool // committed or aborted
}

// errDone reports the use of a publication after its end.
var errDone = errors.New("publication is over")

// Begin implements origin.Views. It fences off earlier publications, discards what they
// left above the committed generation and prunes what a killed one no longer could.
func (s *Store) Begin(ctx context.Context, view string, lease origin.Lease) (_ origin.Publication, err error) {
	defer wrap.Error(&err, "begin publication of view %s", view)
	if err := origin.CheckView(view); err != nil {
		return nil, err
	}
	p := &publication{store: s, view: view, lease: lease}
	err = s.updateMeta(ctx, view, func(tx *bbolt.Tx, d *metaDoc) error {
		d.Attempt++
		p.attempt, p.generation = d.Attempt, d.Generation+1
		return checkLease(tx, lease)
	})
	if err == nil {
		err = p.discard(ctx)
	}
	if err == nil {
		err = s.prune(ctx, view)
	}
	if err != nil {
		return nil, err
	}
	return p, nil
}

// Put implements origin.Publication.
func (p *publication) Put(ctx context.Context, rows []origin.Row) (err error) {
	defer wrap.Error(&err, "put rows of view %s", p.view)
	for part := range batch.Of(rows, writeDocs, writeBytes, func(r origin.Row) int { return len(r.Doc) }) {
		if err := p.update(ctx, p.view, func(_ *bbolt.Tx, b viewBuckets) error { return p.put(b, part) }); err != nil {
			return err
		}
	}
	return nil
}

// put writes versions of the generation under preparation.
func (p *publication) put(b viewBuckets, rows []origin.Row) error {
	for _, r := range rows {
		if err := r.Check(); err != nil {
			return err
		}
		id, err := storableKey(r.ID)
		if err != nil {
			return err
		}
		value, flags := encodeRow(r)
		key := versionKey(id, p.generation)
		if err := b.rows.Put(key, b.place.seal(key, value)); err != nil {
			return err
		}
		if err := b.index.Put(indexKey(id, p.generation), []byte{flags}); err != nil {
			return err
		}
	}
	return nil
}

// update is updateView for the publication, which must be the newest.
func (p *publication) update(ctx context.Context, view string, fn func(*bbolt.Tx, viewBuckets) error) error {
	if p.done {
		return errDone
	}
	return p.store.updateView(ctx, view, func(tx *bbolt.Tx, b viewBuckets) error {
		d, err := p.store.readMeta(tx, view)
		if err == nil {
			err = p.check(tx, d)
		}
		if err != nil {
			return err
		}
		return fn(tx, b)
	})
}

// check returns origin.ErrFenced unless this publication is the newest, under the newest lease.
func (p *publication) check(tx *bbolt.Tx, d metaDoc) error {
	if d.Attempt != p.attempt || d.Generation+1 != p.generation {
		return origin.ErrFenced
	}
	return checkLease(tx, p.lease)
}

// Commit implements origin.Publication. Once the generation is moved on it is
// published, so that trouble with pruning afterwards, or ctx ending there, is no
// error of Commit: the next Begin prunes again.
func (p *publication) Commit(ctx context.Context, rows int, rules string) (meta origin.Meta, err error) {
	defer wrap.Error(&err, "commit view %s", p.view)
	if p.done {
		return origin.Meta{}, errDone
	}
	err = p.store.updateMeta(ctx, p.view, func(tx *bbolt.Tx, d *metaDoc) error {
		if err := p.check(tx, *d); err != nil {
			return err
		}
		if d.Epoch == "" {
			d.Epoch = rand.Text()
		}
		d.Generation, d.Rows, d.Rules = p.generation, rows, rules
		d.Published = metadoc.Next(d.Published, p.store.now())
		meta = d.Meta
		return nil
	})
	if err != nil {
		return origin.Meta{}, err
	}
	p.done = true
	if p.store.prune(ctx, p.view) == nil {
		if pruned, err := p.store.meta(ctx, p.view); err == nil {
			meta.Pruned = pruned.Pruned
		}
	}
	return meta, nil
}

// Abort implements origin.Publication.
func (p *publication) Abort(ctx context.Context) (err error) {
	defer wrap.Error(&err, "abort publication of view %s", p.view)
	if p.done {
		return nil
	}
	err = p.discard(ctx)
	if errors.Is(err, origin.ErrFenced) { // a newer publication has cleared up already
		err = nil
	}
	p.done = err == nil
	return err
}

// discard deletes all versions above the committed generation.
func (p *publication) discard(ctx context.Context) error {
	return p.store.deletePicked(ctx, p.view, p.generation-1, math.MaxUint64, own, p.update)
}
