package listener

import (
	"context"
	"errors"
	"math"
	"time"
)

// ErrGone is the cause of a context whose client closed its connection before the response was
// ready.
var ErrGone = errors.New("the client has gone")

// gonePoll is how often a connection is checked while its client waits. Most responses
// are ready long before the first time.
const gonePoll = 50 * time.Millisecond

// Watch returns a context that ends with ErrGone when the client closes the connection, if the
// system can tell. Call the function, which ends it too, when the response is ready: a check that
// is still due would wake a processor for nothing. After the first byte of a response Watch checks
// no more, since writing fails; a client that has only stopped sending gets the whole response.
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
