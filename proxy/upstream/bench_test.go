package upstream_test

import (
	"net"
	"testing"

	"github.com/gofiber/fiber/v2"
	"github.com/valyala/fasthttp"

	"vitrine/proxy"
	"vitrine/proxy/proxytest"
	"vitrine/proxy/upstream"
)

// BenchmarkHit compares kept answers of the other server with a bare Fiber handler that sends the same headers and body,
// over loopback connections.
func BenchmarkHit(b *testing.B) {
	const kept = "/old/page?x=1"
	other := fiber.New(fiber.Config{DisableStartupMessage: true})
	body := make([]byte, 8<<10)
	other.Get("/old/page", func(c *fiber.Ctx) error {
		c.Set("Cache-Control", "public, max-age=86400")
		c.Set("Etag", `"a"`)
		c.Set("Last-Modified", "Mon, 04 May 2026 09:00:00 GMT")
		c.Set("Vary", "Accept-Encoding")
		return c.Send(body)
	})
	o := proxytest.Options(b)
	o.Upstream = proxy.UpstreamOptions{Options: upstream.Options{URL: "http://" + serve(b, other)}, Paths: []string{"/"}}
	front := proxytest.ServeLive(b, proxytest.Open(b, proxytest.Institute(b), o)).Addr
	var first fasthttp.Response
	ask(b, &fasthttp.HostClient{Addr: front}, kept, &first)
	bare := fiber.New(fiber.Config{DisableStartupMessage: true})
	bare.Get("/old/page", func(c *fiber.Ctx) error {
		first.Header.CopyTo(&c.Response().Header)
		c.Response().SetBodyRaw(first.Body())
		return nil
	})
	for name, addr := range map[string]string{"hit": front, "bare": serve(b, bare)} {
		b.Run(name, func(b *testing.B) {
			client := &fasthttp.HostClient{Addr: addr, MaxConns: 64}
			b.ReportAllocs()
			b.RunParallel(func(pb *testing.PB) {
				var res fasthttp.Response
				for pb.Next() {
					ask(b, client, kept, &res)
				}
			})
		})
	}
}

// serve serves an app on a loopback port until the benchmark ends.
func serve(b *testing.B, app *fiber.App) (addr string) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- app.Listener(ln) }()
	b.Cleanup(func() {
		_ = app.Shutdown()
		<-done
	})
	return ln.Addr().String()
}

// ask sends a request and checks the status of the answer.
func ask(b *testing.B, client *fasthttp.HostClient, target string, res *fasthttp.Response) {
	req := fasthttp.AcquireRequest()
	defer fasthttp.ReleaseRequest(req)
	req.SetRequestURI("http://" + client.Addr + target)
	if err := client.Do(req, res); err != nil || res.StatusCode() != fasthttp.StatusOK {
		b.Errorf("status %d, error %v", res.StatusCode(), err)
	}
}
