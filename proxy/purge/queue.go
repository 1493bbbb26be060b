package purge

import (
	"maps"
	"slices"
	"sync"
)

// queue holds tags until they are taken. It is a set: a tag that changes again while it waits is sent once.
type queue struct {
	more chan struct{} // of capacity one: signals that tags wait

	mu   sync.Mutex // guards tags
	tags map[string]bool
}

func newQueue() *queue { return &queue{more: make(chan struct{}, 1), tags: map[string]bool{}} }

// add makes tags wait. If too many wait, those of whole take their place. It never blocks, because the caller has
// just shown a snapshot and others wait for it.
func (q *queue) add(tags []string, whole func() []string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, tag := range tags {
		q.tags[tag] = true
	}
	if len(q.tags) > mostQueued {
		// whole does not lock q, so it may be called here.
		clear(q.tags)
		for _, tag := range whole() {
			q.tags[tag] = true
		}
	}
	select {
	case q.more <- struct{}{}:
	default: // it is signalled already
	}
}

// take removes the waiting tags and returns them, sorted.
func (q *queue) take() []string {
	q.mu.Lock()
	defer q.mu.Unlock()
	tags := slices.Sorted(maps.Keys(q.tags))
	clear(q.tags)
	return tags
}

// size returns the number of waiting tags.
func (q *queue) size() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.tags)
}
