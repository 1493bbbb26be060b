package proxy_test

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
)

// statuses hands on the status of each request that is logged.
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

// endless is a list whose evaluation takes for ever, unless backtracking is bounded.
func endless(n int) string {
	return fmt.Sprintf("/api/activities?limit=%d&json=", n) + url.QueryEscape(`{"title":{"$regex":"((\\w*\\w*\\w*\\w*)*)*\\1[~^]$"}}`)
}

// TestEndlessFilters: beside clients who ask for what takes for ever others are answered,
// and when they leave so does their work.
func TestEndlessFilters(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("connections are not looked at here")
	}
	o := options(t)
	logged := make(chan int64, 1000)
	o.Logger, o.AccessLog = slog.New(statuses{slog.DiscardHandler, logged}), true
	o.Filter.RegexTimeout = time.Hour
	s := serveLive(t, open(t, many(t, 2000), o))
	var hostile []net.Conn
	for i := range 16 {
		conn := s.dial()
		s.write(conn, "GET "+endless(i+1)+" HTTP/1.1\r\nHost: x\r\n\r\n")
		hostile = append(hostile, conn)
	}
	for i := range 20 {
		if res := s.get(fmt.Sprintf(`/api/activities?limit=3&filter[year][$ne]=%d`, i)); res.StatusCode != 200 {
			t.Fatalf("a list beside them: status %d: %.200s", res.StatusCode, res.body)
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

// TestBacktrackingBudget: all records and expressions share what a request has.
func TestBacktrackingBudget(t *testing.T) {
	s := open(t, many(t, 200), options(t))
	e := s.get(endless(1)).envelope(t)
	if e.Status != 400 || !strings.Contains(e.Msg, "title.$regex") || !strings.Contains(e.Msg, "backtracking") {
		t.Errorf("envelope = %+v, want 400 naming the expression", e)
	}
}
