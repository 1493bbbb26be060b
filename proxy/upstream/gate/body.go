package gate

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/netip"
	"time"

	"vitrine/cache/result"
)

// Reasons why a body was not gathered whole, beside result.ErrInFlight and failures of the server.
var (
	ErrTooLong = errors.New("the other server's answer is too long")
	ErrLate    = errors.New("the other server's answer arrives too slowly")
)

// body is that of a response. Reading it fails when the server has sent nothing for too long, or after cancel.
type body struct {
	io.ReadCloser
	ctx      context.Context // of the request, for the cause of its end
	cancel   context.CancelCauseFunc
	patience *time.Timer
	timeout  time.Duration
	permit   permit
	late     *lateRead // that the next Read takes over; nil if there is none
}

// lateRead is a read of a body that took too long for readUntil, and goes on.
type lateRead struct {
	bytes []byte
	err   error
	ended chan struct{} // closed at its end, after which the rest is set
}

// Read implements io.Reader.
func (b *body) Read(p []byte) (int, error) {
	late := b.late
	if late == nil {
		return b.read(p)
	}
	<-late.ended // at the latest after b.timeout
	n := copy(p, late.bytes)
	if late.bytes = late.bytes[n:]; len(late.bytes) > 0 {
		return n, nil
	}
	b.late = nil
	return n, late.err
}

// readUntil is Read until over has a value. It then leaves the read, and p, to the next Read, and returns ErrLate.
func (b *body) readUntil(p []byte, over <-chan time.Time) (int, error) {
	one := &lateRead{ended: make(chan struct{})}
	go func() { // ends with the body, when that is closed
		defer close(one.ended)
		var n int
		n, one.err = b.read(p)
		one.bytes = p[:n]
	}()
	select {
	case <-one.ended:
		return len(one.bytes), one.err
	case <-over:
		b.late = one
		return 0, ErrLate
	}
}

func (b *body) read(p []byte) (int, error) {
	b.patience.Reset(b.timeout)
	n, err := b.ReadCloser.Read(p)
	b.patience.Stop() // the client may be slow
	if err != nil && err != io.EOF && b.ctx.Err() != nil {
		err = context.Cause(b.ctx)
	}
	return n, err
}

// Close implements io.Closer.
func (b *body) Close() error {
	b.patience.Stop()
	err := b.ReadCloser.Close()
	b.abort(nil)
	return err
}

// abort returns the connection, even while another goroutine reads the body or waits for its client.
func (b *body) abort(cause error) {
	b.cancel(cause)
	b.permit.leave()
}

// Gathered is a body in memory, or its beginning. Drop it when done.
type Gathered struct {
	Bytes []byte
	Why   error // why it is not whole; nil if it is
	Rest  bool  // the rest can still be read

	budget   *result.InFlight
	acquired int64
}

// Gather reads the body into memory while it is no longer than most, and time and memory are left, even while the
// server is silent. If it is whole, the connection is free for others, however slowly the client reads.
func (r *Response) Gather(most int, until time.Time) *Gathered {
	g := &Gathered{budget: r.gate.options.InFlight}
	g.Why, g.Rest = g.read(r, most, until)
	if !g.Rest {
		if err := r.body.Close(); g.Why == nil {
			g.Why = err
		}
	}
	return g
}

func (g *Gathered) read(r *Response, most int, until time.Time) (why error, rest bool) {
	over := time.NewTimer(time.Until(until))
	defer over.Stop()
	size := r.ContentLength + 1 // with room for the read that finds the end
	if size == 0 {
		size = 4 << 10 // the length is not known
	}
	for {
		if len(g.Bytes) > most || r.ContentLength > int64(most) {
			return ErrTooLong, true
		}
		if len(g.Bytes) == cap(g.Bytes) {
			if !g.grow(size) {
				return result.ErrInFlight, true
			}
			size = min(2*size, int64(most)+1)
		}
		n, err := r.body.readUntil(g.Bytes[len(g.Bytes):cap(g.Bytes)], over.C)
		g.Bytes = g.Bytes[:len(g.Bytes)+n]
		switch {
		case err == io.EOF && len(g.Bytes) <= most:
			return nil, false
		case errors.Is(err, ErrLate):
			return err, true
		case err != nil && err != io.EOF:
			return err, false
		}
	}
}

// grow makes room for size bytes in all, unless too little memory is left.
func (g *Gathered) grow(size int64) bool {
	more := size - g.acquired
	if size <= result.Uncounted {
		more = 0
	}
	if more > 0 && !g.budget.TryAcquire(more) {
		return false
	}
	g.acquired += more
	g.Bytes = append(make([]byte, 0, size), g.Bytes...)
	return true
}

// Drop returns the memory.
func (g *Gathered) Drop() {
	g.budget.Release(g.acquired)
	g.Bytes, g.acquired = nil, 0
}

// Forward returns the body to send to a client: what was gathered, then the rest, which is a stream. g may be nil. If
// there is no place for a stream, it closes the body and returns a *rules.RetryError, or why waiting ended.
func (r *Response) Forward(waiting context.Context, client netip.Addr, g *Gathered) (io.ReadCloser, error) {
	if g == nil {
		g = &Gathered{Why: ErrLate, Rest: true, budget: r.gate.options.InFlight}
	}
	f := &forwarded{Gathered: g}
	if g.Rest {
		var err error
		if f.stream, err = r.gate.streams.admit(waiting, clientOf(client), r.body); err != nil {
			_ = r.body.Close()
			g.Drop()
			return nil, err
		}
		r.body.permit.leaveShare() // streams have a bound of their own
	}
	f.Reset(g.Bytes)
	return f, nil
}

// forwarded is the body of an answer for one client.
type forwarded struct {
	*Gathered
	bytes.Reader
	stream *stream // the rest; nil if there is none
}

// Read implements io.Reader.
func (f *forwarded) Read(p []byte) (int, error) {
	if f.Len() > 0 {
		return f.Reader.Read(p)
	}
	switch {
	case f.stream != nil:
		if f.stream.late == nil { // which reads into this memory
			f.drop()
		}
		return f.stream.Read(p)
	case f.Why != nil:
		return 0, f.Why
	}
	return 0, io.EOF
}

// WriteTo implements io.WriterTo, so that the server does not copy what is in memory.
func (f *forwarded) WriteTo(w io.Writer) (int64, error) {
	sent, err := f.Reader.WriteTo(w)
	if err != nil || f.stream == nil && f.Why == nil {
		return sent, err
	}
	rest, err := io.Copy(w, struct{ io.Reader }{f})
	return sent + rest, err
}

func (f *forwarded) drop() {
	f.Drop()
	f.Reset(nil)
}

// Close implements io.Closer.
func (f *forwarded) Close() error {
	f.drop()
	if f.stream != nil {
		return f.stream.Close()
	}
	return nil
}
