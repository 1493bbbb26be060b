package bench

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync/atomic"
	"time"

	"github.com/valyala/fasthttp"
	"golang.org/x/sync/errgroup"
)

// task says what to ask a server, and for how long.
type task struct {
	Addr     string            // HOST:PORT
	Paths    []string          // with their queries, asked in this order
	Once     bool              // ends the task when all paths were asked; otherwise they are asked again and again
	Header   map[string]string // of every request
	Status   int               // of a right answer; 0 means 200
	Conns    int               // connections that ask at a time, each one request after another; 0 means 1
	Duration time.Duration
	Rate     int // if not 0, how many requests a second fall due, whether or not earlier ones are answered
}

// sample is the outcome of a task.
type sample struct {
	Began    time.Time
	Elapsed  time.Duration
	Requests []request
	Bytes    int64 // of all bodies
	Hits     int   // answers that came from the front end's result cache
}

// request is one request of a sample.
type request struct {
	At   time.Duration // when it began, or was due if it began late; after sample.Began
	Took time.Duration
}

const (
	prefetched = 64 << 10  // bodies that are longer, in bytes, are streamed, not held in memory whole
	readSize   = 256 << 10 // how much of a streamed body is read at once, in bytes
)

// driver is a task under way.
type driver struct {
	task
	client *fasthttp.HostClient
	began  time.Time
	asked  atomic.Int64 // requests that have begun
}

// drive does a task until its paths, its duration or ctx end. It asks once even if a busy machine
// lets the duration pass before. It is an error if an answer has another status.
func drive(ctx context.Context, t task) (sample, error) {
	if len(t.Paths) == 0 {
		return sample{}, errors.New("a task without paths")
	}
	d := &driver{task: t, began: time.Now()}
	if ctx.Err() != nil || t.Duration <= 0 {
		return sample{Began: d.began}, nil
	}
	ctx, cancel := context.WithTimeout(ctx, t.Duration)
	defer cancel()
	d.Conns, d.Status = max(t.Conns, 1), max(t.Status, fasthttp.StatusOK)
	d.client = &fasthttp.HostClient{
		Addr: t.Addr, MaxConns: d.Conns, ReadBufferSize: 64 << 10, StreamResponseBody: true, MaxResponseBodySize: prefetched,
		ReadTimeout: 5 * time.Minute, MaxIdleConnDuration: time.Minute,
	}
	defer d.client.CloseIdleConnections()
	var group errgroup.Group
	samples := make([]sample, d.Conns)
	for i := range samples {
		group.Go(func() error { return d.run(ctx, &samples[i]) })
	}
	err := group.Wait()
	all := sample{Began: d.began, Elapsed: time.Since(d.began)}
	for _, s := range samples {
		all.Requests = append(all.Requests, s.Requests...)
		all.Bytes += s.Bytes
		all.Hits += s.Hits
	}
	return all, err
}

// run asks over one connection at a time until ctx ends, the paths run out, or a request fails. A
// request in flight when ctx ends counts: leaving it out would favour slow answers.
func (d *driver) run(ctx context.Context, s *sample) error {
	req, res := fasthttp.AcquireRequest(), fasthttp.AcquireResponse()
	defer fasthttp.ReleaseRequest(req)
	defer fasthttp.ReleaseResponse(res)
	for name, value := range d.Header {
		req.Header.Set(name, value)
	}
	last, buffer := "", make([]byte, readSize)
	for ctx.Err() == nil || d.asked.Load() == 0 {
		n := int(d.asked.Add(1) - 1)
		if d.Once && n >= len(d.Paths) {
			return nil
		}
		began, ok := d.wait(ctx, n)
		if !ok {
			return nil
		}
		if path := d.Paths[n%len(d.Paths)]; path != last {
			req.SetRequestURI("http://" + d.Addr + path)
			last = path
		}
		read, err := d.ask(req, res, buffer)
		if err != nil {
			return fmt.Errorf("GET %s: %w", req.URI(), err)
		}
		s.Requests = append(s.Requests, request{At: began.Sub(d.began), Took: time.Since(began)})
		s.Bytes += read
		if bytes.HasSuffix(res.Header.Peek("Cache-Status"), []byte("hit")) { // RFC 9211
			s.Hits++
		}
	}
	return nil
}

// wait returns when the n-th request is due, and from when its time counts; false if ctx ends first.
// A request that a stalled server delays counts from when it was due. The timer wakes a worker a
// little late, which is not the server's fault: such a request counts from now.
func (d *driver) wait(ctx context.Context, n int) (began time.Time, ok bool) {
	if d.Rate == 0 {
		return time.Now(), true
	}
	due := d.began.Add(time.Duration(n) * time.Second / time.Duration(d.Rate))
	if left := time.Until(due); left >= 0 {
		err := pause(ctx, left)
		return time.Now(), err == nil
	}
	return due, true
}

// pause waits, unless ctx ends.
func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

// ask sends a request, reads the answer to its end, and returns the length of its body.
func (d *driver) ask(req *fasthttp.Request, res *fasthttp.Response, buffer []byte) (n int64, err error) {
	if err := d.client.Do(req, res); err != nil {
		return 0, err
	}
	if res.StatusCode() != d.Status {
		return 0, fmt.Errorf("status %d: %.200s", res.StatusCode(), res.Body())
	}
	if res.BodyStream() == nil {
		return int64(len(res.Body())), nil
	}
	// io.Discard alone would choose the size of the pieces.
	n, err = io.CopyBuffer(struct{ io.Writer }{io.Discard}, res.BodyStream(), buffer)
	return n, errors.Join(err, res.CloseBodyStream())
}

// rate returns requests per second.
func (s sample) rate() float64 { return float64(len(s.Requests)) / max(s.Elapsed.Seconds(), 1e-9) }

// mean returns the bytes of a body, on average.
func (s sample) mean() int64 { return s.Bytes / max(int64(len(s.Requests)), 1) }

// latencies returns the times of all requests.
func (s sample) latencies() latencies { return s.between(s.Began, s.Began.Add(1<<62)) }

// between returns the times of the requests that began, or were due, in a window.
func (s sample) between(from, to time.Time) (l latencies) {
	for _, r := range s.Requests {
		if at := s.Began.Add(r.At); !at.Before(from) && at.Before(to) {
			l = append(l, r.Took)
		}
	}
	slices.Sort(l)
	return l
}

// latencies are sorted.
type latencies []time.Duration

// quantile returns the time that the share q of the requests stayed within; 0 of none.
func (l latencies) quantile(q float64) time.Duration {
	if len(l) == 0 {
		return 0
	}
	return l[min(int(q*float64(len(l))), len(l)-1)]
}
