package result

import "sync/atomic"

// Stats counts the outcomes of Get since New, and the memory in use now.
type Stats struct {
	Hits     uint64 // answered from memory
	Loads    uint64 // computations begun, compressions included
	Shared   uint64 // answered by another caller's computation
	Errors   uint64 // calls that ended with an error
	Rejected uint64 // answers not kept: too large, too rare, or dropped under load
	Evicted  uint64 // answers that made room for others
	Bytes    int64  // kept now, blocks included
	Budget   int64  // bound of Bytes
	InFlight int64  // bytes of answers being made or sent
}

type counters struct {
	hits, loads, shared, errors, rejected, evicted atomic.Uint64
}

// Stats returns the counters. It reads them one by one: under load their sums may be
// off by the calls in between.
func (c *Cache) Stats() Stats {
	s := Stats{
		Hits:     c.stats.hits.Load(),
		Loads:    c.stats.loads.Load(),
		Shared:   c.stats.shared.Load(),
		Errors:   c.stats.errors.Load(),
		Rejected: c.stats.rejected.Load(),
		Evicted:  c.stats.evicted.Load(),
		InFlight: c.inFlight.Bytes(),
	}
	for _, kept := range c.kept {
		s.Budget += kept.MaxCost()
		s.Bytes += kept.MaxCost() - kept.RemainingCost()
	}
	return s
}
