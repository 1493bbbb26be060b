package proxy_test

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"vitrine/proxy/proxytest"

	"vitrine/cache/view"
	"vitrine/proxy"
)

// failing is a source whose views the store has not confirmed for an hour while it is away.
type failing struct {
	proxy.Source
	away *atomic.Bool
}

func (f failing) Status() []view.Status {
	if f.away.Load() {
		return unconfirmed{f.Source}.Status()
	}
	return f.Source.Status()
}

// TestVarnish puts Varnish in front: it caches answers before, during and after an outage of the
// store, but none that needs a key.
func TestVarnish(t *testing.T) {
	proxytest.WholeOnly(t)
	daemon, err := exec.LookPath("varnishd")
	if err != nil {
		t.Skip("varnishd is not installed")
	}
	away := new(atomic.Bool)
	o := proxytest.Options(t)
	o.Fresh.MaxAge = time.Hour
	o.Auth.PortfolioKey = "k"
	o.Views = failing{proxytest.Open(t, proxytest.Institute(t), proxytest.Options(t)).Views, away}
	o.Now = time.Now
	server, err := proxy.New(o)
	if err != nil {
		t.Fatal(err)
	}
	front := varnish(t, daemon, listening(t, server), "")
	statusOf := func(path string) (kept bool) {
		res, err := http.Get(front + path)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		if res.StatusCode != http.StatusOK {
			t.Fatalf("%s: %d", path, res.StatusCode)
		}
		// of this request, and of the one that filled the cache
		return len(strings.Fields(res.Header.Get("X-Varnish"))) == 2
	}
	for i, outage := range []bool{false, true, false} {
		away.Store(outage)
		for n := range 4 {
			if kept := statusOf(fmt.Sprintf("/api/activities?offset=%d&limit=1", i)); kept != (n > 0) {
				t.Errorf("outage %v, request %d: cached %v", outage, n, kept)
			}
			if statusOf("/portfolio/spectrum?apikey=k") {
				t.Errorf("outage %v: an answer that needs a key was cached", outage)
			}
		}
	}
}

// listening serves a front end on a loopback port until the test ends.
func listening(t *testing.T, server *proxy.Server) (addr string) {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error)
	go func() { done <- server.Serve(t.Context(), ln, nil) }()
	t.Cleanup(func() {
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return ln.Addr().String()
}

// varnish starts Varnish in front of an origin, and returns its URL. The first request waits for the origin. rules is
// VCL for it.
func varnish(t *testing.T, daemon, origin, rules string) (front string) {
	t.Helper()
	dir, err := os.MkdirTemp("", "varnish") // Varnish runs as another user than the test
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	host, port, _ := net.SplitHostPort(origin)
	vcl := filepath.Join(dir, "front.vcl")
	text := fmt.Sprintf("vcl 4.1;\nbackend default { .host = %q; .port = %q; }\n%s", host, port, rules)
	if err := os.WriteFile(vcl, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	work := filepath.Join(dir, "work")
	var out strings.Builder
	cmd := exec.Command(daemon, "-F", "-n", work, "-a", "127.0.0.1:0", "-f", vcl, "-s", "malloc,16m")
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	t.Cleanup(func() {
		_ = cmd.Process.Signal(os.Interrupt)
		<-ended
		http.DefaultClient.CloseIdleConnections()
	})
	for {
		// Varnish finds a free port itself, so that no other process takes it before Varnish listens.
		told, err := exec.Command("varnishadm", "-n", work, "debug.listen_address").Output()
		if name, addr, found := strings.Cut(strings.TrimSpace(string(told)), " "); err == nil && found &&
			name == "a0" {
			return "http://" + strings.ReplaceAll(addr, " ", ":")
		}
		select {
		case err := <-ended:
			ended <- err
			t.Fatalf("varnishd: %v\n%.1000s", err, out.String())
		case <-time.After(50 * time.Millisecond):
		}
	}
}
