package proxy

import (
	"github.com/gofiber/fiber/v2"

	"vitrine/proxy/listener"
	"vitrine/proxy/purge"
)

// headerTags names the tags of an answer for caches in front.
const headerTags = "Surrogate-Key"

// purgeLater reports the end of a response that caches in front may keep, which began at a number
// (purge.Purger.Begin). p is nil if there are none.
func purgeLater(c *fiber.Ctx, p *purge.Purger, begun uint64) {
	if p == nil {
		return
	}
	conn, ok := c.Context().Conn().(*listener.Conn)
	if tags := c.Response().Header.Peek(headerTags); ok && len(tags) > 0 {
		reportSent(conn, p, begun, string(tags))
	}
}

// reportSent reports the end of the response on a connection to a Purger.
func reportSent(conn *listener.Conn, p *purge.Purger, begun uint64, tags string) {
	conn.OnSent(func() { p.Ended(begun, tags) })
}
