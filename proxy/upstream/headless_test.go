package upstream_test

import (
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"vitrine/proxy"
	"vitrine/proxy/proxytest"
)

// TestHeadless: a server that never answers HEAD gets requests again once it answers GET.
func TestHeadless(t *testing.T) {
	t.Parallel()
	var hangs atomic.Bool
	hangs.Store(true)
	w := newWorld(t, func(_ http.ResponseWriter, r *http.Request) {
		if hangs.Load() || r.Method == http.MethodHead {
			<-r.Context().Done()
		}
	}, func(o *proxy.UpstreamOptions) { o.Timeout = time.Second })
	proxytest.Until(t, "the circuit opens", func() bool {
		for _, path := range []string{"/a", "/b", "/c", "/d", "/e"} {
			w.get(path)
		}
		return w.Metric("vitrine_upstream_open") == 1
	})
	hangs.Store(false)
	proxytest.Until(t, "the circuit closes", func() bool { return w.Metric("vitrine_upstream_open") == 0 })
	proxytest.Until(t, "an answer in time", func() bool { return w.get("/a").StatusCode == http.StatusOK })
}
