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

// staleness is how much older the new side's data may be than both the old side's and its own answer, and a view than
// the newest of its answer. Servers that are compared were started, or have read a change, within days.
const staleness = 7 * 24 * time.Hour

var (
	// shown matches the targets whose answers have the time of their data.
	shown = regexp.MustCompile(`^/(?:lists|items)(?:[/.?]|$)`)
	// published matches where a JSON feed dates an entry.
	published = regexp.MustCompile(`^\$\.items\[\d+\]\.date_published$`)
)

// instant: both are the time of the answer's data, which differs between any two servers: as_of in JSON, and the time
// in the foot of a page. It is in the past, of both sides, and the new one is not long before the old one. The words in
// a page are the date of its attribute.
func instant(d Difference) bool {
	if d.about == nil || !shown.MatchString(d.about.asked().Target) {
		return false
	}
	old, new := d.about.both()
	times := d.about.instants()
	switch {
	case d.Kind == FieldChanged && d.Path == "$.as_of",
		d.Kind == Attribute && strings.HasSuffix(d.Path, "footer>p>time@datetime"):
		was, there := old.asOf(d.Old)
		is, here := new.asOf(d.New)
		return there && here && (is.After(was.Add(-staleness)) || is.After(new.Modified.Add(-staleness)) &&
			!new.Modified.IsZero())
	case d.Kind == Words && strings.HasSuffix(d.Path, "footer>p>time"):
		return dateOf(d.Old, times[0]) && dateOf(d.New, times[1])
	case d.Kind == Text:
		was, there := old.dated(d.Old)
		is, here := new.dated(d.New)
		return there && here && slices.Equal(was, is)
	case d.Kind == FieldChanged && published.MatchString(d.Path):
		return old.modified(d.Old, time.RFC3339) && new.modified(d.New, time.RFC3339)
	}
	return false
}

var (
	// dating matches an element of a feed that dates an entry or the feed.
	dating = regexp.MustCompile(`<(updated|published|pubDate|lastBuildDate)>([^<]*)</(\w+)>`)
	// dates has the forms of dates in these elements: in Atom, and in RSS.
	dates = map[bool]string{true: time.RFC3339, false: time.RFC1123Z}
)

// dated returns the elements of lines of a feed which date entries by the time of the answer's data, and whether they
// have nothing else. Other entries have a date of their own.
func (a Answer) dated(lines string) (elements []string, ok bool) {
	for _, found := range dating.FindAllStringSubmatch(lines, -1) {
		name := found[1]
		if name != found[3] || !a.modified(found[2], dates[name == "updated" || name == "published"]) {
			return nil, false
		}
		elements = append(elements, name)
	}
	return elements, len(elements) > 0 && strings.TrimSpace(dating.ReplaceAllString(lines, "")) == ""
}

// modified reports whether a text may be the time of the answer's data: not after the second at which it was modified,
// and not long before. A list is made from several views, and dates its entries by the one that has them.
func (a Answer) modified(text, form string) bool {
	at, err := time.Parse(form, text)
	return err == nil && !at.After(a.Modified) && at.After(a.Modified.Add(-staleness))
}

// asOf returns the instant in a text, and whether a server may have read what is in an answer then: not after the
// answer, and not after the second at which it says that it was modified: it may depend on more data than the text
// tells.
func (a Answer) asOf(text string) (at time.Time, ok bool) {
	at, err := time.Parse(time.RFC3339Nano, text)
	switch {
	case err != nil:
		return at, false
	case !a.Modified.IsZero():
		return at, !at.Truncate(time.Second).After(a.Modified)
	}
	return at, !a.Received.IsZero() && at.Before(a.Received.Add(skew))
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
