package listener

import (
	"context"
	"errors"
	"time"
)

// ErrGone is the cause where a client has closed its connection before its response was ready.
var ErrGone = errors.New("the client has gone")

// gonePoll is how often a connection is checked while its client waits. Most responses
// are ready long before the first time.
const gonePoll = 50 * time.Millisecond

// Watch returns a context that ends with ErrGone when the client closes the connection,
// where the system can tell, and that needs nothing any more when ctx ends.
func (c *Conn) Watch(ctx context.Context) context.Context {
	ctx, cancel := context.WithCancelCause(ctx)
	var check func()
	check = func() {
		switch {
		case ctx.Err() != nil:
		case c.Gone():
			cancel(ErrGone)
		default:
			time.AfterFunc(gonePoll, check)
		}
	}
	time.AfterFunc(gonePoll, check)
	return ctx
}
