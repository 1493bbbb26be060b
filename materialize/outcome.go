package materialize

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/origin"
	"vitrine/rules/ejson"
	"vitrine/rules/records"
)

// Result is the result of a run.
type Result string

// The possible results of a run.
const (
	Published Result = "published" // a new generation was committed
	Unchanged Result = "unchanged" // there was nothing to publish
	// the run would have removed too many rows, or made rows without a damaged record; nothing was published
	Held    Result = "held"
	Failed  Result = "error"   // see Outcome.Err; nothing was published
	Stopped Result = "stopped" // the context ended or the lease was lost; nothing was published
)

// Outcome describes one run of one job, for logs, metrics and operators.
type Outcome struct {
	View    string
	Full    bool // every record was rendered and compared with its stored row
	Result  Result
	Meta    origin.Meta // meta of the view after the run; zero if the store did not answer
	Err     error       // for Held, Failed and Stopped
	Skips   []Skip      // the first skipped records, at most origin.MaxSkips
	Unread  bool        // the run ended before it had read its source
	Missing int         // published rows that the store had lost or damaged
	Drifted bool        // rows of a summary were not those of a whole reading; a bug
	Started time.Time
	Read    time.Time // when the last run began that read all records: this or an earlier one; zero if it failed
	Took    time.Duration
	Counts
	Records *records.View // what the records lack; nil if the run does not say
	// Unrecorded means that the run's health was not written to the store. Only this Outcome reports how the run
	// ended.
	Unrecorded bool
}

// Counts are the figures of a run.
type Counts struct {
	Scanned  int // source records; the run may have read only those that have changed
	Rendered int // records passed to the job's RowFunc
	Changed  int // rows published, including new ones
	Removed  int // rows removed
	Skipped  int // records left out because they could not become a row
}

// Skip is a record that could not become a row. If it has a published row, that row stays.
type Skip struct {
	ID  string
	Err error
}

// maxNamed is how many skipped records a log line names. The view's health lists origin.MaxSkips of them.
const maxNamed = 3

// fenced reports whether the store refused a write of the run under its lease.
func (o Outcome) fenced() bool { return errors.Is(o.Err, origin.ErrFenced) }

// health returns what the store keeps. Skipped records are listed beside status "ok", because the view is good.
func (o Outcome) health() origin.Health {
	h := origin.Health{
		Status: origin.HealthOK, Started: o.Started, Took: o.Took, Unread: o.Unread,
		Scanned: o.Scanned, Changed: o.Changed, Removed: o.Removed, Skipped: o.Skipped, Findings: o.Findings(),
	}
	for _, s := range o.Skips {
		h.Skips = append(h.Skips, origin.Skip{ID: s.ID, Reason: s.Err.Error()})
	}
	switch o.Result {
	case Held:
		h.Status, h.Error = origin.HealthHeld, o.Err.Error()
	case Failed:
		h.Status, h.Error = origin.HealthError, o.Err.Error()
	}
	return h
}

// skip counts a record as left out, and lists it if it is among the first.
func (o *Outcome) skip(id bson.RawValue, err error) {
	o.Skipped++
	if len(o.Skips) < origin.MaxSkips {
		o.Skips = append(o.Skips, Skip{ID: ejson.IDText(id), Err: err})
	}
}

// skipText returns a text with the skipped records and reasons.
func (o Outcome) skipText() string {
	var named []string
	for _, s := range o.Skips[:min(len(o.Skips), maxNamed)] {
		named = append(named, fmt.Sprintf("%s (%s)", origin.SkipText(s.ID), origin.SkipText(s.Err.Error())))
	}
	if o.Skipped > maxNamed {
		named = append(named, "…")
	}
	return fmt.Sprintf("%d left out: %s", o.Skipped, strings.Join(named, ", "))
}

// Progress is the progress of a run.
type Progress struct {
	View    string
	Scanned int  // source records read so far
	Total   int  // rows published before the run, as an estimate of the records to scan; 0 if unknown
	Changed int  // rows staged so far
	Done    bool // the run is over
}

// Findings returns what an operator should know of the records that the run has read, one line for each; none if it
// has not read them.
func (o Outcome) Findings() []string {
	if o.Records == nil {
		return nil
	}
	return o.Records.Lines()
}
