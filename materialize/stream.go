package materialize

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"runtime"

	"github.com/cespare/xxhash/v2"
	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/fair"
	"vitrine/cache/origin"
	"vitrine/rules/ejson"
	"vitrine/rules/mark"
	"vitrine/rules/parallel"
	"vitrine/rules/raw"
)

// batchBytes bounds the records in a batch, of which at most three are in memory.
const batchBytes = 4 << 20

// reportEvery is the number of scanned records after which progress is reported, besides each batch.
const reportEvery = 2000

// maxRow is the size of the largest row that is published: MongoDB's limit for a document, minus room for the store's
// own fields.
const maxRow = 16<<20 - 16<<10

// stream reads the source, renders the stale rows and puts them into a publication. It reads the next batch while it
// renders one.
func (b *build) stream(ctx context.Context, pub origin.Publication) error {
	changes, row, err := b.begin(ctx)
	if err != nil {
		return err
	}
	rendered := parallel.Map(b.batches(changes), 1, func(batch []change) ([]change, error) {
		b.render(ctx, batch, row)
		return batch, nil
	})
	for batch, err := range rendered {
		if ctx.Err() != nil { // unread records must not be deleted, and unrendered ones not be skipped
			return context.Cause(ctx)
		}
		if err != nil {
			return err
		}
		b.out.Rendered += len(batch)
		for i := range batch {
			if err := b.mark(ctx, &batch[i]); err != nil {
				return err
			}
		}
		if rows := b.rows(batch); len(rows) > 0 {
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
// ranged over, and the function that renders a row.
func (b *build) begin(ctx context.Context) (changes iter.Seq2[change, error], row RowFunc, err error) {
	if b.rest, b.workers = func() {}, runtime.GOMAXPROCS(0); !b.first { // requests are answered meanwhile
		b.rest, b.workers = fair.Rest(), fair.Spare()
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
	if row = asStored; b.job.Rows != nil {
		b.form = b.job.prepare
		if row, err = b.job.Rows(deps); err != nil {
			return nil, nil, fmt.Errorf("prepare rows of view %s: %w", b.job.View, err)
		}
	}
	return b.changes(ctx, deps, h), row, nil
}

func (b *build) batches(changes iter.Seq2[change, error]) iter.Seq2[[]change, error] {
	return func(yield func([]change, error) bool) {
		var batch []change
		size := 0
		for c, err := range changes {
			if err != nil {
				yield(nil, err)
				return
			}
			batch, size = append(batch, c), size+c.size()
			if len(batch) == b.Batch || size >= batchBytes {
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
		var wanted []change // records that Sift has not yielded yet
		sift := b.Store.Sift(ctx, b.job.Source, func(record bson.Raw) bool {
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
		for record, err := range b.Store.Scan(ctx, b.job.Source) {
			if held := b.mustHold(err); held != nil {
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
				b.skip(c.id(), c.err)
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

// mustHold returns the error that holds a run for a damaged record from which other rows are made, too. If the view
// has no rows yet, or the run is forced, it returns nil. The reason is public (/readyz), so it has neither the
// record's id, which is listed as skipped, nor the store's address.
func (b *build) mustHold(err error) error {
	damaged, ok := errors.AsType[*origin.DamagedError](err)
	if !ok || b.first || b.guard.forced {
		return nil
	}
	return &heldError{"a record of " + damaged.Collection +
		" is damaged, import it again: other rows are made from it, too"}
}

// leftOut reports whether err means a record damaged in the store, and counts it. A row that it has stays.
func (b *build) leftOut(err error) bool {
	damaged, ok := errors.AsType[*origin.DamagedError](err)
	if !ok {
		return false
	}
	b.out.Scanned++
	b.skip(damaged.ID, err)
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
		b.skip(bson.RawValue{}, fmt.Errorf("no _id: %w", err))
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
	if c.hash, c.mark, err = h.sum(&c); err != nil {
		b.skip(id, err)
		c.plain = 0 // so that the next run lists the error, too
	} else if row.live && c.hash == row.hash {
		row.plain = c.plain
	}
	return c, b.full || !row.live || row.hash != c.hash
}

// mark puts a record's mark into its row. It says when the row was first published if the record has no date of
// entry.
func (b *build) mark(ctx context.Context, c *change) (err error) {
	if b.job.Mark == nil || c.row == nil {
		return nil
	}
	if len(c.row)+len(c.mark)+len(mark.Field)+2 > maxRow {
		c.mark = nil // the row stays, so that an error in marks does not remove it from the API
	}
	if c.mark != nil && raw.Get(c.mark, "entered").IsZero() {
		first, err := b.index.firstPublished(ctx, b.Store, b.job.View, c.at, b.Now().Unix())
		if err != nil {
			return err
		}
		if c.mark, err = mark.SetEntered(c.mark, first); err != nil {
			return err
		}
	}
	c.row, c.err = mark.Set(c.row, c.mark)
	return nil
}

// words returns the words of a row, or nil if the job has none, or the row has no room for them.
func (b *build) words(row bson.Raw) []string {
	if b.job.words == nil {
		return nil
	}
	words, size := b.job.words(row), len(row)
	for _, word := range words {
		size += len(word) + 16 // more than an array's element needs
	}
	if size > maxRow {
		return nil
	}
	return words
}

// rows returns the rows to publish for rendered changes, and updates the counts and the index.
func (b *build) rows(changes []change) []origin.Row {
	rows := make([]origin.Row, 0, len(changes))
	for _, c := range changes {
		row := &b.index.rows[c.at]
		switch {
		case c.err != nil:
			b.skip(c.id(), c.err)
			row.plain = 0 // the tally has this version
		case c.row == nil && row.live:
			b.out.Removed++
			row.live = false
			rows = append(rows, origin.Row{ID: c.id()})
		case c.row == nil:
		case b.full && row.live && row.hash == c.hash && row.sum == xxhash.Sum64(c.row):
			// The stored row is up to date.
		default:
			b.out.Changed++
			row.hash, row.plain, row.live = c.hash, c.plain, true
			rows = append(rows, origin.Row{ID: c.id(), Hash: c.hash, Doc: c.row, Words: b.words(c.row)})
		}
	}
	return rows
}

func (b *build) skip(id bson.RawValue, err error) {
	b.out.Skipped++
	if len(b.out.Skips) < origin.MaxSkips {
		b.out.Skips = append(b.out.Skips, Skip{ID: ejson.IDText(id), Err: err})
	}
}
