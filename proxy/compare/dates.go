package compare

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// day matches a date as citations have it: with day and month, with the month, or the year alone.
var day = regexp.MustCompile(`\b(?:(\d\d)\.)?(?:(\d\d)\.)?(\d{4})\b`)

// dayUnknown: where the old side takes a day or month that a record does not have for the first, the new side leaves
// it out. The rest of the words is the same, and the record has a date of just this year and month without a day.
func dayUnknown(d Difference) bool {
	if d.Kind != Words && d.Kind != FieldChanged || len(d.Old) > mostShown || len(d.New) > mostShown ||
		day.ReplaceAllString(d.Old, "0") != day.ReplaceAllString(d.New, "0") {
		return false
	}
	old, new := day.FindAllString(d.Old, -1), day.FindAllString(d.New, -1)
	var lacking []partial
	for i, was := range old {
		if was == new[i] {
			continue
		}
		rest, first := strings.CutPrefix(was, "01.")
		year, january := strings.CutPrefix(rest, "01.")
		switch {
		case first && rest == new[i] && len(rest) == len("01.2006"):
			month, _ := strconv.Atoi(rest[:2]) // two digits
			year, _ := strconv.Atoi(rest[3:])
			lacking = append(lacking, partial{year, month})
		case first && january && year == new[i] && len(year) == len("2006"):
			year, _ := strconv.Atoi(year)
			lacking = append(lacking, partial{year, 0})
		default:
			return false
		}
	}
	if len(lacking) == 0 || d.about == nil {
		return false
	}
	have := d.about.partialDates(d.record)
	return !slices.ContainsFunc(lacking, func(p partial) bool { return !slices.Contains(have, p) })
}

// skew is how far the clocks of the sides may be ahead of this one.
const skew = time.Minute

// instant: both are the time of the answer's data, which differs between any two servers: as_of in JSON, and the time
// in the foot of a page. It is in the past, of both sides. The words in a page are the date of its attribute.
func instant(d Difference) bool {
	if d.about == nil || !strings.HasPrefix(d.about.asked().Target, "/lists") {
		return false
	}
	old, new := d.about.both()
	times := d.about.instants()
	switch {
	case d.Kind == FieldChanged && d.Path == "$.as_of":
		return old.asOf(d.Old) && new.asOf(d.New)
	case d.Kind == Attribute && strings.HasSuffix(d.Path, "footer>p>time@datetime"):
		return old.asOf(d.Old) && new.asOf(d.New)
	case d.Kind == Words && strings.HasSuffix(d.Path, "footer>p>time"):
		return dateOf(d.Old, times[0]) && dateOf(d.New, times[1])
	case d.Kind == Text:
		return old.dated(d.Old) && new.dated(d.New)
	}
	return false
}

// dating matches a line of a feed that dates an entry which has no date itself.
var dating = regexp.MustCompile(`^\s*<(updated|published)>([^<]*)</(updated|published)>$`)

// dated reports whether a line of a feed dates an entry by the time of the answer's data. It has to be the very
// second at which the answer was modified: most entries have a date of their own.
func (a Answer) dated(line string) bool {
	found := dating.FindStringSubmatch(line)
	if found == nil || found[1] != found[3] {
		return false
	}
	at, err := time.Parse(time.RFC3339, found[2])
	return err == nil && at.Equal(a.Modified)
}

// asOf reports whether a text is an instant at which a server may have read what is in an answer: not after the
// answer, and not after the second at which it says that it was modified: it may depend on more data than the text
// tells.
func (a Answer) asOf(text string) bool {
	at, err := time.Parse(time.RFC3339Nano, text)
	switch {
	case err != nil:
		return false
	case !a.Modified.IsZero():
		return !at.Truncate(time.Second).After(a.Modified)
	}
	return !a.Received.IsZero() && at.Before(a.Received.Add(skew))
}

// months have the names of months in pages.
var months = [12][2]string{{"January", "Januar"}, {"February", "Februar"}, {"March", "März"}, {"April", "April"},
	{"May", "Mai"}, {"June", "Juni"}, {"July", "Juli"}, {"August", "August"}, {"September", "September"},
	{"October", "Oktober"}, {"November", "November"}, {"December", "Dezember"}}

// dateOf reports whether words of a page are among those of an instant's date, which may be in another zone than UTC.
// Only the words that differ are there: the day, or the day and the month.
func dateOf(words, instant string) bool {
	at, err := time.Parse(time.RFC3339Nano, instant)
	if err != nil || words == "" {
		return false
	}
	month := months[at.Month()-1]
	date := []string{strconv.Itoa(at.Day()), strconv.Itoa(at.Day()) + ".", month[0], month[1],
		strconv.Itoa(at.Year())}
	for word := range strings.FieldsSeq(words) {
		if !slices.Contains(date, word) {
			return false
		}
	}
	return true
}
