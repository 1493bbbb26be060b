package auth_test

import (
	"net/netip"
	"testing"
	"time"

	"pgregory.net/rapid"

	"vitrine/proxy/auth"
)

// TestLimiter: each client has its own token bucket, which refills one token at a time.
func TestLimiter(t *testing.T) {
	start := time.Date(2024, 5, 6, 7, 8, 9, 0, time.UTC)
	ada, bob := netip.MustParsePrefix("192.0.2.1/32"), netip.MustParsePrefix("2001:db8::/64")
	l := auth.NewLimiter("x", 2, 4, time.Minute) // one more every 15 s
	steps := []struct {
		name   string
		after  time.Duration // time since the start
		client netip.Prefix
		take   bool // or only check
		want   auth.Level
	}{
		{"an unknown client has all", 0, ada, false, auth.Level{Left: 2}},
		{"the first", 0, ada, true, auth.Level{Left: 1, Full: 15 * time.Second}},
		{"a check takes no token", 0, ada, false, auth.Level{Left: 1, Full: 15 * time.Second}},
		{"the second", 0, ada, true, auth.Level{Left: 0, Full: 30 * time.Second}},
		{"the third has to wait", 0, ada, true, auth.Level{Wait: 15 * time.Second, Full: 30 * time.Second}},
		{"a refused request takes no token", 0, ada, false,
			auth.Level{Wait: 15 * time.Second, Full: 30 * time.Second}},
		{"another client", 0, bob, true, auth.Level{Left: 1, Full: 15 * time.Second}},
		{"not quite yet", 14 * time.Second, ada, true, auth.Level{Wait: time.Second, Full: 16 * time.Second}},
		{"a drop came back", 15 * time.Second, ada, true, auth.Level{Left: 0, Full: 30 * time.Second}},
		{"after a long time it is full, not more", time.Hour, ada, false, auth.Level{Left: 2}},
		{"and has two", time.Hour, ada, true, auth.Level{Left: 1, Full: 15 * time.Second}},
	}
	for _, s := range steps {
		f := l.Look
		if s.take {
			f = l.Take
		}
		if got := f(s.client, start.Add(s.after)); got != s.want {
			t.Errorf("%s: %+v, want %+v", s.name, got, s.want)
		}
	}
}

// TestLimiterExact: levels are exactly those of a bucket that is counted in whole nanoseconds, whatever requests
// come, so that no rounding error shows in Retry-After.
func TestLimiterExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		size := rapid.IntRange(1, 40).Draw(t, "size")
		tokens := rapid.SampledFrom([]int{1, 2, 4, 5, 20, 50}).Draw(t, "tokens")
		in := rapid.SampledFrom([]time.Duration{time.Second, time.Minute}).Draw(t, "in")
		l, every := auth.NewLimiter("x", size, tokens, in), in/time.Duration(tokens)
		now := time.Date(2024, 5, 6, 7, 8, 9, 123456789, time.UTC)
		full := now // when the bucket is full again
		for range rapid.IntRange(1, 100).Draw(t, "requests") {
			step := rapid.SampledFrom([]time.Duration{0, time.Millisecond, every, every / 2, 7 * every / 5}).Draw(t,
				"step")
			now = now.Add(step)
			until, take := max(full.Sub(now), 0), rapid.Bool().Draw(t, "take")
			want := auth.Level{Full: until, Wait: max(until-time.Duration(size-1)*every, 0)}
			f := l.Look
			if take {
				f = l.Take
			}
			if want.Wait == 0 {
				if take {
					want.Full = until + every
					full = now.Add(want.Full)
				}
				want.Left = size - int((want.Full+every-1)/every)
			}
			if got := f(netip.Prefix{}, now); got != want {
				t.Fatalf("after %v, take %v: %+v, want %+v", step, take, got, want)
			}
		}
	})
}

func TestNoLimiter(t *testing.T) {
	for _, drops := range []int{0, -1} {
		if l := auth.NewLimiter("x", 10, drops, time.Second); l != nil {
			t.Errorf("%d drops: %+v, want no limit", drops, l)
		}
	}
	if auth.NewGuesses(0) != nil || auth.NewGuesses(3) == nil {
		t.Error("guesses must be limited exactly if the limit is set")
	}
}

func TestWholeSeconds(t *testing.T) {
	for d, want := range map[time.Duration]string{0: "0", time.Nanosecond: "1", time.Second: "1",
		1001 * time.Millisecond: "2", time.Hour: "3600"} {
		if got := auth.WholeSeconds(d); got != want {
			t.Errorf("%s: %s, want %s", d, got, want)
		}
	}
}
