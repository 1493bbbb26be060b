// Package batch splits writes into commands and transactions of bounded size. Each store chooses its limits: what a
// server accepts in one command, or what a transaction may keep in memory.
package batch

import "iter"

// Of splits items into parts of at most most items and bytes bytes, by size; a single larger item is a part of its
// own. The parts share the memory of items, and keep their order. No part is empty.
func Of[T any](items []T, most, bytes int, size func(T) int) iter.Seq[[]T] {
	return func(yield func([]T) bool) {
		first, total := 0, 0
		for i, item := range items {
			n := size(item)
			if i > first && (i-first == most || total+n > bytes) {
				if !yield(items[first:i]) {
					return
				}
				first, total = i, 0
			}
			total += n
		}
		if first < len(items) {
			yield(items[first:])
		}
	}
}
