package materialize

import (
	"fmt"
	"strings"
	"time"

	"vitrine/cache/origin"
)

// Result is how a run ended.
type Result string

// The ways a run can end.
const (
	Published Result = "published" // a new generation was committed
	Unchanged Result = "unchanged" // nothing to publish
	Held      Result = "held"      // would have removed too many rows, or made them without a damaged record; nothing was published
	Failed    Result = "error"     // see Outcome.Err; nothing was published
	Stopped   Result = "stopped"   // the context ended or the lease was lost; nothing was published
)

// Outcome is one run of one job, as reported to logs, metrics and operators.
type Outcome struct {
	View    string
	Full    bool // every record was rendered and compared with its stored row
	Result  Result
	Meta    origin.Meta // of the view after the run; zero if the store did not answer
	Err     error       // for Held, Failed and Stopped
	Skips   []Skip      // the first records that were left out, at most origin.MaxSkips
	Missing int         // published rows that the store had lost, or had damaged
	Started time.Time
	Took    time.Duration
	Counts
}

// Counts are the figures of a run.
type Counts struct {
	Scanned  int // source records read
	Rendered int // records that were given to the job's RowFunc
	Changed  int // rows published, new ones included
	Removed  int // rows removed
	Skipped  int // records left out because no row could be made of them
}

// Skip is a record of which no row could be made. If it had one, that one stays.
type Skip struct {
	ID  string
	Err error
}

// maxNamed bounds the records that a log line names.
const maxNamed = 3

// health is what the store remembers of the run. Records left out are listed even
// if the run went well: its status stays "ok", since the view is good.
func (o Outcome) health() origin.Health {
	h := origin.Health{
		Status:  origin.HealthOK,
		Started: o.Started,
		Took:    o.Took,
		Scanned: o.Scanned,
		Changed: o.Changed,
		Removed: o.Removed,
		Skipped: o.Skipped,
	}
	for _, s := range o.Skips {
		h.Skips = append(h.Skips, s.stored())
	}
	switch o.Result {
	case Held:
		h.Status, h.Error = origin.HealthHeld, o.Err.Error()
	case Failed:
		h.Status, h.Error = origin.HealthError, o.Err.Error()
	}
	return h
}

// stored is what the store remembers of a skip.
func (s Skip) stored() origin.Skip {
	return origin.Skip{ID: origin.SkipText(s.ID), Reason: origin.SkipText(s.Err.Error())}
}

// skipped says which records were left out, and why.
func (o Outcome) skipped() string {
	var named []string
	for _, s := range o.Skips[:min(len(o.Skips), maxNamed)] {
		short := s.stored()
		named = append(named, fmt.Sprintf("%s (%s)", short.ID, short.Reason))
	}
	if o.Skipped > maxNamed {
		named = append(named, "…")
	}
	return fmt.Sprintf("%d left out: %s", o.Skipped, strings.Join(named, ", "))
}

// Progress is how far a run has come.
type Progress struct {
	View    string
	Scanned int  // source records read so far
	Total   int  // rows published before the run, the best guess of what there is to scan; 0: unknown
	Changed int  // rows put aside so far
	Done    bool // the run is over
}
