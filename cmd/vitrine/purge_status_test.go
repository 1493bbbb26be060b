package main

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"vitrine/configs"
)

// TestStatusOfPurges: /admin/views and `vitrine status` name a cache in front that refuses purges, and say why.
func TestStatusOfPurges(t *testing.T) {
	t.Parallel()
	refusing := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusForbidden)
	}))
	defer refusing.Close()
	cfg := configs.Default()
	cfg.Purge.Targets = map[string]configs.URI{"front": configs.URI("purge " + refusing.URL)}
	r := runConfigured(t, cfg, func(r *running) { r.put("activities", activity("a1", "First")) })
	cfg.Store, cfg.Admin.Listen = configs.URI(r.store.Name()), strings.TrimPrefix(r.admin, "http://")
	var out strings.Builder
	await(t, "the purge has failed", func() string {
		report, err := servedStatus(context.Background(), cfg, r.store.Name(), storeTime)
		if err != nil {
			return err.Error()
		}
		out.Reset()
		if err := output.ExecuteTemplate(&out, "status of purges", report.Purge); err != nil {
			t.Fatal(err)
		}
		return unless(strings.Contains(out.String(), "the last requests failed: front answered 403 Forbidden"))
	})
	if text := out.String(); !strings.HasPrefix(text, "purge: front: ") ||
		!strings.Contains(text, "0 batches were given up") {
		t.Error(text)
	}
}
