package kept

import (
	"maps"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"vitrine/cache/origin"
	"vitrine/rules/backoff"
)

// Entry is what is known about a kept answer. It is immutable: a change makes another one.
type Entry struct {
	origin.Response       // without Body
	Rule            *Rule // nil if there is no rule for the key any more

	slot  *slot        // nil if the answer was not kept
	marks []int64      // Marks in the order of Rule.Until, so that a hit looks up nothing
	until int64        // when the answer becomes stale by Rule.For, in Unix milliseconds
	stale atomic.Int64 // when it was first found stale; 0 until then
	lost  atomic.Int64 // until when its body is considered unreadable
}

// slot holds the entry of a key, and what lasts longer than it. It lives from the first entry of a key until the
// key is removed. Demand and pauses are the key's, whichever answer it has.
type slot struct {
	entry   atomic.Pointer[Entry] // nil when the key is removed
	pending atomic.Int64          // requests that the store does not know of
	reports atomic.Int64          // requests that the store knows of, but known does not have
	known   atomic.Int64          // requests in all processes, when the store was last asked
	asked   atomic.Int64          // when a client last asked, in Unix milliseconds

	mu       sync.Mutex           // guards the rest
	pauses   *backoff.Exponential // nil unless the last flight failed
	retry    time.Time            // no flight begins before this time
	reported time.Time            // when the store last got the demand
	copied   copyState            // what the file has
}

// reportAgain is the least time between two reports of the demand for a key.
const reportAgain = 10 * time.Minute

// learn records the demand that the store knows of. Counts never go back, even if the store was restored.
func (s *slot) learn(r *origin.Response) {
	if r.Requests > s.known.Load() {
		s.reports.Store(0) // they are in it
		s.known.Store(r.Requests)
	}
	if asked := r.Asked.UnixMilli(); asked > s.asked.Load() {
		s.asked.Store(asked)
	}
}

// demand returns the requests that the store does not know of, and counts them as known, if it is time to report
// them.
func (s *slot) demand(key string, now time.Time) (d origin.Demand, due bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if now.Sub(s.reported) < reportAgain {
		return d, false
	}
	s.reported = now
	requests := s.pending.Swap(0)
	s.reports.Add(requests)
	return origin.Demand{Key: key, Requests: requests, Last: time.UnixMilli(s.asked.Load())}, true
}

// copyState says which answer the file of a key has.
type copyState struct {
	digest  string
	checked time.Time
	marks   map[string]int64
}

// recopyAfter is how much later than its file an answer may have been checked before the file is written again,
// although nothing else has changed: a process that starts from the file believes the file's time.
const recopyAfter = time.Hour

// uncopied reports whether the file of a key lacks an entry.
func (s *slot) uncopied(e *Entry) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.copied.digest != e.Digest || e.Checked.Sub(s.copied.checked) > recopyAfter ||
		!maps.Equal(s.copied.marks, e.Marks)
}

// copy records that the file of a key has an answer.
func (s *slot) copy(r *origin.Response) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.copied = copyState{r.Digest, r.Checked, r.Marks}
}

// fail records a failure to fetch the key. The pause is a second at first, and doubles up to a minute.
func (s *slot) fail(now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.pauses == nil {
		s.pauses = backoff.New(time.Second, time.Minute, 0)
	}
	s.retry = now.Add(s.pauses.NextBackOff())
}

// pausing reports whether the key is not fetched after a failure.
func (s *slot) pausing(now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return now.Before(s.retry)
}

// minCost is what the shortest answer counts, in bytes: an entry takes memory, and a document and a file take space.
const minCost = 4 << 10

// cost returns what an answer counts against Rule.Budget. It follows from the answer alone, so that all processes
// agree.
func cost(r *origin.Response) int64 {
	n := r.Size + len(r.Key)
	for _, field := range r.Header {
		n += len(field.Name) + len(field.Value)
	}
	return int64(max(n, minCost))
}

// newEntry returns the entry of an answer. Hosts' clocks differ: an answer that was checked in the future is
// considered checked now, so that it does not stay fresh for longer than the rule says. s is nil for an answer that
// is not kept.
func newEntry(r origin.Response, rule *Rule, s *slot, now time.Time) *Entry {
	r.Body = nil
	if r.Checked.After(now) {
		r.Checked = now
	}
	e := &Entry{Response: r, Rule: rule, slot: s}
	if rule != nil {
		e.until = r.Checked.Add(rule.Lifetime(r.Status)).UnixMilli()
		e.marks = make([]int64, len(rule.Until))
		for i, name := range rule.Until {
			e.marks[i] = markOf(&r, name)
		}
	}
	return e
}

// markOf returns the mark that an answer has for a name. A name whose mark was not known when the request began,
// since a view was loading or a rule is new, has the time of that: only later changes make the answer stale.
func markOf(r *origin.Response, name string) int64 {
	if at, is := r.Marks[name]; is {
		return at
	}
	return r.Checked.UnixMilli() - 1 // a change in the same millisecond may have come after the request
}

// FreshTill returns when an answer becomes stale by the time of its rule, if nothing changes before.
func (e *Entry) FreshTill() time.Time { return time.UnixMilli(e.until) }

// usableUntil returns until when an entry is sent while the other server fails.
func (e *Entry) usableUntil(rule *Rule) time.Time {
	return e.Checked.Add(rule.Lifetime(e.Status) + rule.Stale)
}

// under returns the entry with a rule: its own may have been removed after the request began.
func (e *Entry) under(rule *Rule) *Entry {
	if e == nil || e.Rule != nil {
		return e
	}
	return newEntry(e.Response, rule, nil, e.Checked)
}

// missing reports whether an answer says that there is no such thing.
func (e *Entry) missing() bool { return e.Status == http.StatusNotFound || e.Status == http.StatusGone }

// lastUse returns when a client last asked for an entry, as far as this process knows, in Unix milliseconds.
func (e *Entry) lastUse() int64 {
	if e.slot == nil {
		return e.Asked.UnixMilli()
	}
	return e.slot.asked.Load()
}

// requests returns about how many requests there were for an entry.
func (e *Entry) requests() int64 {
	if e.slot == nil {
		return e.Requests
	}
	return e.slot.known.Load() + e.slot.pending.Load() + e.slot.reports.Load()
}

// recorded returns the mark that an entry has for the name at a position in Rule.Until.
func (e *Entry) recorded(rule *Rule, i int) int64 {
	if e.Rule == rule {
		return e.marks[i]
	}
	return markOf(&e.Response, rule.Until[i])
}
