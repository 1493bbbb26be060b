package origin

import (
	"strings"
	"unicode/utf8"
)

// Skip is a record of which no row could be made.
type Skip struct {
	ID     string // its _id as people read it; empty if it has none
	Reason string
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
	if len(s) > MaxSkipText {
		cut := MaxSkipText - len(sign)
		for cut > 0 && !utf8.RuneStart(s[cut]) {
			cut--
		}
		s = s[:cut] + sign
	}
	return strings.ToValidUTF8(s, "?")
}
