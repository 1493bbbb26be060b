package origin

import (
	"fmt"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// DamagedError reports a damaged record, whose content the store does not return.
type DamagedError struct {
	Store      string
	Collection string
	ID         bson.RawValue // zero if the id is damaged, too
}

// Error names the record if its _id is known.
func (e *DamagedError) Error() string {
	id := "a record"
	if !e.ID.IsZero() {
		id = "record " + e.ID.String()
	}
	return fmt.Sprintf("%s of %s in %s is damaged: import it again", id, e.Collection, e.Store)
}

// Unwrap returns ErrDamagedRecord.
func (e *DamagedError) Unwrap() error { return ErrDamagedRecord }

// Skip is a record that gave no row because of an error.
type Skip struct {
	ID     string `bson:"id"` // the record's _id as text; empty if it has none
	Reason string `bson:"reason"`
}

// Limits on Health.Skips, so that a meta stays small.
const (
	MaxSkips    = 20  // records
	MaxSkipText = 300 // bytes of each text
)

// SkipText returns a text as a Skip holds it: valid UTF-8, which a quoted record may not be, cut to MaxSkipText
// bytes.
func SkipText(s string) string {
	const sign = "…"
	if s = strings.ToValidUTF8(s, "?"); len(s) > MaxSkipText {
		s = strings.ToValidUTF8(s[:MaxSkipText-len(sign)], "") + sign // the cut may split a character
	}
	return s
}

// day is how long Most remembers a count.
const day = 24 * time.Hour

// Count is the number of a view's rows, or of the records of a collection that the view reads, for the next run.
type Count struct {
	Collection string `bson:"collection"` // empty for the view's own rows
	Records    int    `bson:"records"`    // count of the last run, whether or not it published
	// counts of runs that published, in descending order; the last is never dropped
	Peaks []Peak `bson:"peaks,omitempty"`
}

// Peak is the highest count of an hour.
type Peak struct {
	Hour    time.Time `bson:"hour"` // by the clock of the instance that ran
	Records int       `bson:"records"`
}

// Most returns the highest count of the day before now, or the last one, however long ago; 0 if there is none.
func (c Count) Most(now time.Time) int {
	most := 0
	for i, p := range c.Peaks {
		if i == len(c.Peaks)-1 || now.Sub(p.Hour) < day+time.Hour {
			most = max(most, p.Records)
		}
	}
	return most
}

// Published returns the count after a run that published so many records at now. A forced run forgets earlier peaks.
// Hours in the future, by this clock, count as the current one.
func (c Count) Published(records int, now time.Time, forced bool) Count {
	c.Records = records
	hour := now.Truncate(time.Hour).UTC()
	var peaks []Peak
	for _, p := range c.Peaks {
		if p.Hour.After(hour) {
			p.Hour = hour
		}
		if !forced && p.Records > records && now.Sub(p.Hour) < day+time.Hour {
			peaks = append(peaks, p)
		}
	}
	if n := len(peaks); n == 0 || peaks[n-1].Hour.Before(hour) {
		peaks = append(peaks, Peak{hour, records})
	}
	c.Peaks = peaks
	return c
}
