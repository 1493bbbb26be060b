package materialize

import (
	"context"

	"github.com/cespare/xxhash/v2"

	"vitrine/cache/origin"
	"vitrine/rules/mark"
	"vitrine/rules/raw"
)

// staging turns rendered changes into the rows of the next generation. It updates the index and the counts of its
// run, whose goroutine calls it.
//
// A row beyond maxRow stays in the API as long as it has room for itself: its words go first (Job.wordsOf), and no
// search by words finds it; then its mark, and no list shows it.
type staging struct {
	o     *Options
	job   Job
	full  bool
	index *rowIndex
	out   *Outcome
}

// mark puts a record's mark into its row. It says when the row was first published if the record has no date of
// entry.
func (s *staging) mark(ctx context.Context, c *change) (err error) {
	if s.job.Mark == nil || c.row == nil {
		return nil
	}
	if len(c.row)+len(c.mark)+len(mark.Field)+2 > maxRow {
		c.mark = nil // the row stays, so that an error in marks does not remove it from the API
	}
	if c.mark != nil && raw.Get(c.mark, "entered").IsZero() {
		first, err := s.index.firstPublished(ctx, s.o.Store, s.job.View, c.at, s.o.Now().Unix())
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

// rows returns the rows to publish for rendered changes, and updates the counts and the index.
func (s *staging) rows(changes []change) []origin.Row {
	rows := make([]origin.Row, 0, len(changes))
	for _, c := range changes {
		row := &s.index.rows[c.at]
		switch {
		case c.err != nil:
			s.out.skip(c.id(), c.err)
			row.plain = 0 // the tally has this version
		case c.row == nil && row.live:
			s.out.Removed++
			row.live = false
			rows = append(rows, origin.Row{ID: c.id()})
		case c.row == nil:
		case s.full && row.live && row.hash == c.hash && row.sum == xxhash.Sum64(c.row):
			// The stored row is up to date.
		default:
			s.out.Changed++
			row.hash, row.plain, row.live = c.hash, c.plain, true
			rows = append(rows, origin.Row{ID: c.id(), Hash: c.hash, Doc: c.row, Words: s.job.wordsOf(c.row)})
		}
	}
	return rows
}
