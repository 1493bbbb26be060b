package materialize

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"

	"github.com/cespare/xxhash/v2"
	"go.mongodb.org/mongo-driver/v2/bson"
	"golang.org/x/sync/errgroup"

	"vitrine/cache/origin"
	"vitrine/rules/raw"
)

// batchBytes bounds the records of a batch beside their number: at most three
// batches are in memory at once, one being filled, one waiting, one being rendered.
const batchBytes = 4 << 20

// reportEvery is after how many records a scan that finds nothing to do lets
// progress be reported.
const reportEvery = 2000

// maxRow is the longest row that is published: MongoDB's limit for a document, less
// room for what the store keeps beside it.
const maxRow = 16<<20 - 16<<10

// change is one record on its way to becoming a row.
type change struct {
	id     bson.RawValue
	record bson.Raw
	hash   uint64
	plain  uint64    // see published
	at     int       // the record's place in the index
	old    published // the row published for the record
	was    bool      // whether there is one
	fresh  bool      // the row is up to date: the change is none

	row bson.Raw // nil: the record has no row
	err error    // it could not be rendered
}

// batch is a group of changes, and how many records had been read when it was sent.
// It may hold no changes, to report just that.
type batch struct {
	changes []change
	scanned int
}

// stream reads the source, renders what is not published yet and puts it aside. It
// returns the fingerprint of what the rows are made from besides their records. One
// goroutine reads and hashes, and alone uses index and counts.Scanned; another
// renders and puts, and alone uses the other counts. Both have ended on return.
func (b *build) stream(ctx context.Context, pub origin.Publication) (string, error) {
	deps, fingerprint, err := readDeps(ctx, b.store, b.job, func(id bson.RawValue, err error) error {
		b.skips.add(id, err)
		return b.mustHold(err)
	})
	if err != nil {
		return "", err
	}
	for _, name := range slices.Sorted(maps.Keys(deps)) {
		if err := b.guard.collection(name, len(deps[name])); err != nil {
			return "", err
		}
	}
	seed := fingerprint
	if b.job.Summarize != nil {
		seed = "" // a summary's rows hold all they were made from: equal rows are up to date
	}
	// The hasher takes options before the rows do: if they change in between, rows are newer
	// than their hashes, and the next run makes them again.
	h := newHasher(seed, b.job, deps)
	row := asStored
	if b.job.Rows != nil {
		made, err := b.job.Rows(deps)
		if err != nil {
			return "", fmt.Errorf("prepare rows of view %s: %w", b.job.View, err)
		}
		row = func(ctx context.Context, record bson.Raw) (bson.Raw, error) { return made(ctx, b.job.seen(record)) }
	}
	batches := make(chan batch, 1)
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error {
		defer close(batches)
		return guarded(func() error { return b.read(ctx, b.changes(ctx, deps, h), batches) })
	})
	group.Go(func() error {
		return guarded(func() error { return b.stage(ctx, pub, row, batches) })
	})
	return fingerprint, group.Wait()
}

// changes yields the records whose rows are not up to date, and now and then one whose
// row is, so that progress can be reported.
func (b *build) changes(ctx context.Context, deps Deps, h *hasher) iter.Seq2[change, error] {
	if b.job.Summarize != nil {
		return b.summarized(ctx, deps, h)
	}
	return func(yield func(change, error) bool) {
		var wanted []change // what is on its way
		sift := b.store.Sift(ctx, b.job.Source, func(record bson.Raw) bool {
			b.counts.Scanned++
			c := b.compare(record, h)
			if c.fresh && b.counts.Scanned%reportEvery != 0 {
				return false
			}
			wanted = append(wanted, c)
			return true
		})
		for record, err := range sift {
			if b.leftOut(err) {
				continue
			}
			if err != nil {
				yield(change{}, fmt.Errorf("scan %s: %w", b.job.Source, err))
				return
			}
			next := wanted[0]
			wanted = wanted[1:]
			if !yield(next.of(record), nil) {
				return
			}
		}
	}
}

// summarized is changes of a job whose rows sum up all records.
func (b *build) summarized(ctx context.Context, deps Deps, h *hasher) iter.Seq2[change, error] {
	scan := func(yield func(bson.Raw, error) bool) {
		for record, err := range b.store.Scan(ctx, b.job.Source) {
			if held := b.mustHold(err); held != nil {
				err = held
			} else if b.leftOut(err) {
				continue
			}
			if err == nil {
				b.counts.Scanned++
			} else {
				err = fmt.Errorf("scan %s: %w", b.job.Source, err)
			}
			if !yield(record, err) {
				return
			}
		}
	}
	return func(yield func(change, error) bool) {
		for row, err := range b.job.Summarize(ctx, Input{Records: b.readable(scan), Deps: deps, Guard: b.guard.collection, Skip: b.skips.add}) {
			if err != nil {
				yield(change{}, err)
				return
			}
			if !yield(b.compare(row, h).of(row), nil) {
				return
			}
		}
	}
}

