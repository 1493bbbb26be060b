package upstream

import (
	"sync"
	"time"

	"github.com/dgraph-io/ristretto/v2"
	"github.com/valyala/fasthttp"

	"vitrine/cache/result"
)

// store has the kept entries by key. Reading takes no lock of its own. Changes take keeping from the look-up to the
// Set, as two at a time would lose one of the entries that both add.
type store struct {
	budget   int64
	inFlight *result.InFlight
	now      func() time.Time

	kept    *ristretto.Cache[[]byte, *variants]
	keeping sync.Mutex // one change of kept at a time
}

func newStore(budget int64, inFlight *result.InFlight, now func() time.Time) (*store, error) {
	kept, err := ristretto.NewCache(&ristretto.Config[[]byte, *variants]{
		NumCounters: max(budget/1024, 1000), MaxCost: budget, BufferItems: 64, // ten counters an entry of 10 kB
	})
	return &store{budget: budget, inFlight: inFlight, now: now, kept: kept}, err
}

// bytes returns about how many bytes are kept.
func (s *store) bytes() int64 { return max(s.budget-s.kept.RemainingCost(), 0) }

// variants are the entries of a key, the newest first.
type variants struct {
	key     string
	entries []*entry
}

// mostVariants bounds their number, because clients choose the selecting headers. mostShare is the part of the budget
// that the entries of a key may use.
const (
	mostVariants = 16
	mostShare    = 8
)

// find returns the entry for a request, or nil.
func (s *store) find(key []byte, h *fasthttp.RequestHeader) *entry {
	for _, e := range s.entries(key) {
		if e.of(h) {
			return e
		}
	}
	return nil
}

// entries returns the entries of a key.
func (s *store) entries(key []byte) []*entry {
	if found := s.variants(key); found != nil {
		return found.entries
	}
	return nil
}

// variants returns what is kept of a key, or nil. The cache finds values by a hash, so the key is compared.
func (s *store) variants(key []byte) *variants {
	found, _ := s.kept.Get(key)
	if found == nil || found.key != string(key) {
		return nil
	}
	return found
}

// keep stores an entry in place of one that the same headers select.
func (s *store) keep(key string, e *entry) {
	s.keeping.Lock()
	defer s.keeping.Unlock()
	next, cost := &variants{key: key, entries: []*entry{e}}, e.size()+int64(len(key))
	if found := s.variants([]byte(key)); found != nil {
		for _, other := range found.entries {
			if n := other.size(); !e.alike(other) && len(next.entries) < mostVariants &&
				cost+n <= s.budget/mostShare {
				next.entries, cost = append(next.entries, other), cost+n
			}
		}
		s.kept.Del([]byte(key)) // because the cache does not evict others for a value that grows
	}
	s.kept.Set([]byte(key), next, cost)
	s.kept.Wait() // until it is visible
}

// remove drops the entries of a key.
func (s *store) remove(key string) {
	s.keeping.Lock()
	defer s.keeping.Unlock()
	s.kept.Del([]byte(key))
	s.kept.Wait()
}

// drop drops one entry of a key. It does nothing if that is nil.
func (s *store) drop(key string, e *entry) {
	if e == nil {
		return
	}
	s.keeping.Lock()
	defer s.keeping.Unlock()
	next, cost := &variants{key: key}, int64(len(key))
	for _, other := range s.entries([]byte(key)) {
		if other != e {
			next.entries, cost = append(next.entries, other), cost+other.size()
		}
	}
	s.kept.Del([]byte(key))
	if len(next.entries) > 0 {
		s.kept.Set([]byte(key), next, cost)
	}
	s.kept.Wait()
}
