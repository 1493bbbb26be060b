// Package load asks a server, as fast as it answers or at a given rate, and measures
// every request.
//
// It knows nothing of what it asks: the paths come with the job, built before the
// time starts. It checks what an answer claims (status, Cache-Status), and reads it
// to the end, however long it is.
package load

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/valyala/fasthttp"
)

// Job is what to ask, and for how long.
type Job struct {
	Addr   string   // HOST:PORT
	Paths  []string // with their queries, asked in this order
	Once   bool     // end when all paths were asked; otherwise they are asked again and again
	Header map[string]string
	Status int // that answers must have; 0 means 200
	// Conns is how many connections ask at a time, each one request after another; 0 means 1.
	Conns    int
	Duration time.Duration
	// Rate, if not 0, is how many requests a second fall due, whether or not earlier
	// ones are answered. A request's time counts from when it was due, so that the
	// requests which a stalled server delays count as slow.
	Rate int
}

// Sample is the outcome of a job.
type Sample struct {
	Began    time.Time
	Elapsed  time.Duration
	Requests []Request
	Bytes    int64 // of all bodies
	Hits     int   // answers that came from the front end's result cache
	Misses   int   // answers that were computed
}

// Request is one request of a sample.
type Request struct {
	At   time.Duration // when it began, or was due if it began late; after Sample.Began
	Took time.Duration
}

// prefetched limits the bodies of known length that are read at once, in bytes.
// Longer ones are streamed; without this limit they would be held in memory whole.
const prefetched = 64 << 10

// Drive does a job until its paths, its duration or ctx end. It is an error if an
// answer is not as it must be.
func Drive(ctx context.Context, job Job) (Sample, error) {
	ctx, cancel := context.WithTimeout(ctx, job.Duration)
	defer cancel()
	job.Conns, job.Status = max(job.Conns, 1), max(job.Status, fasthttp.StatusOK)
	if job.Status == fasthttp.StatusOK && len(job.Paths) == 0 {
		return Sample{}, errors.New("load: a job without paths")
	}
	client := &fasthttp.HostClient{
		Addr: job.Addr, MaxConns: job.Conns, ReadBufferSize: 64 << 10,
		StreamResponseBody: true, MaxResponseBodySize: prefetched,
		ReadTimeout: 5 * time.Minute, MaxIdleConnDuration: time.Minute,
	}
	defer client.CloseIdleConnections()
	workers, errs := make([]worker, job.Conns), make([]error, job.Conns)
	t := ticket{paths: job.Paths, once: job.Once, began: time.Now(), rate: job.Rate}
	var wg sync.WaitGroup
	for i := range workers {
		workers[i] = worker{client: client, job: &job, t: &t}
		wg.Go(func() { errs[i] = workers[i].run(ctx) })
	}
	wg.Wait()
	s := Sample{Began: t.began, Elapsed: time.Since(t.began)}
	for _, w := range workers {
		s.Requests = append(s.Requests, w.requests...)
		s.Bytes += w.bytes
		s.Hits += w.hits
		s.Misses += w.misses
	}
	return s, errors.Join(errs...)
}

// ticket hands out what to ask next, and when. It is safe for concurrent use.
type ticket struct {
	paths []string
	once  bool
	began time.Time
	rate  int
	drawn atomic.Int64
}

// next returns the next path and when it is due; the zero time means now.
func (t *ticket) next() (path string, due time.Time, ok bool) {
	n := t.drawn.Add(1) - 1
	if t.once && n >= int64(len(t.paths)) {
		return "", due, false
	}
	if t.rate > 0 {
		due = t.began.Add(time.Duration(n) * time.Second / time.Duration(t.rate))
	}
	return t.paths[n%int64(len(t.paths))], due, true
}

// wait returns at the time, or at once if that is past or zero, and tells whether ctx
// is still running then.
func wait(ctx context.Context, at time.Time) bool {
	left := time.Until(at)
	if left <= 0 {
		return ctx.Err() == nil
	}
	timer := time.NewTimer(left)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}

// headerCacheStatus tells where an answer came from (RFC 9211).
const headerCacheStatus = "Cache-Status"

// worker asks over one connection at a time.
type worker struct {
	client *fasthttp.HostClient
	job    *Job
	t      *ticket

	requests []Request
	bytes    int64
	hits     int
	misses   int
	buffer   []byte
}

// run asks until ctx ends, the tickets run out, or a request fails. A request in
// flight when ctx ends is finished and counted: leaving it out would favour slow
// answers.
func (w *worker) run(ctx context.Context) error {
	req, res := fasthttp.AcquireRequest(), fasthttp.AcquireResponse()
	defer fasthttp.ReleaseRequest(req)
	defer fasthttp.ReleaseResponse(res)
	for name, value := range w.job.Header {
		req.Header.Set(name, value)
	}
	w.buffer = make([]byte, 256<<10)
	asked := ""
	for ctx.Err() == nil {
		path, due, ok := w.t.next()
		if !ok {
			return nil
		}
		// The timer wakes a worker a little late, which is not the server's fault: such a
		// request counts from now. A worker that comes late was delayed by the server.
		late := !due.IsZero() && time.Now().After(due)
		if !late && !wait(ctx, due) {
			return nil
		}
		if path != asked {
			req.SetRequestURI("http://" + w.job.Addr + path)
			asked = path
		}
		began := time.Now()
		if !late {
			due = began
		}
		if err := w.ask(req, res); err != nil {
			return err
		}
		w.requests = append(w.requests, Request{At: due.Sub(w.t.began), Took: time.Since(due)})
	}
	return nil
}

// ask sends a request and reads the answer to its end.
func (w *worker) ask(req *fasthttp.Request, res *fasthttp.Response) error {
	if err := w.client.Do(req, res); err != nil {
		return fmt.Errorf("GET %s: %w", req.URI(), err)
	}
	n, err := w.read(res)
	if err != nil {
		return fmt.Errorf("GET %s: body: %w", req.URI(), err)
	}
	if res.StatusCode() != w.job.Status {
		return fmt.Errorf("GET %s: status %d: %.200s", req.URI(), res.StatusCode(), w.buffer[:min(n, int64(len(w.buffer)))])
	}
	w.bytes += n
	switch status := res.Header.Peek(headerCacheStatus); {
	case bytes.HasSuffix(status, []byte("hit")):
		w.hits++
	case len(status) > 0:
		w.misses++
	}
	return nil
}

// read reads a body to its end and returns its length; what comes first is left in
// the worker's buffer.
func (w *worker) read(res *fasthttp.Response) (n int64, err error) {
	stream := res.BodyStream()
	if stream == nil {
		body := res.Body()
		copy(w.buffer, body)
		return int64(len(body)), nil
	}
	for err == nil {
		var got int
		got, err = stream.Read(w.buffer)
		n += int64(got)
	}
	if err != io.EOF {
		_ = res.CloseBodyStream() // the first error says more
		return n, err
	}
	return n, res.CloseBodyStream()
}
