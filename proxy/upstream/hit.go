package upstream

import (
	"slices"
	"weak"

	"vitrine/proxy/listener"
)

// repeatable is an entry that was sent to a client. It does not keep what the cache drops in memory: thousands of
// them may be in use, for each an entry of up to Options.KeptBytes. It belongs to one connection, which asks it
// when the same request comes again.
type repeatable struct {
	store *store
	key   []byte
	among weak.Pointer[variants]
	entry weak.Pointer[entry]
}

// newRepeatable returns nil if the entry is no longer kept. The cache may have dropped or refused the entry since.
func newRepeatable(s *store, key []byte, e *entry) *repeatable {
	among := s.variants(key)
	if among == nil || !slices.Contains(among.entries, e) {
		return nil
	}
	return &repeatable{s, key, weak.Make(among), weak.Make(e)}
}

// Again implements listener.Hit. The answer is in flight until the reservation is released.
func (r *repeatable) Again() (body []byte, hold listener.Reservation, ok bool) {
	s := r.store
	// Every change under a key makes other variants, so these select the same entry.
	all, e := s.variants(r.key), r.entry.Value()
	if all == nil || e == nil || all != r.among.Value() || e.left(s.now()) <= 0 {
		return nil, nil, false
	}
	if !s.inFlight.Retain(e.content) {
		return nil, nil, false
	}
	e.counts.Hits.Inc()
	return e.content.Body, e.content, true
}
