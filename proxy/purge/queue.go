package purge

import (
	"maps"
	"slices"
	"sync"
)

// queue holds tags until they are taken.
type queue struct {
	more chan struct{} // of capacity one: signals that tags wait

	mu   sync.Mutex // guards tags
	tags map[string]bool
}

func newQueue() *queue { return &queue{more: make(chan struct{}, 1), tags: map[string]bool{}} }

// add makes tags wait. If too many wait, those of whole take their place.
func (q *queue) add(tags []string, whole func() []string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, tag := range tags {
		q.tags[tag] = true
	}
	if len(q.tags) > mostQueued {
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

func (q *queue) size() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.tags)
}
