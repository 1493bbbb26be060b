package upstream

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"

	"vitrine/proxy/listener"
	"vitrine/proxy/upstream/gate"
)

// mostGathering is how long the parts of an answer that is not kept are held back until it is whole. Beyond two
// seconds a reader would see a page that hangs.
const mostGathering = 2 * time.Second

// forward sends a response to one client: whole, or while it arrives. begun is what has been read of the body, or
// nil. HEAD, 204 and 304 have no body to send, whatever the other server wrote.
func (p *Proxy) forward(
	waiting context.Context, c *fiber.Ctx, r *request, resp *gate.Response, begun *gate.Gathered, how string,
) error {
	bodiless := c.Method() == fiber.MethodHead || resp.StatusCode == http.StatusNotModified ||
		resp.StatusCode == http.StatusNoContent
	var sent io.ReadCloser
	if bodiless {
		if err := resp.Body.Close(); err != nil {
			return fmt.Errorf("%w: %w", ErrBadGateway, err)
		}
	} else {
		if begun == nil && isHeldBack(resp.Header) {
			begun = resp.Gather(p.options.KeptBytes, time.Now().Add(mostGathering))
		}
		var err error
		if sent, err = resp.Forward(waiting, r.client, begun); err != nil {
			return err
		}
	}
	h := setHeader(c, readyHeader(resp.StatusCode, resp.Header))
	if age := resp.Header.Get(fiber.HeaderAge); age != "" {
		h.Set(fiber.HeaderAge, age)
	}
	h.Add("Cache-Status", status+how)
	setDate(c, resp.Header.Get(fiber.HeaderDate))
	switch {
	case !bodiless:
		listener.SetStream(c.Context(), sent, int(resp.ContentLength))
		// A client gets the beginning of an answer that breaks off, or may.
		c.Response().ImmediateHeaderFlush = begun == nil || begun.Why != nil
	case resp.ContentLength >= 0 && resp.StatusCode != http.StatusNoContent:
		h.SetContentLength(int(resp.ContentLength))
	}
	return nil
}

// isHeldBack reports whether the parts of an answer may wait until it is whole. Those of events are for clients at
// once, and X-Accel-Buffering is how servers tell proxies in front of them not to wait.
func isHeldBack(header http.Header) bool {
	kind, _, _ := strings.Cut(header.Get("Content-Type"), ";")
	return !strings.EqualFold(strings.TrimSpace(kind), "text/event-stream") &&
		!strings.EqualFold(header.Get("X-Accel-Buffering"), "no")
}
