package proxy

import (
	"bytes"
	"io"
	"runtime/pprof"
	"runtime/trace"
	"time"

	"github.com/gofiber/fiber/v2"

	"vitrine/proxy/listener"
	"vitrine/proxy/query"
	"vitrine/rules"
)

// longestRecording is how long a trace or a profile is recorded at most.
const longestRecording = time.Minute

// leftPoll is how often a recording checks whether its client has left.
const leftPoll = 200 * time.Millisecond

// hasLeft reports whether the client of a request has closed its connection.
func hasLeft(c *fiber.Ctx) bool {
	conn, ok := c.Context().Conn().(*listener.Conn)
	return ok && conn.Gone()
}

// recordings answers /debug/pprof/profile and /debug/pprof/trace. Those of Fiber's
// middleware would record for as long as they were asked to, even for a client that has left.
func (s *Server) recordings(app *fiber.App) {
	app.Get("/debug/pprof/profile", s.record(30*time.Second, pprof.StartCPUProfile, pprof.StopCPUProfile))
	app.Get("/debug/pprof/trace", s.record(time.Second, trace.Start, trace.Stop))
	app.Use("/debug/pprof/", func(c *fiber.Ctx) error {
		if c.Context().QueryArgs().Has("seconds") {
			return rules.Wrongf("seconds", "", "is for profile and trace")
		}
		return c.Next()
	})
}

// record returns a handler that records for ?seconds=, by default for usual, at most for
// longestRecording, and ends with its client and with the server.
func (s *Server) record(usual time.Duration, start func(io.Writer) error, stop func()) fiber.Handler {
	return func(c *fiber.Ctx) error {
		p := query.Read(c.Context().QueryArgs().All())
		seconds := p.Integer("seconds")
		if err := p.Err(); err != nil {
			return err
		}
		length := usual
		if seconds > 0 {
			length = time.Duration(min(seconds, int(longestRecording/time.Second))) * time.Second
		}
		var out bytes.Buffer
		if err := start(&out); err != nil {
			return &told{problem{fiber.StatusConflict, wrongCall, "Another recording goes on."}}
		}
		end, poll := time.NewTimer(length), time.NewTicker(leftPoll)
		defer end.Stop()
		defer poll.Stop()
		for going := true; going; {
			select {
			case <-end.C:
				going = false
			case <-poll.C:
				going = !s.draining.Load() && !hasLeft(c)
			}
		}
		stop()
		c.Set(fiber.HeaderContentType, fiber.MIMEOctetStream)
		return c.Send(out.Bytes())
	}
}
