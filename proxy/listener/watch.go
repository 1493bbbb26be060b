package listener

import (
	"context"
	"errors"
	"math"
	"time"
)

// ErrGone is the cause where a client has closed its connection before its response was ready.
var ErrGone = errors.New("the client has gone")

// gonePoll is how often a connection is checked while its client waits. Most responses
// are ready long before the first time.
const gonePoll = 50 * time.Millisecond

// Watch returns a context that ends with ErrGone when the client closes the connection,
// where the system can tell. The function returned ends it, too, and is to be called when the
// response is ready: a check that is still due would wake a processor for nothing. From the first
// byte of a response on, writing finds out, and a client that has closed only the direction
// it sends in gets all of it.
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
