package bench

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"sync/atomic"
	"time"

	"github.com/valyala/fasthttp"
	"golang.org/x/sync/errgroup"
)

// task says which requests to send to a server, and for how long.
//
// Without Rate a connection sends its next request when it has the answer to the last: that measures how much a
// server can do. With Rate requests fall due by the clock: that measures how long clients wait.
type task struct {
	Paths    []string          // with their queries, requested in this order
	Once     bool              // end the task when all paths were requested; otherwise start over
	Header   map[string]string // headers of every request
	Status   int               // expected status; 0 means 200
	Conns    int               // concurrent connections, each with one request after another; 0 means 1
	Duration time.Duration
	Rate     int // if not 0, how many requests fall due per second, whether or not earlier ones are answered
	// Crowd: the requests only keep the server busy. Those with another status do not count, and when the task ends
	// the clients leave without reading the rest.
	Crowd bool
}

// sample is the result of a task. Took has the requests of all connections in no order; quantile sorts it.
type sample struct {
	Elapsed, Processor time.Duration   // Processor is the server's user and system time
	Took               []time.Duration // by the requests
	Bytes              int64           // bytes of all bodies
	Hits               int             // answers that came from the front end's result cache
}

const (
	streamedFrom = 64 << 10  // longer bodies, in bytes, are streamed, not held in memory whole
	readSize     = 256 << 10 // how much of a streamed body is read at once, in bytes

	dialTime = time.Minute // for a connection: a machine that is busy may need more than fasthttp's 3 s
)

// drive performs a task on a child's server until its paths, its duration or ctx end. It sends at least one request,
// even if the duration passes before that on a busy machine. A response with another status is an error.
//
// Processor time is read before and after, so what the child does between two tasks is not in it. One client has
// exactly as many connections as goroutines use, so no request waits for one.
func drive(ctx context.Context, c *child, t task) (sample, error) {
	if len(t.Paths) == 0 {
		return sample{}, errors.New("a task without paths")
	}
	ctx, cancel := context.WithTimeout(ctx, t.Duration)
	defer cancel()
	t.Conns, t.Status = max(t.Conns, 1), max(t.Status, fasthttp.StatusOK)
	client := &fasthttp.HostClient{
		Addr: c.addr, MaxConns: t.Conns, ReadBufferSize: 64 << 10, StreamResponseBody: true,
		MaxResponseBodySize: streamedFrom,
		ReadTimeout:         5 * time.Minute, MaxIdleConnDuration: time.Minute,
	}
	client.Dial = func(addr string) (net.Conn, error) {
		conn, err := fasthttp.DialTimeout(addr, dialTime)
		if err == nil && t.Crowd {
			context.AfterFunc(ctx, func() { _ = conn.Close() })
		}
		return conn, err
	}
	defer client.CloseIdleConnections()
	var group errgroup.Group
	var asked atomic.Int64 // requests that have begun
	used, began, samples := c.processorTime(), time.Now(), make([]sample, t.Conns)
	for i := range samples {
		group.Go(func() error { return samples[i].run(ctx, client, t, began, &asked) })
	}
	err := group.Wait()
	all := sample{Elapsed: time.Since(began), Processor: c.processorTime() - used}
	for _, s := range samples {
		all.Took = append(all.Took, s.Took...)
		all.Bytes += s.Bytes
		all.Hits += s.Hits
	}
	return all, err
}

// run sends requests over one connection until ctx ends, the paths run out, or a request fails. A request in flight
// when ctx ends counts, because leaving it out would favour slow answers.
//
// The connections share the paths by a counter: each path is requested by the connection that is free first.
func (s *sample) run(ctx context.Context, client *fasthttp.HostClient, t task, start time.Time,
	asked *atomic.Int64) error {
	req, res := fasthttp.AcquireRequest(), fasthttp.AcquireResponse()
	defer fasthttp.ReleaseRequest(req)
	defer fasthttp.ReleaseResponse(res)
	for name, value := range t.Header {
		req.Header.Set(name, value)
	}
	last, buffer := "", make([]byte, readSize)
	for ctx.Err() == nil || asked.Load() == 0 {
		n := int(asked.Add(1) - 1)
		if t.Once && n >= len(t.Paths) {
			return nil
		}
		began := time.Now()
		if t.Rate > 0 {
			// A request that a stalled server delays counts from when it was due. A timer that fires a little late is
			// not the server's fault: such a request counts from now.
			due := start.Add(time.Duration(n) * time.Second / time.Duration(t.Rate))
			if due.Sub(start) > t.Duration {
				return nil
			}
			if began.Before(due) {
				time.Sleep(time.Until(due))
				due = time.Now()
			}
			began = due
		}
		if path := t.Paths[n%len(t.Paths)]; path != last {
			req.SetRequestURI("http://" + client.Addr + path)
			last = path
		}
		read, err := ask(client, req, res, t.Status, buffer)
		if t.Crowd && (err != nil && ctx.Err() != nil || res.StatusCode() != t.Status) {
			continue
		}
		if err != nil {
			return fmt.Errorf("GET %s: %w", req.URI(), err)
		}
		s.Took = append(s.Took, time.Since(began))
		s.Bytes += read
		if bytes.HasSuffix(res.Header.Peek("Cache-Status"), []byte("hit")) { // RFC 9211
			s.Hits++
		}
	}
	return nil
}

// ask sends a request, reads the answer to its end, and returns the length of its body. A body that is streamed is
// read with the caller's buffer, which all requests of a connection share.
func ask(client *fasthttp.HostClient, req *fasthttp.Request, res *fasthttp.Response, status int,
	buffer []byte) (n int64, err error) {
	if err := client.Do(req, res); err != nil {
		return 0, err
	}
	if res.StatusCode() != status {
		return 0, fmt.Errorf("status %d: %.200s", res.StatusCode(), res.Body())
	}
	if res.BodyStream() == nil {
		return int64(len(res.Body())), nil
	}
	// io.Discard alone would choose the size of the reads.
	n, err = io.CopyBuffer(struct{ io.Writer }{io.Discard}, res.BodyStream(), buffer)
	return n, errors.Join(err, res.CloseBodyStream())
}

// processor returns the server's processor time per request.
func (s sample) processor() time.Duration { return s.Processor / time.Duration(max(len(s.Took), 1)) }

// rate returns requests per second.
func (s sample) rate() float64 { return float64(len(s.Took)) / max(s.Elapsed.Seconds(), 1e-9) }

// quantile returns the duration that a share q of the requests did not exceed, or 0 without requests.
func (s sample) quantile(q float64) time.Duration {
	slices.Sort(s.Took)
	if n := len(s.Took); n > 0 {
		return s.Took[min(int(q*float64(n)), n-1)]
	}
	return 0
}
