package load

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"time"

	"github.com/valyala/fasthttp"
)

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

// run asks until ctx ends, tickets run out, or something goes wrong. A request
// under way when ctx ends is finished and counted: leaving it out would favour
// slow answers.
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
		// A worker that was there in time is woken a little late by its timer: that is
		// none of the server's time. One that comes late was held up by the server.
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
