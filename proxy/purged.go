package proxy

import (
	"maps"
	"slices"

	"github.com/gofiber/fiber/v2"

	"vitrine/proxy/keptadmin"
	"vitrine/proxy/listener"
	"vitrine/proxy/purge"
)

// KeptChanged tells caches in front that the answers of keys have changed. It is the Changed of the Keeper's options.
func (s *Server) KeptChanged(keys []string) {
	if s.purger == nil || len(keys) == 0 {
		return
	}
	paths := map[string]bool{}
	for _, key := range keys {
		paths[keptadmin.PathOf(key)] = true
	}
	s.purger.KeptChanged(slices.Sorted(maps.Keys(paths)))()
}

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
