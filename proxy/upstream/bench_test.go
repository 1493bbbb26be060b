package upstream_test

import (
	"io"
	"net"
	"net/http"
	"testing"

	"github.com/gofiber/fiber/v2"

	"vitrine/proxy"
	"vitrine/proxy/proxytest"
	"vitrine/proxy/upstream"
)

// BenchmarkHit compares kept answers of the other server with a bare Fiber handler that sends the same headers and
// body, over loopback connections.
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
	o.Upstream = proxy.UpstreamOptions{Options: upstream.Options{URL: "http://" + serve(b, other)},
		Paths: []string{"/"}}
	front := proxytest.ServeLive(b, proxytest.Open(b, proxytest.Institute(b), o)).Addr
	first, err := http.Get("http://" + front + kept)
	if err != nil {
		b.Fatal(err)
	}
	text, err := io.ReadAll(first.Body)
	if err != nil {
		b.Fatal(err)
	}
	first.Body.Close()
	bare := fiber.New(fiber.Config{DisableStartupMessage: true})
	bare.Get("/old/page", func(c *fiber.Ctx) error {
		for name, values := range first.Header {
			c.Response().Header.Set(name, values[0])
		}
		c.Response().SetBodyRaw(text)
		return nil
	})
	for name, addr := range map[string]string{"hit": front, "bare": serve(b, bare)} {
		b.Run(name, func(b *testing.B) {
			transport := &http.Transport{MaxIdleConnsPerHost: 64}
			defer transport.CloseIdleConnections()
			b.ReportAllocs()
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					res, err := (&http.Client{Transport: transport}).Get("http://" + addr + kept)
					if err != nil {
						b.Error(err)
						return
					}
					_, _ = io.Copy(io.Discard, res.Body) // only the time is of interest
					res.Body.Close()
				}
			})
		})
	}
	http.DefaultClient.CloseIdleConnections()
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
