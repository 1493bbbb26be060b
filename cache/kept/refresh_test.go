package kept_test

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"vitrine/cache/kept"
)

// targets returns the requests since the last call.
func (s *server) targets() (targets []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range s.all {
		targets = append(targets, r.Target)
	}
	s.all = nil
	return targets
}

// TestRefresh: what is stale or due and in demand is fetched in the order of the demand, in turn with what is warm.
func TestRefresh(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, func(o *kept.Options, r *kept.Rule) {
			o.Store, o.Poll, r.Connections = openStore(t).Responses(), time.Hour, 1
		})
		running(t, w)
		due := func() time.Time { return time.Now().Add(15 * time.Minute) }
		refresh := func(want kept.Run, keys ...string) {
			t.Helper()
			run, err := w.Refresh(t.Context(), w.rule, []string{"/portfolio/units", "/other", "/portfolio/unit/BIO"},
				kept.Pass{Due: due()})
			run.Began, run.Took = time.Time{}, 0
			if err != nil || run != want {
				t.Errorf("%+v %v, want %+v", run, err, want)
			}
			if got := w.server.targets(); fmt.Sprint(got) != fmt.Sprint(keys) {
				t.Errorf("fetched %v, want %v", got, keys)
			}
			if last := w.Status()[0].Last; last.Due != want.Due {
				t.Errorf("last run %+v", last)
			}
		}
		for i := range 3 {
			for range i + 1 {
				w.get(t, fmt.Sprintf("/portfolio/%d", i))
			}
		}
		w.server.targets()
		refresh(kept.Run{Due: 2, Fetched: 2, Changed: 2}, "/portfolio/units", "/portfolio/unit/BIO")
		refresh(kept.Run{})
		time.Sleep(time.Second)
		w.views.publish("activities")
		refresh(kept.Run{Due: 5, Fetched: 5, Confirmed: 5},
			"/portfolio/2", "/portfolio/units", "/portfolio/1", "/portfolio/0", "/portfolio/unit/BIO")
		w.server.version = 1
		time.Sleep(24*time.Hour - 10*time.Minute)
		w.want(t, "/portfolio/1", kept.Hit, 0) // the others were asked for before the last day
		w.server.answer = func(r kept.Request) (kept.Answer, error) {
			if r.Target == "/portfolio/units" {
				return kept.Answer{Status: 500}, nil
			}
			return jsonAnswer("{}"), nil
		}
		time.Sleep(15 * time.Minute)
		refresh(kept.Run{Due: 3, Fetched: 2, Changed: 2, Failed: 1},
			"/portfolio/1", "/portfolio/units", "/portfolio/unit/BIO")
		time.Sleep(8 * 24 * time.Hour)
		w.server.answer = nil
		refresh(kept.Run{Due: 2, Fetched: 2, Changed: 2, Removed: 3}, "/portfolio/units", "/portfolio/unit/BIO")
		if err := w.Adopt(nil); err != nil {
			t.Fatal(err)
		}
		if run, err := w.Refresh(t.Context(), w.rule, nil, kept.Pass{Due: due()}); err != nil || run.Removed != 2 ||
			len(w.Keys("/", true)) != 0 {
			t.Errorf("%+v %v", run, err)
		}
	})
}

// TestRefreshEnds: a run ends when the other server is down or its context ends.
func TestRefreshEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil)
		var warm []string
		for i := range 100 {
			warm = append(warm, fmt.Sprintf("/portfolio/%d", i))
		}
		w.server.answer = func(kept.Request) (kept.Answer, error) { return kept.Answer{}, errDown }
		run, err := w.Refresh(t.Context(), w.rule, warm, kept.Pass{Due: time.Now()})
		if !errors.Is(err, errDown) || run.Failed < 10 || run.Failed > 60 {
			t.Errorf("%+v %v", run, err)
		}
		w.server.answer, w.server.wait = nil, make(chan struct{})
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if run, err = w.Refresh(
			ctx, w.rule, warm, kept.Pass{Due: time.Now()},
		); !errors.Is(err, context.DeadlineExceeded) || run.Fetched != 0 {
			t.Errorf("%+v %v", run, err)
		}
		close(w.server.wait)
		synctest.Wait()
		if run, err = w.Refresh(t.Context(), w.rule, warm, kept.Pass{Due: time.Now()}); err != nil || run.Due != 50 {
			t.Errorf("%+v %v: what was fetched is due again", run, err)
		}
	})
}

