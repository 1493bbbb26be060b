package proxy_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"vitrine/proxy/health"
	"vitrine/proxy/metrics"
	"vitrine/proxy/proxytest"

	"vitrine/proxy/cockpit"
)

// TestCockpitPage: everyone who reaches the operator's listener gets the page, but its events need the token, and
// pages of other sites get neither.
func TestCockpitPage(t *testing.T) {
	o := proxytest.Options(t)
	o.Admin.Token = "Right"
	s := proxytest.Open(t, proxytest.NewStore(), o)
	for target, want := range map[string]string{
		"/admin/cockpit.html": "text/html; charset=utf-8", "/admin/cockpit.js": "text/javascript; charset=utf-8",
		"/admin/cockpit.draw.js": "text/javascript; charset=utf-8",
		"/admin/cockpit.css":     "text/css; charset=utf-8", "/admin/cockpit.svg": "image/svg+xml",
	} {
		res := s.Admin("GET", target)
		if res.StatusCode != 200 || res.Header.Get("Content-Type") != want ||
			res.Header.Get("Content-Security-Policy") != cockpit.Policy {
			t.Errorf("%s: %d %v", target, res.StatusCode, res.Header)
		}
		if res := s.Admin("GET", target, "Sec-Fetch-Site", "cross-site"); res.StatusCode != 403 {
			t.Errorf("%s for a page of another site: %d", target, res.StatusCode)
		}
	}
	if res := s.Admin("GET", "/"); res.StatusCode != 302 || res.Header.Get("Location") != "/admin/cockpit.html" {
		t.Errorf("/: %d %v", res.StatusCode, res.Header)
	}
	for target, want := range map[string]int{"/admin/live": 403, "/admin/cockpit.go": 403,
		"/admin/cockpit.html/x": 403} {
		if res := s.Admin("GET", target); res.StatusCode != want {
			t.Errorf("%s without the token: %d", target, res.StatusCode)
		}
	}
	if res := s.Admin("GET", "/admin/cockpit.go", "Authorization", "Bearer Right"); res.StatusCode != 404 {
		t.Errorf("a file that is not there: %d", res.StatusCode)
	}
}

// liveEvent is an event of GET /admin/live.
type liveEvent struct {
	State struct {
		Ready   bool
		Actions []string
		Views   []health.ViewStatus
	}
	Metrics map[string]struct {
		Series []struct {
			Labels map[string]string
			Value  float64
		}
	}
	Runs     map[string][]cockpit.Slot
	Failures []cockpit.Minute
}

// readEvent returns the next event of a stream, its name and its data.
func readEvent(t *testing.T, r *bufio.Reader) (name, data string) {
	t.Helper()
	for {
		line, err := r.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		switch line = strings.TrimSpace(line); {
		case strings.HasPrefix(line, "event:"):
			name = strings.TrimSpace(line[len("event:"):])
		case strings.HasPrefix(line, "data:"):
			data = strings.TrimSpace(line[len("data:"):])
		case line == "":
			return name, data
		}
	}
}

// TestCockpitStream: operators see views, requests, runs and failures. Streams are limited in number, free their
// place when the client leaves, and end when the server drains.
func TestCockpitStream(t *testing.T) {
	o := proxytest.Options(t)
	o.Metrics = metrics.New()
	o.Upstream.URL, o.Upstream.Paths = "http://127.0.0.1:1", []string{"/old"}
	s := proxytest.Open(t, proxytest.Institute(t), o)
	public, admin := proxytest.Listen(t), proxytest.Listen(t)
	ctx, stop := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() { served <- s.Server.Serve(ctx, public, admin) }()
	s.Get("/api/activities")
	o.Metrics.JobEnded("activities", "held", 0, 1, 0, 0)

	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	get := func(url string) *http.Response {
		res, err := client.Get(url)
		if err != nil {
			t.Fatal(err)
		}
		return res
	}
	open := func() *http.Response { return get("http://" + admin.Addr().String() + "/admin/live") }
	get("http://" + public.Addr().String() + "/old/page").Body.Close() // nothing listens behind it
	for _, protocol := range []string{"1.0", "1.1"} {
		conn, err := net.Dial("tcp", admin.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		fmt.Fprintf(conn, "HEAD /admin/live HTTP/%s\r\nHost: localhost\r\nConnection: close\r\n\r\n", protocol)
		answer, err := io.ReadAll(conn)
		if _, body, _ := strings.Cut(string(answer), "\r\n\r\n"); err != nil || body != "" ||
			!strings.Contains(string(answer), " 200 ") {
			t.Fatalf("HEAD over HTTP/%s: %q, %v", protocol, answer, err)
		}
	}
	var all []*http.Response
	for {
		res := open()
		if res.StatusCode != 200 {
			res.Body.Close()
			if res.StatusCode != 503 || len(all) != 8 {
				t.Fatalf("stream %d: %d", len(all), res.StatusCode)
			}
			break
		}
		defer res.Body.Close()
		all = append(all, res)
	}
	r := bufio.NewReader(all[0].Body)
	for range 2 {
		_, data := readEvent(t, r)
		var e liveEvent
		if err := json.Unmarshal([]byte(data), &e); err != nil {
			t.Fatal(err)
		}
		requests := e.Metrics["vitrine_request_seconds"].Series
		if !e.State.Ready || len(e.State.Views) == 0 || len(e.State.Actions) == 0 || len(requests) != 2 ||
			requests[0].Labels["endpoint"] != "activities" || len(e.Failures) != 1 || e.Failures[0].Count != 1 ||
			len(e.Runs["activities"]) != 1 || e.Runs["activities"][0].Worst != "held" {
			t.Errorf("event: %s", data)
		}
	}
	all[7].Body.Close()
	proxytest.Until(t, "a place is free", func() bool {
		res := open()
		res.Body.Close()
		return res.StatusCode == 200
	})
	for _, res := range all[1:7] { // closed unread, because the server would wait for their readers
		res.Body.Close()
	}
	stop()
	rest, err := io.ReadAll(r)
	if err != nil || !strings.HasSuffix(string(rest), "event: end\ndata:\n\n") {
		t.Errorf("draining: %v, %s", err, rest)
	}
	if err := <-served; err != nil {
		t.Errorf("Serve = %v", err)
	}
}
