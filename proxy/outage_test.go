package proxy_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"vitrine/proxy/proxytest"

	"vitrine/cache/origin/circuit"
	"vitrine/cache/view"
	"vitrine/proxy"
)

// unconfirmed is a source whose views the store has not confirmed for an hour.
type unconfirmed struct{ proxy.Source }

func (u unconfirmed) Status() []view.Status {
	all := u.Source.Status()
	for i := range all {
		all[i].Checked, all[i].Stale = proxytest.Published.Add(-time.Hour), true
		all[i].Err = errors.New("dial store.internal: refused")
	}
	return all
}

// TestStoreAway: the front end keeps serving everything, and every answer has its age; only the
// operator's listener reports the internal error.
func TestStoreAway(t *testing.T) {
	o := proxytest.Options(t)
	o.Views = unconfirmed{proxytest.Open(t, proxytest.Institute(t), proxytest.Options(t)).Views}
	o.Store = func() circuit.State {
		return circuit.State{Store: "mongodb://store.internal/x", Open: true, Since: time.Now(),
			Contact: time.Now().Add(-time.Hour),
			Err:     errors.New("refused"), Opened: 1}
	}
	server, err := proxy.New(o)
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	s := &proxytest.Site{T: t, Server: server}
	const first, then = "vitrine; fwd=miss; stored; detail=stale", "vitrine; hit; detail=stale"
	for got := ""; got != then; { // the front end finds the new error a moment later
		res := s.Get("/api/activities")
		if got = res.Header.Get("Cache-Status"); res.StatusCode != 200 || got != first && got != then {
			t.Fatalf("%d, Cache-Status %q, want %q, then %q", res.StatusCode, got, first, then)
		}
		if age, data := res.Header.Get("Age"), res.Header.Get("Vitrine-Data-Age"); age != "0" || data != "3600" {
			t.Errorf("Age %q, Vitrine-Data-Age %q", age, data)
		}
	}
	res := s.Get("/readyz")
	if text := string(res.Body); res.StatusCode != 200 || !strings.Contains(text, `"state":"degraded"`) ||
		!strings.Contains(text, `"view":"activities"`) || strings.Contains(text, "store.internal") {
		t.Errorf("readyz: %d %s", res.StatusCode, text)
	}
}

// unfiled is a source whose snapshot files could never be written.
type unfiled struct{ proxy.Source }

func (u unfiled) Status() []view.Status {
	all := u.Source.Status()
	for i := range all {
		all[i].FileErr = errors.New("read-only file system")
	}
	return all
}

// TestFileNeverWritten: the operator's listener also reports a file that failed from the start.
func TestFileNeverWritten(t *testing.T) {
	o := proxytest.Options(t)
	o.Views = unfiled{proxytest.Open(t, proxytest.Institute(t), proxytest.Options(t)).Views}
	server, err := proxy.New(o)
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	s := &proxytest.Site{T: t, Server: server}
	if text := string(s.Admin("GET", "/metrics").Body); !strings.Contains(text,
		`vitrine_view_file_failing{view="activities"} 1`) {
		t.Error("the metrics do not report the failure")
	}
}
