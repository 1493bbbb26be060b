package kept_test

import (
	"testing"

	"vitrine/cache/kept"
)

// BenchmarkHit measures Get for a fresh answer, which allocates nothing.
func BenchmarkHit(b *testing.B) {
	server, views := newServer(), &views{}
	for _, name := range []string{"activities", "persons", "projects"} {
		views.publish(name)
	}
	k, err := kept.New(kept.Options{Fetch: server.fetch, Views: views.all})
	if err != nil {
		b.Fatal(err)
	}
	defer k.Close()
	rule := portfolio()
	rule.Until = append(rule.Until, "projects", kept.Today)
	if err := k.Adopt([]kept.Rule{rule}); err != nil {
		b.Fatal(err)
	}
	r := k.Match(bio)
	found, err := k.Get(b.Context(), client, r, bio)
	if err != nil {
		b.Fatal(err)
	}
	b.Run("get", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			_, _ = k.Get(b.Context(), client, r, bio)
		}
	})
	b.Run("current", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			k.Current(found.Entry)
		}
	})
	b.Run("match and key", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			k.Match(bio).Key(bio, nil)
		}
	})
}