// TestRefreshInParts: after a flood of requests a run has parts, and the warm keys do not wait for its end. What was
// requested in one part is not requested in the next, though it may be stale again.
func TestRefreshInParts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, func(_ *kept.Options, r *kept.Rule) { r.Rate, r.Connections, r.For = 20, 1, time.Minute })
		for i := range 600 {
			w.get(t, fmt.Sprintf("/portfolio/flood?limit=%d", i))
			time.Sleep(100 * time.Millisecond)
		}
		w.server.targets()
		time.Sleep(time.Minute)
		warm := []string{"/portfolio/units", "/portfolio/unit/BIO"}
		p := kept.Pass{Began: time.Now(), Due: time.Now().Add(15 * time.Minute)}
		seen := map[string]int{}
		for parts := 1; ; parts++ {
			p.End = time.Now().Add(30 * time.Second)
			run, err := w.Refresh(t.Context(), w.rule, warm, p)
			if err != nil || time.Now().After(p.End.Add(time.Second)) {
				t.Fatalf("%+v %v, ended %v late", run, err, time.Since(p.End))
			}
			for _, target := range w.server.targets() {
				seen[target]++
			}
			if parts == 1 && (run.Left < 200 || seen[warm[0]] == 0 || seen[warm[1]] == 0) {
				t.Errorf("the first part: %+v, warm ones %d and %d", run, seen[warm[0]], seen[warm[1]])
			}
			if run.Left == 0 {
				if run.Due != 602 || run.Fetched != 602 || len(seen) != 602 || parts < 3 {
					t.Errorf("%d parts: %+v, %d requested", parts, run, len(seen))
				}
				break
			}
		}
		for target, n := range seen {
			if n > 1 {
				t.Errorf("%s requested %d times", target, n)
			}
		}
	})
}

// TestRefreshPace: a run has half of the rate, and leaves connections to clients.
func TestRefreshPace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, func(_ *kept.Options, r *kept.Rule) { r.Rate, r.Connections = 10, 4 })
		var warm []string
		for i := range 100 {
			warm = append(warm, fmt.Sprintf("/portfolio/%d", i))
		}
		began := time.Now()
		if run, err := w.Refresh(t.Context(), w.rule, warm, kept.Pass{Due: time.Now()}); err != nil ||
			run.Changed != 100 {
			t.Errorf("%+v %v", run, err)
		}
		if took := time.Since(began); took < 19*time.Second || took > 21*time.Second {
			t.Errorf("took %v", took)
		}
		w.server.set(func(s *server) { s.wait = make(chan struct{}) })
		go func() {
			_, _ = w.Refresh(t.Context(), w.rule, []string{"/portfolio/a", "/portfolio/b", "/portfolio/c"},
				kept.Pass{Due: time.Now()})
		}()
		time.Sleep(time.Minute / 2)
		if n := len(w.server.targets()); n != 102 {
			t.Errorf("%d requests, want 2 at a time", n-100)
		}
		for i := range 2 {
			go func() { _, _ = w.Get(t.Context(), client, w.rule, fmt.Sprintf("/portfolio/client/%d", i)) }()
		}
		synctest.Wait()
		if n := len(w.server.targets()); n != 2 {
			t.Errorf("%d requests for clients while a run waits", n)
		}
		close(w.server.wait)
	})
}

