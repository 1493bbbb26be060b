package compare

import (
	"bytes"
	"context"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/time/rate"

	"vitrine/cache/fair"
)

const (
	// The numbers are small to spare the old system, which is in use. Dropped requests only shrink the sample.
	mostQueued = 64       // live requests that wait to be compared
	shadowers  = 2        // requests under way to each side
	mostLive   = 16 << 20 // bytes of an answer that are compared
	// evidenceEach is the least time between two requests for evidence, to either side.
	evidenceEach = 10 * time.Second
)

// Shadow sends a share of the requests that a server answers to the old system, and once more to the server, in the
// background. It drops requests while the queue is full. It holds the answers to shadowers requests, compares one
// pair of them at a time, within bounds, and pauses while live requests run.
//
// The way of a request: Offer (in the server's request) → queue → one of the workers of Run → both sides
// → tally.
type Shadow struct {
	both     *Comparison
	share    float64
	queue    chan Request
	dropped  atomic.Int64
	outcomes *prometheus.CounterVec
}

// NewShadow returns a Shadow for the old system at an address, and for the server through its own transport. own
// answers without the network, so that the comparison works behind any listener. Errors are those of the address.
func NewShadow(address string, share float64, own http.RoundTripper, reg prometheus.Registerer) (*Shadow, error) {
	old, err := NewSide("old", address, Keys{}, nil)
	if err != nil {
		return nil, err
	}
	self, err := NewSide("new", "http://localhost", Keys{}, own)
	if err != nil {
		return nil, err
	}
	old.Most, self.Most = mostLive, mostLive
	both := NewComparison(old, self, Settings{Accepted: OSIRIS(), Examples: 3})
	both.pause, both.limit = fair.Rest(), rate.NewLimiter(rate.Every(evidenceEach), 1)
	s := &Shadow{both: both, share: share, queue: make(chan Request, mostQueued),
		outcomes: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "vitrine_compare_answers_total",
			Help: "Number of live answers compared with those of the old system, by outcome: agree, purpose, " +
				"differ, failed, forwarded (not compared) or dropped."}, []string{"outcome"})}
	reg.MustRegister(s.outcomes)
	for _, outcome := range append([]string{"dropped"}, outcomes...) {
		s.outcomes.WithLabelValues(outcome) // so that each label exists from the start
	}
	return s, nil
}

// SetKeys changes the keys, which are those of the server. It may be called while Run runs: the next requests have
// the new keys.
func (s *Shadow) SetKeys(k Keys) {
	s.both.old.SetKeys(k)
	s.both.new.SetKeys(k)
}

// Offer may compare a request that was answered. It never waits, and copies what it keeps. Refused requests are not
// compared: they would cost more with a right key. Nor are those that a server answers by its shortcut, which repeat
// one of the same second.
func (s *Shadow) Offer(method string, target []byte, status int) {
	switch {
	case rand.Float64() >= s.share, status == http.StatusUnauthorized, status == http.StatusForbidden,
		status == http.StatusTooManyRequests:
		return
	case !bytes.HasPrefix(target, []byte("/api/")) && !bytes.HasPrefix(target, []byte("/portfolio/")):
		return
	}
	r, err := s.both.Request(strings.Clone(method), string(target))
	if err != nil {
		return
	}
	select {
	case s.queue <- r:
	default:
		s.dropped.Add(1)
		s.outcomes.WithLabelValues("dropped").Inc()
	}
}

// Run compares until ctx ends. Requests that wait in the queue then are dropped without being counted.
func (s *Shadow) Run(ctx context.Context) {
	var workers sync.WaitGroup
	for range shadowers {
		workers.Go(func() {
			for {
				select {
				case <-ctx.Done():
					return
				case r := <-s.queue:
					if outcome, _ := s.both.Ask(ctx, r); outcome != "" {
						s.outcomes.WithLabelValues(outcome).Inc()
					}
				}
			}
		})
	}
	workers.Wait()
}

// Report returns the results so far.
func (s *Shadow) Report() Report {
	r := s.both.Report()
	r.New = "this server" // it is asked without the network, so that its address says nothing
	r.Dropped = s.dropped.Load()
	return r
}
