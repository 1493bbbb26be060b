// Package load asks a front end, as fast as it answers or at a given pace, and
// takes the time of every request. It runs in a process of its own, so that the
// front end's processor time and memory are the front end's alone.
//
// A driver knows nothing of what it asks: the paths come with the job, spelled
// before the time starts. It checks what an answer claims (status, Cache-Status),
// and reads it to the end, however long it is.
package load

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/valyala/fasthttp"
)

// Job is what to ask, and for how long.
type Job struct {
	Addr   string   // HOST:PORT
	Paths  []string // with their queries, asked in this order
	Once   bool     // end when all paths were asked; otherwise they are asked over and over
	Header map[string]string
	Status int // that answers must have; 0 means 200
	// Conns is how many connections ask at a time, each one request after another; 0 means 1.
	Conns    int
	Duration time.Duration
	// Rate, if not 0, is how many requests a second fall due, whether or not earlier
	// ones are answered: a request's time counts from when it was due, so that a
	// stalled server cannot hide behind the questions it kept from being asked.
	Rate int
}

// Sample is what came of a job.
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

// Driver is the service of a driving process.
type Driver struct {
	mu   sync.Mutex
	stop context.CancelFunc // of the job under way
}

// prefetched is how long a body of known length may be, in bytes, to be read at once.
// Longer ones are read as they come; without this limit they would be held whole.
const prefetched = 64 << 10

// errBusy: a driver does one job at a time.
var errBusy = errors.New("load: a job is under way")

// Drive does a job. It is an error if any answer is not as it must be.
func (d *Driver) Drive(job Job, reply *Sample) error {
	ctx, cancel := context.WithTimeout(context.Background(), job.Duration)
	defer cancel()
	if !d.begin(cancel) {
		return errBusy
	}
	defer d.end()
	s, err := drive(ctx, job)
	*reply = s
	return err
}

// Stop ends the job under way before its time.
func (d *Driver) Stop(_ struct{}, _ *struct{}) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.stop != nil {
		d.stop()
	}
	return nil
}

func (d *Driver) begin(stop context.CancelFunc) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.stop != nil {
		return false
	}
	d.stop = stop
	return true
}

func (d *Driver) end() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.stop = nil
}

// drive does a job until ctx ends or its paths do.
func drive(ctx context.Context, job Job) (Sample, error) {
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
	slices.SortFunc(s.Requests, func(a, b Request) int { return int(a.At - b.At) })
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
