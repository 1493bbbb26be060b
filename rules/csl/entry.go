package csl

import (
	"html"
	"strconv"
	"strings"
)

// NumberSlot stands in an entry for its number in the list, if the style numbers entries.
const NumberSlot = "\x01"

// SuffixSlot stands in an entry where the letter goes that tells apart entries with the same authors and year.
const SuffixSlot = "\x02"

// Marks around a part of an entry that is dropped if the year's suffix in it is empty. Fill removes them.
const (
	slotOpen  = "\x03"
	slotClose = "\x04"
)

// An Entry is a rendered entry of a bibliography.
type Entry struct {
	// HTML has the inline elements i, b, sup, sub, span and a, and div with a class csl-left-margin,
	// csl-right-inline, csl-block or csl-indent for parts with a display of their own. Each person is a <span
	// data-name="author 2">, with the variable and an index from 0, and a title a <span data-title>, so that lists
	// can link and mark them.
	HTML string

	// Key is equal for entries that need suffixes of their years. It is "" if the style has no such suffixes.
	Key string
}

// Fill puts the number of an entry and the suffix of its year into its HTML.
func (e Entry) Fill(number int, suffix string) string {
	s := e.HTML
	if !strings.ContainsAny(s, NumberSlot+SuffixSlot+slotOpen) {
		return s
	}
	for suffix == "" {
		start, end := optionalPart(s)
		if end < 0 {
			break
		}
		s = s[:start] + s[end:]
	}
	return strings.NewReplacer(NumberSlot, strconv.Itoa(number), SuffixSlot, html.EscapeString(suffix), slotOpen, "",
		slotClose, "").Replace(s)
}

// optionalPart returns the bounds of the innermost part that is dropped without a suffix, or -1.
func optionalPart(s string) (start, end int) {
	end = strings.Index(s, slotClose)
	if end < 0 {
		return -1, -1
	}
	if start = strings.LastIndex(s[:end], slotOpen); start < 0 {
		return -1, -1
	}
	return start, end + len(slotClose)
}

// blocks puts spaces where blocks meet.
var blocks = strings.NewReplacer("</div>", "</div> ", "<div", " <div")

// Text returns the entry as plain text with the number and the suffix in it.
func (e Entry) Text(number int, suffix string) string {
	var s strings.Builder
	rest := blocks.Replace(e.Fill(number, suffix))
	for {
		i := strings.IndexByte(rest, '<')
		if i < 0 {
			s.WriteString(rest)
			break
		}
		s.WriteString(rest[:i])
		rest = rest[i+strings.IndexByte(rest[i:], '>')+1:]
	}
	return strings.TrimSpace(strings.ReplaceAll(html.UnescapeString(s.String()), "  ", " "))
}
