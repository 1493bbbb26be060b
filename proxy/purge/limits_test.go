package purge_test

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"vitrine/proxy/proxytest"
	"vitrine/proxy/purge"
)

// TestLongTags: an id of any length has a tag of its own that fits the headers of all targets.
func TestLongTags(t *testing.T) {
	long := strings.Repeat("ü ", 5000)
	one, other := purge.Tag("unit", long+"1"), purge.Tag("unit", long+"2")
	if len(one) > 400 || len(purge.Tag("unit", long[:120])) > 400 || one == other || one != purge.Tag("unit", long+"1") || !strings.HasPrefix(one, "unit-") {
		t.Errorf("%d bytes: %.300s and %.300s", len(one), one, other)
	}
}

// TestRetryAfter: a target that says how long to wait is left alone so long.
func TestRetryAfter(t *testing.T) {
	busy := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) {
		rw.Header().Set("Retry-After", "20")
		rw.WriteHeader(http.StatusTooManyRequests)
	}))
	defer busy.Close()
	var log syncBuffer
	p, err := purge.New(purge.Options{Targets: map[string]string{"one": "purge " + busy.URL}, Log: slog.New(slog.NewTextHandler(&log, nil))})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	p.Changed("projects", nil)()
	proxytest.Until(t, "it fails", func() bool { return strings.Contains(log.String(), "again_in") })
	if text := log.String(); !strings.Contains(text, "again_in=20s") {
		t.Error(text)
	}
}
