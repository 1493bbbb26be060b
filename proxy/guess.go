package proxy

import (
	"net/http"
	"time"

	"github.com/gofiber/fiber/v2"
)

// newGuesses returns the buckets of Limits.KeyFailures, or nil without a limit.
func newGuesses(l Limits) *buckets { return newBuckets(l.KeyFailures, l.KeyFailures, time.Minute) }

// wrongKey counts a wrong key in one of the server's buckets for them. A client that has
// sent too many has to wait and to connect anew for each, so that guessing is slow. A
// right key is never looked up here: others behind the same address may have guessed.
func (s *Server) wrongKey(guesses *buckets, c *fiber.Ctx) error {
	s.metrics.wrongKeys.Inc()
	if guesses == nil {
		return nil
	}
	l := guesses.take(clientOf(s.clients.of(c)), s.now())
	if l.wait == 0 {
		return nil
	}
	c.Context().SetConnectionClose()
	return &later{http.StatusTooManyRequests, "Too many wrong keys. Retry-After says when the next may come.", l.wait}
}
