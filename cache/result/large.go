package result

import (
	"sync"

	"vitrine/rules/lru"
)

// large keeps the most recently used answers of more than LargeBytes, in a budget of their own. Ristretto would
// reject such an answer until it was requested, and made, more often than any of the thousands of small ones in whose
// place it is kept. Here it is kept from the first request on, and never evicts small ones.
type large struct {
	budget   int64     // in bytes; 0 keeps nothing
	inFlight *InFlight // counts dropped answers that are being sent

	mu    sync.Mutex                // guards the rest
	bytes int64                     // bytes of the kept answers
	kept  *lru.Cache[string, entry] // entries by place
}

func (l *large) get(place string) entry {
	l.mu.Lock()
	defer l.mu.Unlock()
	if found := l.kept.Get(place); found != nil {
		return *found
	}
	return entry{}
}

// set puts an entry in a place, unless it is larger than the budget, and returns how many it evicted.
func (l *large) set(place string, e entry) (evicted int, ok bool) {
	if e.answer.cost() > l.budget {
		return 0, false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.dropLocked(place)
	for ; l.bytes+e.answer.cost() > l.budget; evicted++ {
		oldest, _ := l.kept.Oldest()
		l.dropLocked(oldest)
	}
	l.kept.Put(place, e)
	l.inFlight.setKept(e.answer, true)
	l.bytes += e.answer.cost()
	return evicted, true
}

func (l *large) drop(place string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.dropLocked(place)
}

func (l *large) dropLocked(place string) {
	if old := l.kept.Peek(place); old != nil {
		l.bytes -= old.answer.cost()
		l.inFlight.setKept(old.answer, false)
		l.kept.Remove(place)
	}
}

func (l *large) used() (bytes, budget int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.bytes, l.budget
}