// mustHold returns the error of a run that is held because of a damaged record which more
// rows than its own are made from: rendered without it they would be wrong. A view that
// has no rows yet, or is forced, goes without it.
func (b *build) mustHold(err error) error {
	if b.first || b.guard.forced || !errors.Is(err, origin.ErrDamagedRecord) {
		return nil
	}
	return &heldError{err.Error() + ": other rows are made from it, too"}
}

// leftOut counts a record that the store no longer has as it was written, and reports
// whether that is the error. If it has a row, that one stays.
func (b *build) leftOut(err error) bool {
	damaged := (*origin.DamagedError)(nil)
	if !errors.As(err, &damaged) {
		return false
	}
	b.counts.Scanned++
	b.skips.add(damaged.ID, err)
	if damaged.ID.IsZero() {
		b.index.keepAll = true
	} else {
		b.index.meet(damaged.ID)
	}
	return true
}

// readable passes on the records that can be read, all the way down, and skips others.
func (b *build) readable(records iter.Seq2[bson.Raw, error]) iter.Seq2[bson.Raw, error] {
	return func(yield func(bson.Raw, error) bool) {
		for record, err := range records {
			if err == nil {
				if bad := raw.Check(record); bad != nil {
					b.skips.add(record.Lookup("_id"), fmt.Errorf("malformed record: %w", bad))
					continue
				}
				record = b.job.seen(record)
			}
			if !yield(record, err) {
				return
			}
		}
	}
}

// read sends changes on in batches.
func (b *build) read(ctx context.Context, changes iter.Seq2[change, error], batches chan<- batch) error {
	var next batch
	size, reported := 0, 0
	send := func() error {
		next.scanned = b.counts.Scanned
		select {
		case batches <- next:
			next, size, reported = batch{}, 0, b.counts.Scanned
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	for c, err := range changes {
		if err != nil {
			return err
		}
		if !c.fresh {
			next.changes = append(next.changes, c)
			size += len(c.record)
		}
		if len(next.changes) == b.batch || size >= batchBytes || b.counts.Scanned-reported >= reportEvery {
			if err := send(); err != nil {
				return err
			}
		}
	}
	// Whatever is missing after a scan counts as deleted, so a scan that a
	// stopping run cut short must not pass for a complete one.
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return send()
}

// compare finds out whether the row of a record is up to date. A record that a scan
// yields twice is taken as it came first: what it brought the second time is a change
// that this run no longer saw, and the next one does. The record may be the store's
// memory, and none of it is kept.
func (b *build) compare(record bson.Raw, h *hasher) change {
	id, err := record.LookupErr("_id")
	if err != nil {
		b.skips.add(bson.RawValue{}, fmt.Errorf("no _id: %w", err))
		return change{fresh: true}
	}
	c := change{plain: h.plain(record)}
	var again bool
	c.at, again = b.index.meet(id)
	c.old = b.index.rows[c.at]
	c.was = c.old.live
	if c.plain != 0 && c.plain == c.old.plain {
		c.hash = c.old.hash
	} else if c.hash, err = h.sum(record); err != nil {
		b.skips.add(id, err)
		c.plain = 0 // the next run lists the error, too
	} else if c.was && c.hash == c.old.hash {
		b.index.rows[c.at].plain = c.plain
	}
	c.fresh = again || c.was && !b.full && c.old.hash == c.hash
	return c
}

// of returns the change with the record that it is of.
func (c change) of(record bson.Raw) change {
	c.record = record
	c.id, _ = record.LookupErr("_id") // of what has none there is no change
	return c
}

// stage renders batches and puts their rows aside.
func (b *build) stage(ctx context.Context, pub origin.Publication, row RowFunc, batches <-chan batch) error {
	for next := range batches {
		b.render(ctx, next.changes, row)
		if ctx.Err() != nil {
			return context.Cause(ctx) // what was not rendered is no row left out
		}
		b.counts.Rendered += len(next.changes)
		rows := b.rows(next.changes)
		if len(rows) > 0 {
			if err := pub.Put(ctx, rows); err != nil {
				return fmt.Errorf("put rows of view %s: %w", b.job.View, err)
			}
		}
		b.reportProgress(Progress{Scanned: next.scanned, Changed: b.counts.Changed})
	}
	return nil
}

// rows turns rendered changes into what is to be published of them, and counts it.
func (b *build) rows(changes []change) []origin.Row {
	rows := make([]origin.Row, 0, len(changes))
	for _, c := range changes {
		switch {
		case c.err != nil:
			b.skips.add(c.id, c.err)
		case c.row == nil && c.was:
			b.left++
			b.updates = append(b.updates, rowUpdate{at: c.at})
			rows = append(rows, origin.Row{ID: c.id})
		case c.row == nil:
		case b.full && c.was && c.old.hash == c.hash && c.old.sum == xxhash.Sum64(c.row):
			// The stored row is what it should be.
		default:
			if !c.was {
				b.added++
			}
			b.counts.Changed++
			b.updates = append(b.updates, rowUpdate{at: c.at, hash: c.hash, plain: c.plain, live: true})
			rows = append(rows, origin.Row{ID: c.id, Hash: c.hash, Doc: c.row})
		}
	}
	return rows
}
