package kept

import (
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"vitrine/cache/origin"
	"vitrine/cmd/vitrine/programtest"
	"vitrine/proxy/proxytest/osiristest"
)

// Limits of the rule that is flooded.
const (
	floodRate   = 40        // requests a second
	floodBudget = 256 << 10 // bytes; each answer counts as 4 KiB at least

	floodWorkers = 32 // of which each has one request under way
)

// TestKeptFlooded: however many parameters, ids, hosts and headers a flood has, the old server gets no more requests
// than the rule's rate, and no more answers are kept than its budget holds. Meanwhile and afterwards the portal's
// pages are served.
func TestKeptFlooded(t *testing.T) {
	programtest.WholeOnly(t)
	t.Parallel()
	limits := fmt.Sprintf("rate: %d\n      budget: %d", floodRate, floodBudget)
	p := newPortal(t, strings.Replace(keepAll, "rate: 1000", limits, 1))
	programtest.Setenv(p.dir, "VITRINE_LIMITS_RATE", "0") // the flood comes from many addresses
	s := p.start()
	want := p.rights()
	for target, body := range want {
		programtest.Await(t, target+" is kept", func() string {
			_, got := s.Get(target)
			return programtest.Unless(got == body)
		})
	}
	p.old.Forget()
	var flood sync.WaitGroup
	var statuses [600]atomic.Int64
	var n atomic.Int64
	over := make(chan struct{})
	began := time.Now()
	for worker := range floodWorkers {
		flood.Go(func() {
			from := &http.Transport{DialContext: (&net.Dialer{
				LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, byte(worker), 2)},
			}).DialContext}
			defer from.CloseIdleConnections()
			for {
				select {
				case <-over:
					return
				default:
				}
				statuses[p.bother(s, from, n.Add(1))].Add(1)
			}
		})
	}
	for range 8 {
		p.visit(s, want)
		<-time.After(time.Second)
	}
	close(over)
	flood.Wait()
	p.visit(s, want)
	requests := p.old.Requests()
	// A second's rate at once, and that of the whole time.
	if most := floodRate * (1 + time.Since(began).Seconds()); float64(len(requests)) > most {
		t.Errorf("%d requests in %v", len(requests), time.Since(began))
	}
	for i := range requests {
		within := 0
		for _, r := range requests[i:] {
			if r.Time.Sub(requests[i].Time) < time.Second {
				within++
			}
		}
		// A second's rate at once, and that of the second itself. If a process has not run for a while, the requests
		// that are under way arrive late: each worker's, and one for the pages.
		if within > 2*floodRate+floodWorkers+1 {
			t.Fatalf("%d requests within a second, of %d", within, len(requests))
		}
	}
	for status := range statuses {
		if n := statuses[status].Load(); n > 0 {
			t.Logf("status %d: %d requests", status, n)
		}
	}
	t.Logf("%d requests, %d reached the old server", n.Load(), len(requests))
	if code := s.Stop(); code != 0 {
		t.Errorf("exit code %d\n%s", code, s.Log())
	}
	programtest.WithStore(t, p.uri, func(store origin.Store) {
		answers, bytes := 0, 0
		responses, _, err := store.Responses().Changes(t.Context(), 0)
		if err != nil {
			t.Fatal(err)
		}
		for r, err := range responses {
			if err != nil {
				t.Fatal(err)
			}
			if r.Status != 0 {
				answers, bytes = answers+1, bytes+max(r.Size, 4<<10)
			}
		}
		if t.Logf("%d answers, %d bytes", answers, bytes); bytes > floodBudget {
			t.Errorf("%d answers with %d bytes are kept, the budget is %d", answers, bytes, floodBudget)
		}
	})
}

// bother sends one request of the flood, and returns its status.
func (p *portal) bother(s *programtest.Server, from *http.Transport, n int64) (status int) {
	target, host := "", ""
	header := http.Header{}
	switch n % 6 {
	case 0:
		target = fmt.Sprintf("/portfolio/units?x%d=%d", n, n)
	case 1:
		target = fmt.Sprintf("/portfolio/persons?limit=%d", n)
	case 2:
		target = fmt.Sprintf("/portfolio/unit/none%d", n)
	case 3:
		target = fmt.Sprintf("/portfolio/none%d/none", n)
	case 4:
		target, host = "/portfolio/units", fmt.Sprintf("h%d.example.org", n)
	case 5:
		target = "/portfolio/unit/" + osiristest.Unit
		header.Set("Accept-Language", fmt.Sprint("x-", n))
		header.Set("X-Any", fmt.Sprint(n))
		header.Set("Accept", fmt.Sprintf("application/x%d, */*", n))
	}
	req := programtest.NewRequest(s.Base + target)
	req.Header = header
	req.Host = host
	res, err := from.RoundTrip(req)
	if err != nil {
		p.t.Error(err)
		return 0
	}
	_ = res.Body.Close()
	return res.StatusCode
}
