package kept_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"vitrine/cache/kept"
	"vitrine/rules"
)

const bio = "/portfolio/unit/BIO"

// TestFresh: an answer is fetched once, until a view that it depends on changes or Rule.For ends.
func TestFresh(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil)
		w.views.publish("activities")
		w.want(t, bio, kept.Fetched, 0)
		e := w.want(t, bio, kept.Hit, 0).Entry
		if !w.Current(e) || w.Peek(bio) != e {
			t.Errorf("the entry is not current")
		}
		time.Sleep(time.Second)
		w.views.publish("journals")
		w.want(t, bio, kept.Hit, 0)
		w.views.publish("persons") // had no mark
		if w.Current(e) {
			t.Errorf("the entry is current after a change")
		}
		if f := w.Freshness(e); f.Fresh || fmt.Sprint(f.Changed) != "[persons]" {
			t.Errorf("freshness %+v", f)
		}
		w.want(t, bio, kept.Confirmed, 0)
		w.server.version = 1
		w.want(t, bio, kept.Hit, 0)
		time.Sleep(24 * time.Hour)
		w.want(t, bio, kept.Fetched, 1)
		w.want(t, bio, kept.Hit, 1)
		if n := w.server.count(bio); n != 3 {
			t.Errorf("%d requests, want 3", n)
		}
	})
}

// TestToday: the date is a mark, in the zone.
func TestToday(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // which begins at midnight UTC
		w := newWorld(t, func(o *kept.Options, r *kept.Rule) {
			o.Zone, r.Until = time.FixedZone("", 3600), []string{kept.Today}
		})
		time.Sleep(12 * time.Hour)
		w.want(t, bio, kept.Fetched, 0)
		time.Sleep(11*time.Hour - time.Millisecond)
		w.want(t, bio, kept.Hit, 0)
		time.Sleep(time.Millisecond)
		w.want(t, bio, kept.Confirmed, 0)
	})
}

// TestFlight: callers share a request, a stale answer is sent 2 s after it began, and to later callers at once.
func TestFlight(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil)
		w.want(t, bio, kept.Fetched, 0)
		time.Sleep(time.Second)
		w.views.publish("activities")
		wait := make(chan struct{})
		w.server.version, w.server.wait = 1, wait
		began := time.Now()
		done := make(chan kept.Found, 10)
		for range cap(done) {
			go func() {
				found, err := w.Get(t.Context(), client, w.rule, bio)
				if err != nil {
					t.Error(err)
				}
				done <- found
			}()
		}
		for range cap(done) {
			if found := <-done; found.Outcome != kept.Stale || found.Reason != "revalidating" {
				t.Errorf("%s (%s), want stale", found.Outcome, found.Reason)
			}
		}
		if took := time.Since(began); took != 2*time.Second {
			t.Errorf("waited for %v", took)
		}
		w.want(t, bio, kept.Stale, 0)
		if took := time.Since(began); took != 2*time.Second {
			t.Errorf("a later request waited")
		}
		close(wait)
		synctest.Wait()
		w.want(t, bio, kept.Hit, 1)
		if n := w.server.count(bio); n != 2 {
			t.Errorf("%d requests, want 2", n)
		}
	})
}

// TestRevalidate: for a while after the change no request waits.
func TestRevalidate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, func(_ *kept.Options, r *kept.Rule) { r.Revalidate = time.Minute })
		w.want(t, bio, kept.Fetched, 0)
		time.Sleep(time.Second)
		w.views.publish("activities")
		w.server.version = 1
		w.want(t, bio, kept.Stale, 0)
		synctest.Wait()
		w.want(t, bio, kept.Hit, 1)
		time.Sleep(time.Second)
		w.views.publish("activities")
		w.server.version = 2
		time.Sleep(time.Hour)
		w.want(t, bio, kept.Fetched, 2)
	})
}

// TestChangedDuringFlight: a caller that knows of a change does not get the answer of a request that began before it.
func TestChangedDuringFlight(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil)
		wait := make(chan struct{})
		w.server.wait = wait
		go func() { _, _ = w.Get(t.Context(), client, w.rule, bio) }()
		synctest.Wait()
		time.Sleep(time.Second)
		w.views.publish("activities")
		w.server.set(func(s *server) { s.version, s.wait = 1, nil })
		late := make(chan kept.Found)
		go func() {
			found, _ := w.Get(t.Context(), client, w.rule, bio)
			late <- found
		}()
		synctest.Wait()
		close(wait)
		found := <-late
		if body := w.body(t, found); body != `{"key":"/portfolio/unit/BIO","version":1}` {
			t.Errorf("%s %s", found.Outcome, body)
		}
	})
}

// TestClientLeaves: a flight goes on without its client, and Close ends it.
func TestClientLeaves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil)
		wait := make(chan struct{})
		w.server.wait = wait
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() {
			_, err := w.Get(ctx, client, w.rule, bio)
			done <- err
		}()
		synctest.Wait()
		cancel()
		if err := <-done; !errors.Is(err, context.Canceled) {
			t.Errorf("error %v", err)
		}
		close(wait)
		synctest.Wait()
		w.want(t, bio, kept.Hit, 0)
		w.server.wait = make(chan struct{})
		go func() {
			_, err := w.Get(t.Context(), client, w.rule, "/portfolio/other")
			done <- err
		}()
		synctest.Wait()
		w.Close()
		if err := <-done; err == nil {
			t.Error("the flight outlived the keeper")
		}
		w.want(t, bio, kept.Hit, 0)
		if _, err := w.Get(t.Context(), client, w.rule, "/portfolio/third"); !errors.Is(err, rules.ErrUnavailable) {
			t.Errorf("error %v after Close", err)
		}
	})
}

