package registry

import (
	"sync"
	"time"
)

// sightings notices when what another holder has taken runs out: when it has not changed for its whole term by this
// process's monotonic clock. S is the state that the holder changes when it renews.
type sightings[S comparable] struct {
	elapsed func() time.Duration

	mu   sync.Mutex // guards seen
	seen map[string]sighting[S]
}

// sighting is a state and the time when this process first read it.
type sighting[S comparable] struct {
	state S
	at    time.Duration
	term  time.Duration
}

// mostSightings bounds the map: names may come from clients. Without its sighting, a name's wait begins anew.
const mostSightings = 4096

func newSightings[S comparable](elapsed func() time.Duration) *sightings[S] {
	return &sightings[S]{elapsed: elapsed, seen: map[string]sighting[S]{}}
}

// expired reports whether the state of a name has been the same for its term.
func (s *sightings[S]) expired(name string, state S, term time.Duration) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	first, ok := s.seen[name]
	if !ok || first.state != state {
		s.shrink()
		first = sighting[S]{state, s.elapsed(), term}
		s.seen[name] = first
	}
	return s.elapsed()-first.at >= term
}

// shrink makes room for a sighting. It deletes those that have expired, because a process that still wants such a
// name would have taken it, and otherwise any one.
func (s *sightings[S]) shrink() {
	if len(s.seen) < mostSightings {
		return
	}
	now := s.elapsed()
	for name, first := range s.seen {
		if now-first.at >= first.term {
			delete(s.seen, name)
		}
	}
	for name := range s.seen {
		if len(s.seen) < mostSightings {
			return
		}
		delete(s.seen, name)
	}
}

// forget deletes the sighting of a name that this process has taken.
func (s *sightings[S]) forget(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.seen, name)
}
