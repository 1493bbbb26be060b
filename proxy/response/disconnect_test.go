package response_test

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"runtime"
	"strings"
	"testing"
	"time"

	"vitrine/proxy/proxytest"
)

// statuses passes on the status of each logged request.
type statuses struct {
	slog.Handler
	logged chan int64
}

func (s statuses) Enabled(context.Context, slog.Level) bool { return true }

func (s statuses) Handle(_ context.Context, r slog.Record) error {
	r.Attrs(func(a slog.Attr) bool {
		if r.Message == "request" && a.Key == "status" {
			s.logged <- a.Value.Int64()
		}
		return true
	})
	return nil
}

// endless is a list whose evaluation never ends, unless backtracking is bounded.
func endless(n int) string {
	return fmt.Sprintf("/api/activities?limit=%d&json=", n) +
		url.QueryEscape(`{"title":{"$regex":"((\\w*\\w*\\w*\\w*)*)*\\1[~^]$"}}`)
}

// TestEndlessFilters: while clients request endless evaluations, others get answers; when the
// clients leave, their work ends.
func TestEndlessFilters(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the server cannot watch connections here")
	}
	o := proxytest.Options(t)
	o.Limits.Backtracking = time.Hour
	logged := make(chan int64, 1000)
	o.Logger, o.AccessLog = slog.New(statuses{slog.DiscardHandler, logged}), true
	s := proxytest.ServeLive(t, proxytest.Open(t, proxytest.Many(t, 2000), o))
	var hostile []net.Conn
	for i := range 16 {
		conn := s.Dial()
		s.Write(conn, "GET "+endless(i+1)+" HTTP/1.1\r\nHost: x\r\n\r\n")
		hostile = append(hostile, conn)
	}
	for i := range 20 {
		if res := s.Get(fmt.Sprintf(`/api/activities?limit=3&filter[year][$ne]=%d`, i)); res.StatusCode != 200 {
			t.Fatalf("a list at the same time: status %d: %.200s", res.StatusCode, res.Body)
		}
		if got := <-logged; got != 200 {
			t.Fatalf("logged status %d, want 200", got)
		}
	}
	for _, conn := range hostile {
		if err := conn.Close(); err != nil {
			t.Fatal(err)
		}
	}
	for range hostile {
		if got := <-logged; got != 499 {
			t.Errorf("logged status %d, want 499", got)
		}
	}
}

// TestBacktrackingBudget: all records and expressions share the budget of a request.
func TestBacktrackingBudget(t *testing.T) {
	s := proxytest.Open(t, proxytest.Many(t, 200), proxytest.Options(t))
	e := s.Get(endless(1)).Envelope(t)
	if e.Status != 400 || !strings.Contains(e.Msg, "title.$regex") || !strings.Contains(e.Msg, "backtracking") {
		t.Errorf("envelope = %+v, want 400 naming the expression", e)
	}
}
