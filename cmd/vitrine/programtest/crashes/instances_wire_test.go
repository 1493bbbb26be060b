package crashes

import (
	"context"
	"io"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"vitrine/cmd/vitrine/programtest"
)

// TestManyInstances: three front ends and two instances that materialize share one store. After
// each of several changes, and after the instance that made them was killed, all serve the same
// generation of every view and the same bytes under the same tags.
func TestManyInstances(t *testing.T) {
	t.Parallel()
	g := newGroup(t, stamped{activities: 40})
	builders := []*programtest.Server{g.instance(), g.instance()}
	all := slices.Clone(builders)
	for range 3 {
		all = append(all, g.instance("--no-materialize"))
	}
	g.converged(all...)
	g.alike(all)
	for range 2 {
		began := time.Now()
		g.advance()
		g.refresh(builders...)
		g.rested(began)
		g.converged(all...)
		g.alike(all)
	}
	var leader *programtest.Server
	wake := func() {}
	g.until("an instance has the lease", func() bool {
		wake()
		wake = g.still()
		leader = g.holder(builders...)
		return leader != nil
	})
	// Both are still paused: if the other one had the lease already, it would not run jobs when the leader is killed.
	g.advance()
	leader.Kill()
	wake()
	all = slices.DeleteFunc(all, func(s *programtest.Server) bool { return s == leader })
	builders = slices.DeleteFunc(builders, func(s *programtest.Server) bool { return s == leader })
	g.led(builders...)
	g.converged(all...)
	g.alike(all)
}

// alike waits until all instances are at the store's generations, and compares all of their
// answers, in every coding.
func (g *group) alike(all []*programtest.Server) {
	g.t.Helper()
	for _, s := range all[1:] {
		g.until("all are at the same generations", func() bool { return s.Generations() == all[0].Generations() })
	}
	differ, answers := 0, 0
	for _, q := range g.institute.questions() {
		for _, coding := range []string{"identity", "gzip", "br", "zstd"} {
			var first, tag string
			for i, s := range all {
				res, body := programtest.GetEncoded(g.t, s.Base+q.path, coding)
				answers++
				if i == 0 {
					first, tag = body, res.Header.Get("ETag")
				}
				if res.StatusCode != http.StatusOK || body != first || res.Header.Get("ETag") != tag || tag == "" {
					differ++
					g.t.Errorf("%s, %s: instance %d answers %s, %d bytes, tag %s; the first %d bytes, tag %s",
						q.path, coding, i, res.Status, len(body), res.Header.Get("ETag"), len(first), tag)
				}
			}
		}
	}
	g.t.Logf("round %d: %d answers of %d instances compared, %d differ", g.round, answers, len(all), differ)
}

// TestRollingRestart restarts three front ends one after the other, under load and while the views
// change. The balancer loses no request and sends none twice, and every answer is whole.
func TestRollingRestart(t *testing.T) {
	t.Parallel()
	g := newGroup(t, stamped{activities: 40})
	builder := g.instance()
	var fronts []*programtest.Server
	for range 3 {
		fronts = append(fronts, g.instance("--no-materialize"))
	}
	g.converged(fronts...)
	b := newBalancer(t, fronts...)
	g.until("all are ready", func() bool {
		return !slices.ContainsFunc(b.backends, func(back *backend) bool { return !back.ready.Load() })
	})
	ctx, stop := context.WithCancel(t.Context())
	var load sync.WaitGroup
	var answered atomic.Int64
	for range 6 {
		load.Go(func() {
			client := &http.Client{Transport: &http.Transport{}}
			defer client.CloseIdleConnections()
			for ctx.Err() == nil && !t.Failed() {
				for _, q := range g.institute.questions() {
					res, err := client.Get(b.URL + q.path)
					if err != nil {
						t.Errorf("%s: %v", q.path, err)
						return
					}
					body, err := io.ReadAll(res.Body)
					_ = res.Body.Close()
					if err == nil && res.StatusCode == http.StatusOK {
						_, err = q.check(g.institute, body)
					}
					if err != nil || res.StatusCode != http.StatusOK {
						t.Errorf("%s: %s: %v", q.path, res.Status, err)
						return
					}
					answered.Add(1)
					<-time.After(5 * time.Millisecond) // a steady load that leaves the machine some time
				}
			}
		})
	}
	rolls := programtest.CrashRounds(t, programtest.WireCrashesEnv, 3)
	for i := range rolls {
		began := time.Now()
		g.advance()
		g.refresh(builder)
		b.leaves(fronts[i%3], shutdownDelay)
		if code := fronts[i%3].Stop(); code != 0 {
			t.Errorf("exit code %d\n%s", code, fronts[i%3].Log())
		}
		fronts[i%3] = g.instance("--no-materialize")
		b.add(fronts[i%3])
		g.rested(began)
	}
	stop()
	load.Wait()
	if n := b.resent.Load(); n > 0 {
		t.Errorf("the balancer sent %d requests twice", n)
	}
	t.Logf("%d restarts: %d requests answered, none lost; %d connections refused before anything was sent, "+
		"%d sent late", rolls, answered.Load(), b.refused.Load(), b.late.Load())
}
