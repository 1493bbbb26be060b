package materialize

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"runtime"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/fair"
	"vitrine/cache/origin"
	"vitrine/rules/parallel"
	"vitrine/rules/records"
)

// batchBytes bounds the records in a batch, of which at most three are in memory.
const batchBytes = 4 << 20

// reportEvery is the number of scanned records after which progress is reported, besides each batch.
const reportEvery = 2000

// stream reads the source, renders the stale rows and puts them into a publication. It reads the next batch while it
// renders one.
func (b *build) stream(ctx context.Context, pub origin.Publication) error {
	changes, r, err := b.begin(ctx)
	if err != nil {
		return err
	}
	rendered := parallel.Map(batches(changes, b.o.Batch), 1, func(batch []change) ([]change, error) {
		r.render(ctx, batch)
		return batch, nil
	})
	stage := &staging{o: b.o, job: b.job, full: b.full, index: b.index, out: &b.out}
	for batch, err := range rendered {
		if ctx.Err() != nil { // unread records must not be deleted, and unrendered ones not be skipped
			return context.Cause(ctx)
		}
		if err != nil {
			return err
		}
		b.out.Rendered += len(batch)
		for i := range batch {
			if err := stage.mark(ctx, &batch[i]); err != nil {
				return err
			}
		}
		if rows := stage.rows(batch); len(rows) > 0 {
			if err := pub.Put(ctx, rows); err != nil {
				return err
			}
		}
		b.reportProgress(false)
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return nil
}

// begin reads what the rows are made from besides their records. It returns the changes, which are read as they are
// ranged over, and what renders them.
func (b *build) begin(ctx context.Context) (changes iter.Seq2[change, error], r *renderer, err error) {
	r = &renderer{workers: runtime.GOMAXPROCS(0), row: asStored}
	if b.rest = func() {}; !b.first { // requests are answered meanwhile
		b.rest, r.workers = fair.Rest(), fair.Spare()
	}
	deps, err := b.dependencies(ctx)
	if err != nil {
		return nil, nil, err
	}
	seed := b.fingerprint
	if b.job.Summarize != nil {
		seed = "" // rows of a summary contain all their inputs, so equal rows are up to date
	}
	// The hasher reads options before the rows do: if they change in between, the next run makes the rows again.
	h := newHasher(seed, b.job, deps)
	b.form = func(row bson.Raw) bson.Raw { return row } // a summary is made from records in the job's form
	if b.job.Rows != nil {
		b.form = b.job.prepare
		if r.row, err = b.job.Rows(deps); err != nil {
			return nil, nil, fmt.Errorf("prepare rows of view %s: %w", b.job.View, err)
		}
	}
	r.form, r.rest, r.finish = b.form, b.rest, h.finish
	b.readCodes(deps)
	return b.changes(ctx, deps, h), r, nil
}

// batches groups changes into batches of at most the given number, and ends one that has batchBytes. The number alone
// would not bound the memory: a record may have 16 MB.
func batches(changes iter.Seq2[change, error], most int) iter.Seq2[[]change, error] {
	return func(yield func([]change, error) bool) {
		var batch []change
		size := 0
		for c, err := range changes {
			if err != nil {
				yield(nil, err)
				return
			}
			batch, size = append(batch, c), size+c.size()
			if len(batch) == most || size >= batchBytes {
				if !yield(batch, nil) {
					return
				}
				batch, size = nil, 0
			}
		}
		if len(batch) > 0 {
			yield(batch, nil)
		}
	}
}

// changes yields the records whose rows are stale.
func (b *build) changes(ctx context.Context, deps Deps, h *hasher) iter.Seq2[change, error] {
	switch {
	case b.job.Summarize != nil:
		return b.summarize(ctx, deps, h)
	case b.onlyChanges(h):
		return b.readChanges(ctx, h)
	}
	return b.readAll(ctx, h)
}

// readAll is changes for a run that reads every record.
func (b *build) readAll(ctx context.Context, h *hasher) iter.Seq2[change, error] {
	return func(yield func(change, error) bool) {
		// Sift calls the function with the store's own memory, and copies only the records that it yields. The two
		// keep their order, but the store may look at several records before it yields the first: hence the queue.
		var wanted []change // records that Sift has not yielded yet
		sift := b.o.Store.Sift(ctx, b.job.Source, func(record bson.Raw) bool {
			if b.out.Scanned++; b.out.Scanned%reportEvery == 0 {
				b.reportProgress(false)
			}
			c, stale := b.compare(record, h)
			if stale {
				wanted = append(wanted, c)
			}
			return stale
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
			if next.own(record); !yield(next, nil) {
				return
			}
		}
	}
}

// summarize is changes for a job whose rows summarise all records.
func (b *build) summarize(ctx context.Context, deps Deps, h *hasher) iter.Seq2[change, error] {
	return func(yield func(change, error) bool) {
		rows, err := b.summaryRows(ctx, deps)
		if err != nil {
			yield(change{}, err)
			return
		}
		for row := range rows {
			if c, stale := b.compare(row, h); stale && !yield(c, nil) {
				return
			}
		}
	}
}

// records yields the readable records for a summary, and skips others. It also puts them into the source's tally.
func (b *build) records(ctx context.Context, source *rowIndex) iter.Seq2[bson.Raw, error] {
	return func(yield func(bson.Raw, error) bool) {
		for record, err := range b.o.Store.Scan(ctx, b.job.Source) {
			if held := b.guard.damaged(err, b.first); held != nil {
				b.leftOut(err) // so that the view's health names the record
				err = held
			} else if b.leftOut(err) {
				continue
			}
			if err != nil {
				yield(nil, fmt.Errorf("scan %s: %w", b.job.Source, err))
				return
			}
			b.rest()
			b.out.Scanned++
			c := change{record: record}
			if c.check(); c.err != nil {
				b.out.skip(c.id(), c.err)
				continue
			}
			c.prepare(b.job.prepare)
			c.at = source.place(c.id())
			if source.put(&c); !yield(c.prepared, nil) {
				return
			}
		}
	}
}

// leftOut reports whether err means a record damaged in the store, and counts it. A row that it has stays.
func (b *build) leftOut(err error) bool {
	damaged, ok := errors.AsType[*origin.DamagedError](err)
	if !ok {
		return false
	}
	b.out.Scanned++
	b.out.skip(damaged.ID, err)
	b.index.tally = nil
	if damaged.ID.IsZero() {
		b.index.keepAll = true
	} else {
		b.index.meet(damaged.ID)
	}
	return true
}

// compare reports whether the row of a record is stale. If a scan yields a record twice, the next run sees the second
// version. The record may be the store's memory: the change refers to it until its owner calls own.
func (b *build) compare(record bson.Raw, h *hasher) (c change, stale bool) {
	c.record = record
	id, err := record.LookupErr("_id")
	if err != nil {
		b.out.skip(bson.RawValue{}, fmt.Errorf("no _id: %w", err))
		b.index.tally = nil
		return c, false
	}
	c.plain = h.plain(record)
	var again bool
	c.at, again = b.index.meet(id)
	row := &b.index.rows[c.at]
	if again || c.plain != 0 && c.plain == row.plain && row.live && !b.full {
		return c, false
	}
	if b.index.tally != nil { // otherwise only stale records are checked
		c.check()
	}
	if h.mark != nil || b.index.tally != nil { // otherwise only stale records are prepared, on several processors
		c.prepare(b.form)
	}
	b.index.put(&c)
	c.hash, c.mark, err = h.sum(&c)
	if h.mark != nil && c.err == nil {
		b.index.survey(&c)
	}
	if err != nil {
		b.out.skip(id, err)
		c.plain = 0 // so that the next run lists the error, too
	} else if row.live && c.hash == row.hash {
		row.plain = c.plain
	}
	return c, b.full || !row.live || row.hash != c.hash
}

// readCodes sets the codes that mean something, and prepares the index for their kinds.
func (b *build) readCodes(deps Deps) {
	if b.codes = (records.Codes{}); b.job.Codes != nil {
		b.codes = b.job.Codes(deps)
	}
	b.index.kinds.Expect(b.codes)
}

// lacks returns what the records of the run lack, or nil if its job makes no marks.
func (b *build) lacks() *records.View {
	if b.job.Mark == nil {
		return nil
	}
	v := b.index.kinds.Report(b.job.View, b.job.Source, b.index.facts(), b.codes)
	return &v
}
