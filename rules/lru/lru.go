// Package lru is a cache that drops the entry whose last use is the oldest.
package lru

import (
	"container/list"
	"iter"
)

// Cache is a map that keeps its entries in the order of their last use. Its methods are not safe for concurrent use.
type Cache[K comparable, V any] struct {
	max     int // 0 means unlimited
	entries map[K]*list.Element
	order   list.List // elements of type *entry[K, V], the most recently used first
}

type entry[K comparable, V any] struct {
	key   K
	value V
}

// New makes a cache of up to max entries; 0 means unlimited.
func New[K comparable, V any](max int) *Cache[K, V] {
	return &Cache[K, V]{max: max, entries: make(map[K]*list.Element)}
}

// Len returns the number of entries.
func (c *Cache[K, V]) Len() int { return len(c.entries) }

// Peek returns the value of a key, or nil. It does not count as a use.
func (c *Cache[K, V]) Peek(key K) *V {
	if e := c.entries[key]; e != nil {
		return &e.Value.(*entry[K, V]).value
	}
	return nil
}

// Get is Peek, and marks the entry as most recently used.
func (c *Cache[K, V]) Get(key K) *V {
	if e := c.entries[key]; e != nil {
		c.order.MoveToFront(e)
	}
	return c.Peek(key)
}

// Put sets the value of a key, marks it as most recently used, and returns the value. If there
// are too many entries, it drops the least recently used one.
func (c *Cache[K, V]) Put(key K, value V) *V {
	c.Remove(key)
	if c.max > 0 && len(c.entries) >= c.max {
		oldest, _ := c.Oldest()
		c.Remove(oldest)
	}
	c.entries[key] = c.order.PushFront(&entry[K, V]{key, value})
	return c.Peek(key)
}

// Remove drops a key.
func (c *Cache[K, V]) Remove(key K) {
	if e := c.entries[key]; e != nil {
		c.order.Remove(e)
		delete(c.entries, key)
	}
}

// All yields the entries, the most recently used first. The loop body may remove the current one.
func (c *Cache[K, V]) All() iter.Seq2[K, *V] {
	return func(yield func(K, *V) bool) {
		for e := c.order.Front(); e != nil; {
			at, next := e.Value.(*entry[K, V]), e.Next()
			if !yield(at.key, &at.value) {
				return
			}
			e = next
		}
	}
}

// Oldest returns the least recently used entry. value is nil if the cache is empty.
func (c *Cache[K, V]) Oldest() (key K, value *V) {
	if e := c.order.Back(); e != nil {
		at := e.Value.(*entry[K, V])
		return at.key, &at.value
	}
	return key, nil
}
