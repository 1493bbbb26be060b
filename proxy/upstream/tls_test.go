package upstream_test

import (
	"encoding/pem"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"vitrine/proxy"
	"vitrine/proxy/proxytest"
)

// TestTLS: the other server's certificate is for upstream.host, by an authority of the system or of SSL_CERT_FILE.
// Requests go by HTTP/1.1, whose connections are bounded. It is the only test that verifies a certificate, because Go
// reads the authorities once.
func TestTLS(t *testing.T) {
	asked := make(chan *http.Request, 1)
	old := httptest.NewUnstartedServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) { asked <- r }))
	old.EnableHTTP2 = true
	old.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, 0)
	old.StartTLS()
	defer old.Close()
	file := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: old.Certificate().Raw}),
		0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("SSL_CERT_FILE", file)
	for host, status := range map[string]int{"www.example.com:8443": 200, "": 200, "www.example.org": 502} {
		// the certificate is for *.example.com and 127.0.0.1
		var log proxytest.LockedBuffer
		w := newWorldWith(t, nil, func(o *proxy.Options) {
			o.Upstream.URL, o.Upstream.Host, o.Logger = old.URL, host, slog.New(slog.NewTextHandler(&log, nil))
		})
		if res := w.get("/old"); res.StatusCode != status {
			t.Errorf("host %q: %d, log %s", host, res.StatusCode, log.Taken())
		}
		if status != 200 {
			if text := log.Taken(); !strings.Contains(text,
				"certificate is valid for example.com, *.example.com, not www.example.org") {
				t.Errorf("host %q: log %s", host, text)
			}
			continue
		}
		name, _, _ := strings.Cut(host, ":")
		if r := <-asked; r.ProtoMajor != 1 || r.TLS.ServerName != name || host != "" && r.Host != host {
			t.Errorf("host %q: %s with the name %q for %q", host, r.Proto, r.TLS.ServerName, r.Host)
		}
	}
}
