package upstream

import "github.com/sony/gobreaker/v2"

// The outcomes that are counted.
const (
	hits = iota
	staleHits
	collapsed
	misses
	passed
	failed
	outcomes
)

// Outcomes are their names, in the order of Stats.Requests.
var Outcomes = [outcomes]string{"hit", "stale", "collapsed", "miss", "passed", "failed"}

// Stats are counts since the start, and the state now.
type Stats struct {
	Requests [outcomes]uint64 // by outcome; a failed one was counted as missed or passed before
	Bytes    uint64           // about how many are kept
	Open     bool             // the other server is not asked, because it fails
}

// Stats returns them.
func (p *Proxy) Stats() (s Stats) {
	for i := range s.Requests {
		s.Requests[i] = p.counts[i].Load()
	}
	s.Bytes = uint64(max(p.options.Budget-p.kept.RemainingCost(), 0))
	s.Open = p.circuit.State() == gobreaker.StateOpen
	return s
}
