package proxy_test

import (
	"fmt"
	"io"
	"net/url"
	"testing"

	"github.com/gofiber/fiber/v2"
	"github.com/valyala/fasthttp"
)

// call runs one request through an app's handler, without a connection.
func call(b *testing.B, handler fasthttp.RequestHandler, ctx *fasthttp.RequestCtx, target string) int64 {
	ctx.Request.Reset()
	ctx.Response.Reset()
	ctx.Request.Header.SetMethod(fasthttp.MethodGet)
	ctx.Request.SetRequestURI(target)
	handler(ctx)
	if ctx.Response.StatusCode() != fasthttp.StatusOK {
		b.Fatalf("status %d: %s", ctx.Response.StatusCode(), ctx.Response.Body())
	}
	if !ctx.Response.IsBodyStream() {
		return int64(len(ctx.Response.Body()))
	}
	n, err := io.Copy(io.Discard, ctx.Response.BodyStream())
	if err != nil {
		b.Fatal(err)
	}
	if err := ctx.Response.CloseBodyStream(); err != nil {
		b.Fatal(err)
	}
	return n
}

// BenchmarkAnswer compares answers with a bare Fiber handler that sends as many
// bytes as the cached list.
func BenchmarkAnswer(b *testing.B) {
	s := open(b, many(b, 10_000), options(b))
	const list = "/api/activities?limit=20&json=%7B%22year%22%3A2020%7D"
	var ctx fasthttp.RequestCtx
	size := call(b, s.App().Handler(), &ctx, list)
	same := make([]byte, size)
	bare := fiber.New()
	bare.Get("/api/activities", func(c *fiber.Ctx) error {
		c.Set(fiber.HeaderContentType, fiber.MIMEApplicationJSONCharsetUTF8)
		return c.Send(same)
	})
	fresh := 0
	tests := []struct {
		name    string
		handler fasthttp.RequestHandler
		target  func() string
	}{
		{"bare", bare.Handler(), func() string { return list }},
		{"cached list", s.App().Handler(), func() string { return list }},
		{"never-seen filter", s.App().Handler(), func() string {
			fresh++
			return "/api/activities?limit=20&json=" + url.QueryEscape(fmt.Sprintf(`{"year":{"$gte":%d.%d}}`, 2000+fresh%20, fresh))
		}},
		{"never-seen page", s.App().Handler(), func() string {
			fresh++
			return fmt.Sprintf("/api/activities?limit=20&offset=%d", fresh%9000)
		}},
		{"full", s.App().Handler(), func() string { return "/api/activities?full=1" }},
		{"all-activities", s.App().Handler(), func() string { return "/api/all-activities" }},
	}
	for _, tt := range tests {
		b.Run(tt.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				b.SetBytes(call(b, tt.handler, &ctx, tt.target()))
			}
		})
	}
}
