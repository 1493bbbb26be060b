// Package lru keeps values by key and knows which of them were used last.
package lru

import "iter"

// Cache is a map whose entries are in the order of their last use. Its methods are not
// safe for concurrent use.
type Cache[K comparable, V any] struct {
	max     int // 0: any number
	entries map[K]*entry[K, V]
	ring    entry[K, V] // next is the entry used last, prev the one to drop first
}

type entry[K comparable, V any] struct {
	next, prev *entry[K, V]
	key        K
	value      V
}

// New makes a cache of up to max entries; 0 means any number.
func New[K comparable, V any](max int) *Cache[K, V] {
	c := &Cache[K, V]{max: max, entries: make(map[K]*entry[K, V])}
	c.ring.next, c.ring.prev = &c.ring, &c.ring
	return c
}

// Len returns the number of entries.
func (c *Cache[K, V]) Len() int { return len(c.entries) }

// Peek returns the value of a key, nil if there is none. It is no use of it.
func (c *Cache[K, V]) Peek(key K) *V {
	if e := c.entries[key]; e != nil {
		return &e.value
	}
	return nil
}

// Get is Peek, and marks the entry as used last.
func (c *Cache[K, V]) Get(key K) *V {
	e := c.entries[key]
	if e == nil {
		return nil
	}
	e.remove()
	e.insert(&c.ring)
	return &e.value
}

// Put sets the value of a key, which is used last then, and returns it. If there are too
// many entries, the one not used for longest is dropped.
func (c *Cache[K, V]) Put(key K, value V) *V { return c.put(key, value, &c.ring) }

// PutOldest is Put, but the entry is the first to be dropped.
func (c *Cache[K, V]) PutOldest(key K, value V) *V { return c.put(key, value, nil) }

// put places an entry behind another; nil means behind all others.
func (c *Cache[K, V]) put(key K, value V, behind *entry[K, V]) *V {
	c.Remove(key)
	if c.max > 0 && len(c.entries) >= c.max {
		c.Remove(c.ring.prev.key)
	}
	if behind == nil {
		behind = c.ring.prev
	}
	e := &entry[K, V]{key: key, value: value}
	e.insert(behind)
	c.entries[key] = e
	return &e.value
}

// MoveBefore gives an entry a use just after that of another one.
func (c *Cache[K, V]) MoveBefore(key, other K) {
	if e, mark := c.entries[key], c.entries[other]; e != nil && mark != nil && e != mark {
		e.remove()
		e.insert(mark.prev)
	}
}

// Remove drops a key.
func (c *Cache[K, V]) Remove(key K) {
	if e := c.entries[key]; e != nil {
		e.remove()
		delete(c.entries, key)
	}
}

// All yields the entries, the one used last first. The one just yielded may be removed.
func (c *Cache[K, V]) All() iter.Seq2[K, *V] {
	return func(yield func(K, *V) bool) {
		for e := c.ring.next; e != &c.ring; {
			next := e.next
			if !yield(e.key, &e.value) {
				return
			}
			e = next
		}
	}
}

// Oldest returns the entry to be dropped first, nil if there is none.
func (c *Cache[K, V]) Oldest() (key K, value *V) {
	if e := c.ring.prev; e != &c.ring {
		return e.key, &e.value
	}
	return key, nil
}

// insert places an entry behind another.
func (e *entry[K, V]) insert(behind *entry[K, V]) {
	e.prev, e.next = behind, behind.next
	e.prev.next, e.next.prev = e, e
}

func (e *entry[K, V]) remove() { e.prev.next, e.next.prev = e.next, e.prev }