// TestBudget: a flood of keys costs no more than the budget, and does not displace what is asked for.
func TestBudget(t *testing.T) {
	for name, shared := range map[string]bool{"alone": false, "with a store": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				const budget = 100 * 4096
				w := newWorld(t, func(o *kept.Options, r *kept.Rule) {
					if r.Budget = budget; shared {
						o.Store = openStore(t).Responses()
					}
					o.Folder = t.TempDir()
				})
				for range 5 {
					w.get(t, bio)
				}
				if _, err := w.Refresh(t.Context(), w.rule, []string{"/portfolio/units"},
					kept.Pass{Due: time.Now()}); err != nil {
					t.Fatal(err)
				}
				for i := range 500 {
					flooding := netip.PrefixFrom(netip.AddrFrom4([4]byte{10, 0, byte(i >> 8), byte(i)}), 32)
					if _, err := w.Get(t.Context(), flooding, w.rule,
						fmt.Sprintf("/portfolio/flood/%d", i)); err != nil {
						t.Fatal(err)
					}
					synctest.Wait()
					if s := w.Status()[0]; s.Bytes > budget || s.Answers > 100 {
						t.Fatalf("after %d: %+v", i, s)
					}
				}
				w.want(t, bio, kept.Hit, 0)
				w.want(t, "/portfolio/units", kept.Hit, 0)
				w.want(t, "/portfolio/flood/499", kept.Hit, 0)
				if n := len(w.Keys("/", true)); n < 90 {
					t.Errorf("%d answers", n)
				}
			})
		})
	}
}

// TestBudgetOrder: what does not exist goes before what is hardly asked for, and what templates name goes last, also
// in a process that runs no refresh.
func TestBudgetOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, func(_ *kept.Options, r *kept.Rule) {
			r.Budget, r.Warm = 50*4096, []string{"/portfolio/units", "/portfolio/person/{persons._id}?lang=de"}
		})
		warm := []string{"/portfolio/units", "/portfolio/person/1?lang=de", "/portfolio/person/2?lang=de"}
		if _, err := w.Refresh(t.Context(), w.rule, warm, kept.Pass{Due: time.Now()}); err != nil {
			t.Fatal(err)
		}
		// as in a process that never had them
		if _, err := w.Refresh(t.Context(), w.rule, nil, kept.Pass{Due: time.Now()}); err != nil {
			t.Fatal(err)
		}
		var asked []string
		for i := range 20 {
			asked = append(asked, fmt.Sprintf("/portfolio/unit/%d", i))
			w.get(t, asked[i])
		}
		w.server.answer = func(r kept.Request) (kept.Answer, error) { return jsonAnswer(`{"status":404}`), nil }
		for i := range 200 {
			w.get(t, fmt.Sprintf("/portfolio/person/flood%d?lang=de", i))
			synctest.Wait()
		}
		for _, key := range append(asked, warm...) {
			if w.Peek(key) == nil {
				t.Errorf("%s was dropped", key)
			}
		}
		w.server.answer = nil
		for i := range 200 {
			w.get(t, fmt.Sprintf("/portfolio/list?limit=%d", i))
			synctest.Wait()
		}
		for _, key := range warm {
			if w.Peek(key) == nil {
				t.Errorf("%s was dropped", key)
			}
		}
		if s := w.Status()[0]; s.Bytes > 50*4096 || s.Answers < 40 {
			t.Errorf("%+v", s)
		}
	})
}

// TestMetrics: labels are the names of rules, and two keepers do not share a registry.
func TestMetrics(t *testing.T) {
	registry := prometheus.NewPedanticRegistry()
	w := newWorld(t, func(o *kept.Options, _ *kept.Rule) { o.Metrics = registry })
	w.want(t, bio, kept.Fetched, 0)
	w.want(t, bio, kept.Hit, 0)
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, family := range families {
		for _, m := range family.GetMetric() {
			var labels []string
			for _, label := range m.GetLabel() {
				labels = append(labels, label.GetValue())
			}
			value := m.GetCounter().GetValue() + m.GetGauge().GetValue() + float64(m.GetHistogram().GetSampleCount())
			got = append(got, fmt.Sprint(strings.TrimPrefix(family.GetName(), "vitrine_upstream_kept_"),
				" ", labels, " ", value))
		}
	}
	const want = `answer_bytes [/portfolio/] 4096
answers [/portfolio/] 1
failures_total [/portfolio/] 0
fetch_seconds [/portfolio/] 1
requests_total [hit /portfolio/] 1
requests_total [miss /portfolio/] 1
requests_total [stale /portfolio/] 0
stale [/portfolio/] 0`
	if strings.Join(got, "\n") != want {
		t.Errorf("metrics %s", strings.Join(got, "\n"))
	}
	if _, err := kept.New(kept.Options{Fetch: w.server.fetch, Views: w.views.all, Metrics: registry}); err == nil {
		t.Error("two keepers share a registry")
	}
}
