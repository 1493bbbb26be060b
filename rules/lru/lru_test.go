package lru_test

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"vitrine/rules/lru"
)

// TestCache compares a cache with a list of keys, the most recently used first.
func TestCache(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		most := rapid.IntRange(0, 4).Draw(t, "max")
		c := lru.New[int, string](most)
		values := map[int]string{}
		var order []int
		drop := func(key int) { order = slices.DeleteFunc(order, func(k int) bool { return k == key }) }
		makeRoom := func() {
			if most > 0 && len(order) >= most {
				order = order[:len(order)-1]
			}
		}
		key := rapid.IntRange(0, 6)
		t.Repeat(map[string]func(*rapid.T){
			"put": func(t *rapid.T) {
				k, v := key.Draw(t, "key"), rapid.String().Draw(t, "value")
				drop(k)
				makeRoom()
				order, values[k] = slices.Insert(order, 0, k), v
				if got := c.Put(k, v); *got != v {
					t.Fatalf("put %q, got %q", v, *got)
				}
			},
			"get": func(t *rapid.T) {
				k := key.Draw(t, "key")
				got, peeked, want := (*string)(nil), c.Peek(k), slices.Contains(order, k)
				if got = c.Get(k); (got != nil) != want || got != peeked {
					t.Fatalf("get %d: %v, peek %v, want one: %v", k, got, peeked, want)
				}
				if want {
					drop(k)
					order = slices.Insert(order, 0, k)
				}
			},
			"remove": func(t *rapid.T) {
				k := key.Draw(t, "key")
				drop(k)
				c.Remove(k)
			},
			"": func(t *rapid.T) {
				var got []int
				for k, v := range c.All() {
					if got = append(got, k); *v != values[k] {
						t.Fatalf("%d is %q, want %q", k, *v, values[k])
					}
				}
				oldest, value := c.Oldest()
				if !slices.Equal(got, order) || c.Len() != len(order) || (value == nil) != (len(order) == 0) {
					t.Fatalf("order %v of %d, want %v", got, c.Len(), order)
				}
				if value != nil && oldest != order[len(order)-1] {
					t.Fatalf("oldest is %d of %v", oldest, order)
				}
			},
		})
	})
}

func ExampleCache() {
	c := lru.New[string, int](2)
	c.Put("one", 1)
	c.Put("two", 2)
	c.Get("one")
	c.Put("three", 3)
	fmt.Println(c.Peek("one") != nil, c.Peek("two") != nil)
	// Output: true false
}
