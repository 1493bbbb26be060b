package listener

import (
	"context"
	"errors"
	"math"
	"time"
)

// ErrGone is the cause of a context that ended because the client closed its connection before the response was
// ready.
var ErrGone = errors.New("the client has gone")

// Gone reports whether the client has closed the connection. It does not wait, and reads nothing. It reports false if
// the system cannot tell.
func (c *Conn) Gone() bool { return c.socket.gone() }

// gonePoll is how often to check a connection while its client waits; most responses are ready before.
const gonePoll = 50 * time.Millisecond

// Watch returns a context that ends with ErrGone when the client closes the connection, if the system can detect it.
// Call the returned function, which also ends the context, when the response is ready: a pending check would wake a
// processor for nothing. After the first byte of a response Watch stops checking, because then writing fails; a
// client that has only stopped sending gets the whole response.
func (c *Conn) Watch(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	var timer *time.Timer
	timer = time.AfterFunc(math.MaxInt64, func() {
		switch {
		case ctx.Err() != nil || c.Sent():
		case c.Gone():
			cancel(ErrGone)
		default:
			timer.Reset(gonePoll)
		}
	})
	timer.Reset(gonePoll)
	return ctx, func() {
		timer.Stop()
		cancel(nil)
	}
}
