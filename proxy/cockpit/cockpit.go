// Package cockpit serves the operator's page and the stream of events that the page shows.
//
// The page (folder page) needs no build tools and loads nothing from elsewhere. It reads one stream: every two
// seconds an event with the state that Options.State returns, all metrics, the runs of jobs in the last day, the
// requests that failed in the last hour, and the last warnings of the log. The page itself remembers the figures of
// the last minutes.
//
// A stream is an io.Reader that waits until its next event is due. So it needs no goroutine of its own: it ends with
// the connection that sends it, or with Close. Streams that are open at the same time share their events.
package cockpit

import (
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

const (
	every       = 2 * time.Second // between events
	mostStreams = 8               // open at the same time
)

// Policy is the Content-Security-Policy of the page.
const Policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

//go:embed page
var files embed.FS

// mediaTypes are named here, because those of package mime depend on files of the system.
var mediaTypes = map[string]string{
	".html": "text/html; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8",
	".svg": "image/svg+xml",
}

// File returns a file of the page with its media type: cockpit.html and what it loads. ok is false if there is none.
func File(name string) (body []byte, mediaType string, ok bool) {
	body, err := files.ReadFile("page/" + name)
	return body, mediaTypes[path.Ext(name)], err == nil
}

// Options says what a Cockpit shows. Its functions must be safe for concurrent use.
type Options struct {
	Metrics  prometheus.Gatherer
	State    func(context.Context) any // returns what else to show, for JSON
	Runs     *Runs
	Failures *Failures        // nil if they are not recorded
	Journal  *Journal         // nil if the log is not kept
	Now      func() time.Time // if nil, time.Now
}

// Cockpit makes the events. It is safe for concurrent use. No goroutine belongs to it, so one that is never closed
// costs nothing.
type Cockpit struct {
	options Options
	ctx     context.Context // ends the streams; also passed to State
	end     context.CancelFunc

	mu      sync.Mutex // guards the rest; never held while State is called, which asks the store
	streams int
	latest  *event // nil before the first
}

// event is an event that one stream makes for all. body may be read once made is closed, without a lock.
type event struct {
	begun time.Time
	made  chan struct{} // closed when body is set
	body  []byte
}

// New returns a Cockpit without streams.
func New(o Options) *Cockpit {
	if o.Now == nil {
		o.Now = time.Now
	}
	c := &Cockpit{options: o}
	c.ctx, c.end = context.WithCancel(context.Background())
	return c
}

// Close ends all streams, with an event that says so. Otherwise the streams would keep the server from ending
// until its patience is over.
func (c *Cockpit) Close() { c.end() }

// ErrBusy means that there are too many streams, or that the server is shutting down.
var ErrBusy = errors.New("too many streams")

// Stream returns a new stream of events in the format text/event-stream, or ErrBusy.
func (c *Cockpit) Stream() (io.ReadCloser, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.streams >= mostStreams || c.ctx.Err() != nil {
		return nil, ErrBusy
	}
	c.streams++
	return &stream{cockpit: c, due: time.NewTimer(0)}, nil
}

// stream belongs to one goroutine.
type stream struct {
	cockpit *Cockpit
	due     *time.Timer // for the next event; the first one is due at once
	rest    []byte      // of the current event
	ended   bool
	closed  bool
}

// Read implements io.Reader. It waits for the next event. The last event says that the stream ends, so that the
// page tells an end from a broken connection.
func (s *stream) Read(p []byte) (int, error) {
	if len(s.rest) == 0 && s.ended {
		return 0, io.EOF
	}
	if len(s.rest) == 0 {
		select {
		case <-s.due.C:
			s.due.Reset(every)
			s.rest = s.cockpit.next()
		case <-s.cockpit.ctx.Done():
		}
		if len(s.rest) == 0 {
			s.rest, s.ended = []byte("event: end\ndata:\n\n"), true
		}
	}
	n := copy(p, s.rest)
	s.rest = s.rest[n:]
	return n, nil
}

// Close implements io.Closer.
func (s *stream) Close() error {
	if !s.closed {
		s.closed = true
		s.due.Stop()
		s.cockpit.mu.Lock()
		s.cockpit.streams--
		s.cockpit.mu.Unlock()
	}
	return nil
}

// next returns a new event, or the last one if another stream has just begun to make it. It returns nil if the
// cockpit is closed first.
func (c *Cockpit) next() []byte {
	c.mu.Lock()
	now, last := c.options.Now(), c.latest
	if last != nil {
		// A clock that was set back gives a negative time: then the last event does not count.
		if since := now.Sub(last.begun); since >= 0 && since < every/2 {
			c.mu.Unlock()
			select {
			case <-last.made:
				return last.body
			case <-c.ctx.Done():
				return nil
			}
		}
	}
	e := &event{begun: now, made: make(chan struct{})}
	c.latest = e
	c.mu.Unlock()
	defer close(e.made)
	e.body = c.bodyAt(now)
	return e.body
}

// bodyAt makes an event.
func (c *Cockpit) bodyAt(now time.Time) []byte {
	body, err := json.Marshal(struct {
		At       int64             `json:"at"` // Unix milliseconds
		State    any               `json:"state"`
		Metrics  map[string]family `json:"metrics"`
		Runs     map[string][]Slot `json:"runs"`
		Failures []Minute          `json:"failures"`
		Log      []entry           `json:"log"`
	}{now.UnixMilli(), c.options.State(c.ctx), gather(c.options.Metrics), c.options.Runs.lastDay(now),
		c.options.Failures.byMinute(now), c.options.Journal.all()})
	if err != nil {
		body = []byte("{}") // the event has a value that JSON cannot express; the page keeps what it shows
	}
	return fmt.Appendf(nil, "data: %s\n\n", body)
}
