package kept

import (
	"sync/atomic"
	"time"

	"vitrine/cache/origin"
)

// marks are the times when what answers depend on last changed. A view's mark is when the shown generation was
// published, a source's is what the store says of the collection.
type marks struct {
	views   map[string]int64
	sources origin.Marks
	today   int64
}

// of returns when a name last changed, in Unix milliseconds; 0 if that is unknown. A view hides a source of the
// same name.
func (m *marks) of(name string) int64 {
	if name == Today {
		return m.today
	}
	if at, is := m.views[name]; is {
		return at
	}
	return m.sources[name].At
}

// record returns the marks to keep with an answer under a rule. A name without a mark is left out, see markOf.
func (m *marks) record(rule *Rule) map[string]int64 {
	recorded := make(map[string]int64, len(rule.Until))
	for _, name := range rule.Until {
		if at := m.of(name); at > 0 {
			recorded[name] = at
		}
	}
	return recorded
}

// clockStep is by how much a clock may be set back without consequences, in milliseconds. An entry from further in
// the future is stale, as it would otherwise stay fresh until the clock has caught up.
const clockStep = 60_000

// staleSince returns since when an entry is stale under a rule, in Unix milliseconds; 0 if it is fresh at now. Of
// several reasons, the earliest counts.
func (m *marks) staleSince(e *Entry, rule *Rule, now int64) int64 {
	since := int64(0)
	until := e.until
	if e.Rule != rule {
		until = e.Checked.Add(rule.Lifetime(e.Status)).UnixMilli()
	}
	switch {
	case now >= until:
		since = until
	case e.Checked.UnixMilli() > now+clockStep: // the clock was ahead: it does not say how old the answer is
		since = now
	}
	for i, name := range rule.Until {
		if at := m.of(name); at > e.recorded(rule, i) && (since == 0 || at < since) {
			since = at
		}
	}
	return since
}

// newer reports whether something that an entry depends on under a rule has changed since, as of the marks. Unlike
// staleSince it ignores the age of the entry: Get asks whether the answer of a flight lacks a change that preceded
// the request.
func (m *marks) newer(e *Entry, rule *Rule) bool {
	for i, name := range rule.Until {
		if m.of(name) > e.recorded(rule, i) {
			return true
		}
	}
	return false
}

// clock knows the time, and when what answers depend on last changed.
type clock struct {
	now     func() time.Time
	zone    *time.Location
	views   func() map[string]int64
	sources atomic.Pointer[origin.Marks] // of the store, as Run last read them
	day     atomic.Pointer[day]
}

// newClock returns a clock that knows no marks until Run has read those of the sources.
func newClock(o *Options) *clock {
	c := &clock{now: o.Now, zone: o.Zone, views: o.Views}
	c.sources.Store(&origin.Marks{})
	return c
}

// day is a date in Options.Zone: its first instant, and the next one's, in Unix milliseconds.
type day struct{ begin, end int64 }

// today returns when the current date began, in Unix milliseconds. It computes the date once a day, and concurrent
// callers compute the same.
func (c *clock) today(now time.Time) int64 {
	at := now.UnixMilli()
	if d := c.day.Load(); d != nil && d.begin <= at && at < d.end {
		return d.begin
	}
	year, month, date := now.In(c.zone).Date()
	d := &day{
		time.Date(year, month, date, 0, 0, 0, 0, c.zone).UnixMilli(),
		time.Date(year, month, date+1, 0, 0, 0, 0, c.zone).UnixMilli(),
	}
	c.day.Store(d)
	return d.begin
}

// marks returns the marks as of now. The three are not read at once: the next call sees a change that came in
// between.
func (c *clock) marks(now time.Time) marks {
	return marks{c.views(), *c.sources.Load(), c.today(now)}
}

// fresh reports whether an entry is fresh under a rule.
func (c *clock) fresh(e *Entry, rule *Rule, now time.Time) bool {
	m := c.marks(now)
	at := now.UnixMilli()
	return m.staleSince(e, rule, at) == 0 && e.lost.Load() <= at
}

// freshUntil reports whether an entry is fresh, and stays so until due unless something changes. A zero due asks
// about now only.
func (c *clock) freshUntil(e *Entry, rule *Rule, due time.Time) bool {
	now := c.now()
	return c.fresh(e, rule, now) && (due.IsZero() || due.Before(e.Checked.Add(rule.Lifetime(e.Status))))
}
