package kept

import (
	"sync"

	"vitrine/rules/lru"
)

// memoryBytes bounds the bodies that are only in this process's memory. It is for all rules together.
const memoryBytes = 32 << 20

// bodies has the bodies of answers that the store has not taken. The least recently used ones go first.
type bodies struct {
	mu    sync.Mutex
	cache *lru.Cache[string, body] // by key
	bytes int
}

type body struct {
	digest string // of the answer
	bytes  []byte
}

func newBodies() *bodies { return &bodies{cache: lru.New[string, body](0)} }

// get returns the body of a key's answer with a digest.
func (b *bodies) get(key, digest string) (content []byte, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if found := b.cache.Get(key); found != nil && found.digest == digest {
		return found.bytes, true
	}
	return nil, false
}

// put replaces the body of a key. Each counts at least minCost, as in a budget. The bytes are not copied. A body
// larger than memoryBytes is dropped at once.
func (b *bodies) put(key, digest string, content []byte) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.forget(key)
	b.cache.Put(key, body{digest, content})
	for b.bytes += max(len(content), minCost); b.bytes > memoryBytes; {
		oldest, _ := b.cache.Oldest()
		b.forget(oldest)
	}
}

// remove drops the body of a key.
func (b *bodies) remove(key string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.forget(key)
}

func (b *bodies) forget(key string) {
	if found := b.cache.Peek(key); found != nil {
		b.bytes -= max(len(found.bytes), minCost)
		b.cache.Remove(key)
	}
}