// TestFailure: a stale answer is sent while the other server fails, and each key waits longer from failure to
// failure. The log says once that it fails, and once that it does not any more.
func TestFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log strings.Builder // slog writes a line at a time, and the test reads after Wait
		w := newWorld(t, func(o *kept.Options, _ *kept.Rule) { o.Log = slog.New(slog.NewTextHandler(&log, nil)) })
		logged := func(want ...string) {
			t.Helper()
			synctest.Wait()
			lines := strings.FieldsFunc(log.String(), func(r rune) bool { return r == '\n' })
			for i, line := range lines {
				if i < len(want) && !strings.Contains(line, want[i]) || len(lines) != len(want) {
					t.Errorf("logged %q, want %q", lines, want)
				}
			}
			log.Reset()
		}
		w.want(t, bio, kept.Fetched, 0)
		w.server.answer = func(kept.Request) (kept.Answer, error) { return kept.Answer{}, errDown }
		time.Sleep(24 * time.Hour)
		for range 200 {
			if found := w.want(t, bio, kept.Stale, 0); found.Reason != "upstream-failed" {
				t.Fatalf("reason %q", found.Reason)
			}
			time.Sleep(time.Second)
		}
		if n := w.server.count(bio); n < 6 || n > 10 {
			t.Errorf("%d requests in 200 s", n)
		}
		if s := w.Status()[0]; s.Failed == "" || s.Failures == 0 || s.Served != 200 || s.Stale != 1 ||
			s.Answers != 1 {
			t.Errorf("status %+v", s)
		}
		if _, err := w.Get(t.Context(), client, w.rule, "/portfolio/new"); !errors.Is(err, errDown) {
			t.Errorf("error %v", err)
		}
		logged(`level=WARN msg="the other server sent no answer to keep: kept ones stay" rule=/portfolio`)
		w.server.answer, w.server.version = nil, 1
		time.Sleep(time.Minute)
		w.want(t, bio, kept.Fetched, 1)
		logged(`level=INFO msg="the other server sends answers to keep again" rule=/portfolio`)
		if s := w.Status()[0]; s.Failed != "" {
			t.Errorf("status %+v", s)
		}
		w.server.answer = func(kept.Request) (kept.Answer, error) { return kept.Answer{}, errDown }
		time.Sleep(8 * 24 * time.Hour)
		if _, err := w.Get(t.Context(), client, w.rule, bio); !errors.Is(err, errDown) {
			t.Errorf("error %v for an answer that is too old", err)
		}
	})
}

// TestLimits: a client has few flights, and long queues are refused.
func TestLimits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil)
		wait := make(chan struct{})
		w.server.wait = wait
		defer close(wait)
		refused := make(chan error, 100)
		ask := func(client netip.Prefix, n int) (failed int) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			for i := range n {
				go func() {
					_, err := w.Get(ctx, client, w.rule, fmt.Sprintf("/portfolio/%s/%d", client.Addr(), i))
					refused <- err
				}()
			}
			for range n {
				var retry *rules.RetryError
				if errors.As(<-refused, &retry) && errors.Is(retry, rules.ErrUnavailable) {
					failed++
				}
			}
			return failed
		}
		if failed := ask(client, 20); failed != 12 {
			t.Errorf("%d of 20 refused", failed)
		}
		if failed := ask(netip.MustParsePrefix("2001:db8::/64"), 3); failed != 0 {
			t.Errorf("%d of another client refused", failed)
		}
	})
}

// TestPace: the other server is asked at most Rate times a second, after a first burst, and Connections times at
// once.
func TestPace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, func(_ *kept.Options, r *kept.Rule) { r.Rate, r.Connections = 10, 2 })
		end := time.Now().Add(10 * time.Second)
		for i := range 40 {
			client := netip.PrefixFrom(netip.AddrFrom4([4]byte{10, 0, 0, byte(i)}), 32)
			go func() {
				for n := 0; time.Now().Before(end); n++ {
					if _, err := w.Get(t.Context(), client, w.rule, fmt.Sprintf("/portfolio/%d/%d", i, n)); err !=
						nil {
						time.Sleep(100 * time.Millisecond)
					}
				}
			}()
		}
		time.Sleep(10 * time.Second)
		if n := w.Status()[0].Misses; n > 110 || n < 100 {
			t.Errorf("%d requests in 10 s", n)
		}
		time.Sleep(10 * time.Second)
	})
}

// TestLateMarks: an answer that was requested while a view was loading is not stale because the view is then known to
// have changed before, but because it changes later.
func TestLateMarks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil)
		early := time.Now().UnixMilli()
		time.Sleep(time.Second)
		w.want(t, bio, kept.Fetched, 0)
		w.views.mu.Lock()
		w.views.marks = map[string]int64{"activities": early, "persons": early}
		w.views.mu.Unlock()
		w.want(t, bio, kept.Hit, 0)
		time.Sleep(time.Second)
		w.server.set(func(s *server) { s.version++ })
		w.views.publish("persons")
		w.want(t, bio, kept.Fetched, 1)
	})
}
