package response

import "time"

// Period is a span of the wall clock in which something holds, such as a calendar year. The zero Period has no end.
//
// Its times have no monotonic reading, and only its methods compare them with the present. Two results of time.Now
// compare by their monotonic readings, which advance even if the wall clock is set back: an answer made for the next
// year, before the clock was set back, would stay valid.
type Period struct {
	since time.Time // zero if unknown
	until time.Time // zero means never
}

// InYear returns a calendar year in a zone.
func InYear(year int, zone *time.Location) Period {
	newYear := func(year int) time.Time { return time.Date(year, time.January, 1, 0, 0, 0, 0, zone) }
	return Period{newYear(year), newYear(year + 1)}
}

// OnDay returns the Period that ends with the day of a time in its zone.
func OnDay(t time.Time) Period {
	return Until(time.Date(t.Year(), t.Month(), t.Day()+1, 0, 0, 0, 0, t.Location()))
}

// Until returns a Period up to an end, which may be zero. Its beginning is unknown.
func Until(end time.Time) Period { return Period{until: end.Round(0)} }

// ends reports whether the clock alone ends the Period.
func (p Period) ends() bool { return !p.until.IsZero() }

// left returns how much is left of a Period that ends.
func (p Period) left(now time.Time) time.Duration { return p.until.Sub(now.Round(0)) }

// contains reports whether a time is in the Period.
func (p Period) contains(now time.Time) bool {
	now = now.Round(0)
	return !p.ends() || !now.Before(p.since) && now.Before(p.until)
}

// from returns the Period with the given beginning, if its own is unknown. A plan need not hold for times before it
// was made.
func (p Period) from(now time.Time) Period {
	if p.since.IsZero() {
		p.since = now.Round(0)
	}
	return p
}
