package upstream_test

import (
	"net/http"
	"testing"
	"time"
)

// TestVariantsStay: a client whose headers get an answer that cannot be kept drops no kept answer to other headers.
func TestVariantsStay(t *testing.T) {
	w := newWorld(t, func(rw http.ResponseWriter, r *http.Request) {
		rw.Header().Set("Vary", "Accept-Language")
		if r.Header.Get("Accept-Language") == "none" {
			rw.WriteHeader(http.StatusNotAcceptable)
			return
		}
		says(r.Header.Get("Accept-Language"), "Cache-Control", "max-age=60")(rw, r)
	}, nil)
	for _, language := range []string{"de", "en", "none"} {
		w.get("/old", "Accept-Language", language)
	}
	w.asks(0, "after an answer that cannot be kept", func() {
		for _, language := range []string{"de", "en"} {
			if res := w.get("/old", "Accept-Language", language); res.body != language {
				t.Errorf("%s: %q", language, res.body)
			}
		}
	})
	w.pass(2 * time.Minute)
	w.answers(says("", "Vary", "Accept-Language", "Cache-Control", "no-store"))
	w.get("/old", "Accept-Language", "de")
	w.answers(func(rw http.ResponseWriter, _ *http.Request) { rw.WriteHeader(http.StatusServiceUnavailable) })
	if res := w.get("/old", "Accept-Language", "de"); res.StatusCode != http.StatusServiceUnavailable {
		t.Errorf("an answer that may no longer be kept is: %d", res.StatusCode)
	}
}
