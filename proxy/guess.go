package proxy

import (
	"net/http"
	"time"

	"github.com/gofiber/fiber/v2"
)

// newGuesses returns the buckets of Limits.KeyFailures, or nil without a limit.
func newGuesses(l Limits) *buckets { return newBuckets(l.KeyFailures, l.KeyFailures, time.Minute) }

// guessed counts a wrong key in one of the server's buckets for it. Who has been wrong too often is not told for a while
// whether the next one is right, not even if it is: otherwise guessing would go on.
func (s *Server) guessed(guesses *buckets, c *fiber.Ctx, right bool) error {
	if guesses == nil {
		return nil
	}
	client := clientOf(s.clients.of(c))
	if l := guesses.look(client, s.now()); l.wait > 0 {
		return &later{http.StatusTooManyRequests, "Too many wrong keys. Retry-After says when the next is looked at.", l.wait}
	}
	if !right {
		guesses.take(client, s.now())
	}
	return nil
}
