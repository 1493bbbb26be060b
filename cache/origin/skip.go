package origin

import (
	"fmt"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// DamagedError reports a record that the store no longer has as it was written, and
// whose content it therefore does not hand on.
type DamagedError struct {
	Store      string
	Collection string
	ID         bson.RawValue // zero if that is lost, too
}

// Error names the record as far as it is known.
func (e *DamagedError) Error() string {
	id := "a record"
	if !e.ID.IsZero() {
		id = "record " + e.ID.String()
	}
	return fmt.Sprintf("%s of %s in %s is damaged: import it again", id, e.Collection, e.Store)
}

// Unwrap returns ErrDamagedRecord.
func (e *DamagedError) Unwrap() error { return ErrDamagedRecord }

// Skip is a record of which no row could be made.
type Skip struct {
	ID     string `bson:"id"` // its _id as people read it; empty if it has none
	Reason string `bson:"reason"`
}

// What a Health keeps of records left out, so that a meta stays small and can be
// stored whatever the source holds.
const (
	MaxSkips    = 20  // records
	MaxSkipText = 300 // bytes of each text
)

// SkipText returns text as a Skip holds it: valid UTF-8, since it may quote a record
// that is not, and cut to MaxSkipText bytes between two characters.
func SkipText(s string) string {
	const sign = "…"
	if s = strings.ToValidUTF8(s, "?"); len(s) > MaxSkipText {
		s = strings.ToValidUTF8(s[:MaxSkipText-len(sign)], "") + sign // the cut may go through a character
	}
	return s
}
