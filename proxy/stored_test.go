package proxy_test

import (
	"context"
	"fmt"
	"io"
	"iter"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/origin"
	"vitrine/cache/view"
	"vitrine/proxy/api"
	"vitrine/proxy/proxytest"
	"vitrine/rules"
)

// TestModeIsTold: the operator's listener reports where the rows of each view are.
func TestModeIsTold(t *testing.T) {
	proxytest.ViewsAre = view.Store
	defer func() { proxytest.ViewsAre = view.Memory }()
	s := proxytest.Open(t, proxytest.Institute(t), proxytest.Options(t))
	if body := string(s.Admin(http.MethodGet, "/admin/views").Body); strings.Count(body, `"mode":"store"`) !=
		len(api.Views()) {
		t.Errorf("modes are not reported: %s", body)
	}
	if text := string(s.Admin(http.MethodGet, "/metrics").Body); !strings.Contains(text,
		`vitrine_view_stored{view="activities"} 1`) {
		t.Error("the metrics do not report the mode")
	}
}

// TestAnswerCatchesUp requests while the front end knows only an older generation: it notices, and
// answers from the newest.
func TestAnswerCatchesUp(t *testing.T) {
	proxytest.ViewsAre = view.Store
	defer func() { proxytest.ViewsAre = view.Memory }()
	s := proxytest.Open(t, proxytest.Institute(t), proxytest.Options(t))
	const query = "/api/search/persons?limit=1"
	if n := *s.Get(query).Envelope(t).Count; n == 0 {
		t.Fatal("there is no person")
	}
	for n := range 3 {
		before := *s.Get(query + "&columns[]=first").Envelope(t).Count
		proxytest.Until(t, "the answer is kept", func() bool { // the cache stores it while the request goes on
			return strings.HasSuffix(s.Get(query+"&columns[]=first").Header.Get("Cache-Status"), "hit")
		})
		doc, err := bson.Marshal(bson.D{{Key: "_id", Value: n}, {Key: "first", Value: "Ada"}})
		if err != nil {
			t.Fatal(err)
		}
		s.Store.Publish(rules.ViewPersons, doc)
		// The view may have been refreshed meanwhile.
		if kept := *s.Get(query + "&columns[]=first").Envelope(t).Count; kept != before && kept != before+1 {
			t.Errorf("count %d of a cached answer, want %d", kept, before)
		}
		if got := *s.Get(query + fmt.Sprintf("&columns[]=last&columns[]=x%d", n)).Envelope(t).Count; got != before+1 {
			t.Errorf("count %d after a publication, want %d", got, before+1)
		}
	}
}

// breaking is a store whose queries stop before the last row while breaks is set, as if the view had moved on.
type breaking struct {
	view.Source
	breaks *atomic.Bool
}

func (b breaking) Select(ctx context.Context, at origin.Meta, q origin.Query) iter.Seq2[bson.Raw, error] {
	if !b.breaks.Load() {
		return b.Source.Select(ctx, at, q)
	}
	return func(yield func(bson.Raw, error) bool) {
		var last bson.Raw
		for doc, err := range b.Source.Select(ctx, at, q) {
			if err != nil || last != nil && !yield(last, nil) {
				return
			}
			last = doc
		}
		yield(nil, origin.ErrStale)
	}
}

// TestBrokenOff replaces a view again and again while it is read: an answer built for the cache
// fails as a whole, and a streamed answer never looks complete.
func TestBrokenOff(t *testing.T) {
	proxytest.ViewsAre = view.Store
	defer func() { proxytest.ViewsAre = view.Memory }()
	o := proxytest.Options(t)
	o.Limits.RequestTimeout = 200 * time.Millisecond
	var breaks atomic.Bool
	many := func() *proxytest.Store {
		s := proxytest.Many(t, 300)
		s.Queries = func(from view.Source) view.Source { return breaking{from, &breaks} }
		return s
	}
	s := proxytest.Open(t, many(), o)
	breaks.Store(true)
	if res := s.Get("/api/activities?limit=1000"); res.StatusCode != http.StatusServiceUnavailable {
		t.Errorf("status %d of an answer for the cache, want 503", res.StatusCode)
	}
	o.Limits.KeptBytes, o.Limits.RequestTimeout = 1, proxytest.Patience
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	breaks.Store(false)
	streaming := proxytest.Open(t, many(), o)
	at := proxytest.ServeLive(t, streaming)
	whole, err := client.Get("http://" + at.Addr + "/api/all-activities")
	if err != nil {
		t.Fatal(err)
	}
	defer whole.Body.Close()
	if _, err := io.ReadAll(whole.Body); err != nil {
		t.Fatal(err)
	}
	breaks.Store(true)
	broken, err := client.Get("http://" + at.Addr + "/api/all-activities?type=")
	if err != nil {
		return // aborted before the first byte
	}
	defer broken.Body.Close()
	if text, err := io.ReadAll(broken.Body); err == nil && broken.StatusCode == http.StatusOK {
		t.Errorf("%d bytes look complete: …%s", len(text), text[max(len(text)-100, 0):])
	}
}
