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

// recordingPoll is how often a recording checks whether its client has left.
const recordingPoll = 200 * time.Millisecond

// recordings answers /debug/pprof/profile and /debug/pprof/trace. Those of Fiber's
// middleware would record for any time a client names, even for one that has left.
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
			return problem{fiber.StatusConflict, wrongCall, "Another recording goes on."}
		}
		conn, _ := c.Context().Conn().(*listener.Conn) // nil in tests without a listener
		for end := time.Now().Add(length); time.Now().Before(end) && !s.draining.Load() && (conn == nil || !conn.Gone()); {
			time.Sleep(min(recordingPoll, time.Until(end)))
		}
		stop()
		c.Set(fiber.HeaderContentType, fiber.MIMEOctetStream)
		return c.Send(out.Bytes())
	}
}
