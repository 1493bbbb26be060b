package response_test

import (
	"fmt"
	"io"
	"net/http"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"vitrine/proxy/proxytest"
)

// TestExportsBesideHits: 32 clients read exports as fast as they can. Meanwhile the server answers
// cached requests from memory. The exports run in costly turns, whose slices are short and end with
// a pause while others ask, and only a few slices pass while a client asks and waits. The test logs
// how long the answers took.
func TestExportsBesideHits(t *testing.T) {
	rows, long := 2_000, proxytest.HostileFor(t, 300*time.Millisecond)
	if !testing.Short() {
		rows = 7_500
	}
	l := serveExports(t, rows, 64<<10, 0, proxytest.Listen(t))
	const hot = "/lists/activities.html?limit=5"
	for l.Get(hot).Header.Get("Cache-Status") != "vitrine; hit" {
	}
	var n atomic.Int64
	for _, target := range exports {
		l.Get(fmt.Sprintf(target, 0)) // derives the data that it needs
		if !testing.Short() {         // builds of exports, too, take long in the race detector
			most := 4 * time.Millisecond * time.Duration(runtime.GOMAXPROCS(0))
			slice := sliceOf(t, l, func() string { return fmt.Sprintf(target, n.Add(1)) })
			t.Logf("%s: %v of processor time a slice", target, slice)
			if slice > most {
				t.Errorf("%s: %v of processor time a slice, want at most %v", target, slice, most)
			}
		}
		stop := make(chan struct{})
		var clients sync.WaitGroup
		var read atomic.Int64
		began := time.Now()
		for range 32 {
			clients.Go(func() {
				readExports(t, l, func() string { return fmt.Sprintf(target, n.Add(1)) }, stop, &read)
			})
		}
		hits, asked := 0, 0
		s := stretches{l: l, long: long, began: began, before: turnsSince(l, turns{})}
		all := latencies(l, stop, hot, 0, func(res proxytest.Response) {
			asked++
			if res.Header.Get("Cache-Status") == "vitrine; hit" {
				hits++
			}
			if s.answered() {
				close(stop)
			}
		})
		took := time.Since(began)
		clients.Wait()
		t.Logf("%s: %+v during %d answers, the last of %d stretches", target, s.did, s.asked, s.judged)
		t.Logf("%s: p50 %v, p99 %v of %d answers; %.0f MB/s",
			target, percentile(all, 50), percentile(all, 99), len(all), float64(read.Load())/took.Seconds()/1e6)
		if hits < asked {
			t.Errorf("%s: %d of %d answers from memory", target, hits, asked)
		}
		if s.fault != "" {
			t.Errorf("%s: in none of %d stretches it is otherwise: %s", target, s.judged, s.fault)
		}
	}
}

// sliceOf returns how much processor time the process uses for a slice of an export while no other client has
// requests. A slice ends when the work next looks at the clock, so that it is short on a busy machine, too, and the
// last one of an export when that ends.
func sliceOf(t *testing.T, l *proxytest.Live, target func() string) time.Duration {
	const least = 50
	client := &http.Client{Transport: &http.Transport{DisableCompression: true}}
	defer client.CloseIdleConnections()
	slices, used, before := 0, time.Duration(0), turnsSince(l, turns{})
	for asked := 1; slices < least; asked++ {
		began := processorTime()
		res, err := client.Get("http://" + l.Addr + target())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.Copy(io.Discard, res.Body); err != nil || res.StatusCode != http.StatusOK {
			t.Fatalf("%s: %s, %v", res.Request.URL, res.Status, err)
		}
		res.Body.Close()
		used += processorTime() - began
		did := turnsSince(l, before)
		slices = did.ordinary + did.costly + asked
	}
	return used / time.Duration(slices)
}

// readExports reads exports, one after the other, until it is stopped.
func readExports(t *testing.T, l *proxytest.Live, target func() string, stop <-chan struct{}, read *atomic.Int64) {
	client := &http.Client{Transport: &http.Transport{DisableCompression: true}}
	defer client.CloseIdleConnections()
	for ended := false; !ended; {
		res, err := client.Get("http://" + l.Addr + target())
		if err != nil {
			t.Error(err)
			return
		}
		for buf := make([]byte, 32<<10); err == nil && !ended; {
			var got int
			got, err = res.Body.Read(buf)
			read.Add(int64(got))
			select {
			case <-stop:
				ended = true
			default:
			}
		}
		res.Body.Close()
		if res.StatusCode != http.StatusOK || err != nil && err != io.EOF {
			t.Errorf("%s: %s, %v", res.Request.URL, res.Status, err)
			return
		}
	}
}

// stretches judges what exports do beside a client that asks all the time: what the test wants must
// hold for a stretch of answers. In another one the system may not run this client for long, and
// what the exports do then says nothing.
type stretches struct {
	l      *proxytest.Live
	long   time.Duration // that each takes at least
	began  time.Time
	before turns

	asked, judged int
	did           turns
	fault         string // of the last one; empty if it has none
}

// answered counts an answer, and reports whether there is nothing more to judge.
func (s *stretches) answered() (done bool) {
	const answers, slices, most = 100, 50, 40
	if s.asked++; s.asked%answers > 0 || time.Since(s.began) < s.long {
		return false
	}
	if s.did = turnsSince(s.l, s.before); s.did.costly < slices {
		return false
	}
	s.judged++
	s.fault = ""
	switch processors := runtime.GOMAXPROCS(0); {
	case testing.Short(): // the race detector makes everything else slow
	case s.did.ordinary > s.did.costly:
		s.fault = fmt.Sprintf("%+v, want most slices in costly turns", s.did)
	case 4*s.did.pauses < 3*s.did.costly:
		s.fault = fmt.Sprintf("%+v, want a pause after each slice", s.did)
	// as one processor may do one before it reads the request, and one after
	case s.did.costly > (processors+1)*s.asked:
		s.fault = fmt.Sprintf("%d slices during %d answers, want about one an answer and processor", s.did.costly,
			s.asked)
	}
	if s.fault == "" || s.judged == most {
		return true
	}
	s.asked, s.began, s.before = 0, time.Now(), turnsSince(s.l, turns{})
	return false
}
