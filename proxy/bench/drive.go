package bench

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/valyala/fasthttp"
)

// sample is what one driver saw of one target in one round.
type sample struct {
	requests  int
	elapsed   time.Duration
	latencies []time.Duration // sorted
}

// rate returns requests per second.
func (s sample) rate() float64 { return float64(s.requests) / s.elapsed.Seconds() }

// quantile returns the latency that the share q of requests stayed within.
func (s sample) quantile(q float64) time.Duration {
	if len(s.latencies) == 0 {
		return 0
	}
	return s.latencies[min(int(q*float64(len(s.latencies))), len(s.latencies)-1)]
}

// driver asks one target for one case; its count of requests goes on from round
// to round.
type driver struct {
	addr string
	c    Case
	sent atomic.Int64
}

// drive sends requests over conns kept-alive connections, each connection one
// after the other, until the time is up. Any answer but 200 is an error.
func (t *driver) drive(ctx context.Context, conns int, d time.Duration) (sample, error) {
	client := &fasthttp.HostClient{Addr: t.addr, MaxConns: conns, ReadBufferSize: 64 << 10, ReadTimeout: time.Minute}
	defer client.CloseIdleConnections()
	ctx, cancel := context.WithTimeout(ctx, d)
	defer cancel()
	parts, errs := make([][]time.Duration, conns), make([]error, conns)
	began := time.Now()
	var wg sync.WaitGroup
	for i := range conns {
		wg.Go(func() { parts[i], errs[i] = t.driveOne(ctx, client) })
	}
	wg.Wait()
	s := sample{elapsed: time.Since(began), latencies: slices.Concat(parts...)}
	s.requests = len(s.latencies)
	slices.Sort(s.latencies)
	return s, errors.Join(errs...)
}

func (t *driver) driveOne(ctx context.Context, client *fasthttp.HostClient) ([]time.Duration, error) {
	req, res := fasthttp.AcquireRequest(), fasthttp.AcquireResponse()
	defer fasthttp.ReleaseRequest(req)
	defer fasthttp.ReleaseResponse(res)
	for name, value := range t.c.Header {
		req.Header.Set(name, value)
	}
	var latencies []time.Duration
	for ctx.Err() == nil {
		req.SetRequestURI("http://" + t.addr + t.c.Path(t.sent.Add(1)))
		began := time.Now()
		if err := client.Do(req, res); err != nil {
			return latencies, fmt.Errorf("GET %s: %w", req.URI(), err)
		}
		if res.StatusCode() != fasthttp.StatusOK {
			return latencies, fmt.Errorf("GET %s: status %d: %.200s", req.URI(), res.StatusCode(), res.Body())
		}
		latencies = append(latencies, time.Since(began))
	}
	return latencies, nil
}
