package proxy

import (
	"context"
	"errors"
	"time"

	"github.com/gofiber/fiber/v2"

	"vitrine/cache/fair"
	"vitrine/rules/pcre"
)

// errGone: the client closed its connection before its answer was ready.
var errGone = errors.New("the client has gone")

// statusGone is what the log and the metrics have where nobody reads an answer; the
// number is the one that web servers use for it.
const statusGone = 499

// hangupPoll is how often a connection is looked at while its client waits. Most answers
// are ready long before the first time.
const hangupPoll = 50 * time.Millisecond

// asked returns a context for what a request asks for. It ends with Limits.Request, or,
// where the system can tell, when the client closes its connection, also if it closes
// only the direction it sends in: the two look the same. The context carries whom the
// work is charged to.
func (s *Server) asked(c *fiber.Ctx) (context.Context, context.CancelFunc) {
	ctx := fair.With(c.UserContext(), fair.Caller{
		Client:       clientOf(s.clients.of(c)),
		Backtracking: pcre.NewBudget(s.filterLimits.RegexTimeout),
	})
	ctx, cancel := s.deadline(ctx)
	if conn, ok := c.Context().Conn().(*conn); ok {
		ctx = watched(ctx, conn)
	}
	return ctx, cancel
}

// watched returns a context that ends with errGone when a client has gone, and needs
// nothing any more when ctx ends.
func watched(ctx context.Context, conn *conn) context.Context {
	ctx, leave := context.WithCancelCause(ctx)
	var look func()
	look = func() {
		switch {
		case ctx.Err() != nil:
		case conn.gone():
			leave(errGone)
		default:
			time.AfterFunc(hangupPoll, look)
		}
	}
	time.AfterFunc(hangupPoll, look)
	return ctx
}
