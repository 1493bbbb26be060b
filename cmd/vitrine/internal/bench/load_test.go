package bench

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"maps"
	"net"
	"net/rpc/jsonrpc"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gofiber/fiber/v2"
)

// target is a server that records requests.
type target struct {
	child
	mu   sync.Mutex // guards seen
	seen map[string]int
}

// requests returns the numbers of requests so far, by path. Clients that have left may have requests under way.
func (s *target) requests() map[string]int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.seen)
}

// childAt is a child that drives a server at an address. It has no process.
func childAt(addr string) child { return child{addr: addr, cmd: &exec.Cmd{Process: &os.Process{}}} }

// newTarget returns a server that answers every request with h.
func newTarget(t *testing.T, h fiber.Handler) *target {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &target{child: childAt(ln.Addr().String()), seen: map[string]int{}}
	app := fiber.New(fiber.Config{DisableStartupMessage: true})
	app.Get("/*", func(c *fiber.Ctx) error {
		s.mu.Lock()
		s.seen[strings.Clone(c.OriginalURL())]++
		s.mu.Unlock()
		return h(c)
	})
	done := make(chan error, 1)
	go func() { done <- app.Listener(ln) }()
	t.Cleanup(func() {
		if err := app.Shutdown(); err != nil {
			t.Error(err)
		}
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return s
}

func paths(n int) []string {
	all := make([]string, n)
	for i := range all {
		all[i] = fmt.Sprintf("/p?n=%d", i)
	}
	return all
}

func TestDriveOnce(t *testing.T) {
	s := newTarget(t, func(c *fiber.Ctx) error {
		if c.QueryInt("n")%2 == 0 {
			c.Set("Cache-Status", "vitrine; hit")
		} else {
			c.Set("Cache-Status", "vitrine; fwd=miss; stored")
		}
		return c.SendString("twelve bytes")
	})
	got, err := drive(t.Context(), &s.child, task{Paths: paths(40), Once: true, Conns: 3, Duration: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Took) != 40 || got.Bytes != 480 || got.Hits != 20 {
		t.Errorf("%d requests, %d bytes, %d hits", len(got.Took), got.Bytes, got.Hits)
	}
	for path, n := range s.requests() {
		if n != 1 {
			t.Errorf("%s: %d requests, want 1", path, n)
		}
	}
	if got.rate() <= 0 || got.quantile(1) <= 0 {
		t.Errorf("rate %v, longest %v", got.rate(), got.quantile(1))
	}
}

// TestDriveUntilStopped requests one path again and again, reads streamed bodies, and ends with its
// context.
func TestDriveUntilStopped(t *testing.T) {
	reached := make(chan struct{}, 1)
	n := 0
	s := newTarget(t, func(c *fiber.Ctx) error {
		if n++; n == 30 {
			reached <- struct{}{}
		}
		c.Context().SetBodyStream(strings.NewReader(strings.Repeat("x", 700_000)), -1)
		return nil
	})
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-reached; cancel() }()
	got, err := drive(ctx, &s.child, task{Paths: []string{"/"}, Duration: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Took) < 29 || got.Bytes != 700_000*int64(len(got.Took)) {
		t.Errorf("%d requests, %d bytes", len(got.Took), got.Bytes)
	}
}

// TestLongBodiesAreNotHeld: the driver reads a body of known length piece by piece, like a chunked
// one.
func TestLongBodiesAreNotHeld(t *testing.T) {
	const long = 64 << 20
	s := newTarget(t, func(c *fiber.Ctx) error {
		c.Context().SetBodyStream(io.LimitReader(zeros{}, long), long)
		return nil
	})
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	got, err := drive(t.Context(), &s.child, task{Paths: paths(2), Once: true, Duration: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	runtime.ReadMemStats(&after)
	if got.Bytes != 2*long {
		t.Errorf("read %d bytes, want %d", got.Bytes, 2*long)
	}
	if took := after.TotalAlloc - before.TotalAlloc; took > long/4 {
		t.Errorf("%d bytes were allocated for bodies of %d", took, long)
	}
}

// zeros is an endless stream.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) { return len(p), nil }

func TestDrivePaced(t *testing.T) {
	s := newTarget(t, func(c *fiber.Ctx) error { return c.SendStatus(fiber.StatusNotModified) })
	job := task{Paths: paths(50), Once: true, Conns: 8, Duration: time.Hour, Rate: 1000,
		Status: fiber.StatusNotModified}
	got, err := drive(t.Context(), &s.child, job)
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Took) != 50 {
		t.Fatalf("%d requests", len(got.Took))
	}
	if got.Elapsed < 49*time.Millisecond {
		t.Errorf("the last request began before it was due: all took %v", got.Elapsed)
	}
}

func TestDriveRefusesWrongAnswers(t *testing.T) {
	s := newTarget(t, func(c *fiber.Ctx) error { return c.Status(503).SendString("out of order") })
	tests := []struct {
		name string
		at   child
		job  task
		want string
	}{
		{"another status", s.child, task{Paths: []string{"/x"}, Duration: time.Hour}, "status 503: out of order"},
		{"no server", childAt("127.0.0.1:1"), task{Paths: []string{"/x"}, Duration: time.Hour}, "/x"},
		{"no paths", s.child, task{Duration: time.Hour}, "without paths"},
	}
	for _, tt := range tests {
		if _, err := drive(t.Context(), &tt.at, tt.job); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: got %v, want an error with %q", tt.name, err, tt.want)
		}
	}
}

func TestArithmetic(t *testing.T) {
	var l sample
	for i := range 100 {
		l.Took = append(l.Took, time.Duration(100-i))
	}
	tests := []struct{ name, got, want string }{
		{"p50 of 1 to 100", fmt.Sprint(int(l.quantile(0.50))), "51"},
		{"p99 of 1 to 100", fmt.Sprint(int(l.quantile(0.99))), "100"},
		{"the longest", fmt.Sprint(int(l.quantile(1))), "100"},
		{"of none", fmt.Sprint(int(sample{}.quantile(0.5))), "0"},
		{"rate of nothing", fmt.Sprint(sample{}.rate()), "0"},
	}
	for _, tt := range tests {
		if tt.got != tt.want {
			t.Errorf("%s: got %s, want %s", tt.name, tt.got, tt.want)
		}
	}
}

// TestDriveSendsHeaders checks the headers of every request.
func TestDriveSendsHeaders(t *testing.T) {
	s := newTarget(t, func(c *fiber.Ctx) error {
		if c.Get("If-None-Match") != `"1"` || c.Get("Accept-Encoding") != "gzip" {
			return c.Status(400).SendString("a header is missing")
		}
		return c.SendStatus(fiber.StatusNotModified)
	})
	header := map[string]string{"If-None-Match": `"1"`, "Accept-Encoding": "gzip"}
	job := task{Paths: paths(6), Once: true, Conns: 2, Duration: time.Hour, Header: header,
		Status: fiber.StatusNotModified}
	if got, err := drive(t.Context(), &s.child, job); err != nil || len(got.Took) != 6 || got.Bytes != 0 {
		t.Errorf("%d requests, %d bytes, %v", len(got.Took), got.Bytes, err)
	}
}

// TestDriveEnds checks the other limits that end a job.
func TestDriveEnds(t *testing.T) {
	s := newTarget(t, func(c *fiber.Ctx) error { return c.SendString("x") })
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	tests := []struct {
		name  string
		ctx   context.Context
		job   task
		least int // the least number of requests
		most  int
	}{
		{"a context that has ended", ended, task{Duration: time.Hour}, 1, 1},
		{"an instant that has passed", t.Context(), task{Duration: 1}, 1, 3},
		{"requests due after the end", t.Context(), task{Duration: 50 * time.Millisecond, Conns: 4, Rate: 1}, 0, 1},
		{"fewer paths than connections", t.Context(), task{Duration: time.Hour, Conns: 9, Once: true}, 3, 3},
	}
	for _, tt := range tests {
		tt.job.Paths = paths(3)
		got, err := drive(tt.ctx, &s.child, tt.job)
		if n := len(got.Took); err != nil || n < tt.least || n > tt.most {
			t.Errorf("%s: %d requests, %v", tt.name, n, err)
		}
	}
}

// TestCrowd: a crowd counts only its own requests, and leaves in the middle of an answer.
func TestCrowd(t *testing.T) {
	left := make(chan error, 1)
	ctx, end := context.WithCancel(t.Context())
	s := newTarget(t, func(c *fiber.Ctx) error {
		switch c.QueryInt("n") {
		case 0:
			return c.SendString("ok")
		case 1:
			return c.SendStatus(503)
		}
		c.Context().SetBodyStreamWriter(func(w *bufio.Writer) {
			for n := 0; ; n++ {
				if _, err := w.Write(make([]byte, 1<<20)); err != nil {
					left <- err
					return
				}
				if n == 16 { // more than is on its way: the client reads the answer
					end() // the task, in the middle however slow the machine is
				}
			}
		})
		return nil
	})
	got, err := drive(ctx, &s.child, task{Paths: paths(3), Conns: 1, Duration: time.Hour, Crowd: true})
	if err != nil || len(got.Took) != 1 {
		t.Errorf("%d requests counted, %v", len(got.Took), err)
	}
	<-left
}

// TestBeside: the figures measured beside a crowd leave out the crowd's requests.
func TestBeside(t *testing.T) {
	s := newTarget(t, func(c *fiber.Ctx) error { return c.SendString("x") })
	b := benchOf(words(t))
	b.serving, b.Rounds, b.Duration, b.run.Beside = &s.child, 1, 50*time.Millisecond, map[string][len(crowds)]Beside{}
	if err := b.beside(t.Context(), caseNamed("filter-scan")); err != nil {
		t.Fatal(err)
	}
	for i, r := range b.run.Beside["filter-scan"] {
		if r.Kept <= 0 || r.Uncached <= 0 {
			t.Errorf("beside %d: %+v", crowds[i], r)
		}
	}
	if n := s.requests()["/api/activities?limit=20"]; n < len(crowds) { // a busy machine may not keep the pace
		t.Errorf("%d requests for the cached answer", n)
	}
}

// TestFirstAnswers: a question that is refused at first is asked until it is answered.
func TestFirstAnswers(t *testing.T) {
	refused := 0
	s := newTarget(t, func(c *fiber.Ctx) error {
		if c.Query("q") != "" && refused < 3 {
			refused++
			return c.SendStatus(503)
		}
		return c.SendString("x")
	})
	b := benchOf(words(t))
	b.serving = &s.child
	if slowest, err := b.firstAnswers(t.Context()); err != nil || slowest < 3*readyPoll ||
		len(s.requests()) != len(firstCases) {
		t.Errorf("%s, %v, %d questions", slowest, err, len(s.requests()))
	}
}

func TestCompressAlone(t *testing.T) {
	s := newTarget(t, func(c *fiber.Ctx) error { return c.SendString(strings.Repeat("text ", 100_000)) })
	if took, err := compressAlone("http://" + s.addr); err != nil || took <= 0 {
		t.Errorf("%s, %v", took, err)
	}
	if _, err := compressAlone("http://" + s.addr + ":"); err == nil {
		t.Error("no server: no error")
	}
}

// TestFailedCase: a case that fails has an empty result, which the table shows.
func TestFailedCase(t *testing.T) {
	s, b := newTarget(t, func(c *fiber.Ctx) error { return c.SendStatus(503) }), benchOf(words(t))
	in, out := io.Pipe()
	calls := jsonrpc.NewClient(pipe{in, out})
	if err := calls.Close(); err != nil {
		t.Fatal(err)
	}
	b.Cases, b.Rounds, b.Duration, b.run.Results = regexp.MustCompile(
		"^list$"), 1, time.Millisecond, map[string]*Result{}
	b.serving, b.bare = &s.child, &child{cmd: s.cmd, calls: calls}
	if err := b.everyCase(t.Context()); err == nil || !strings.Contains(err.Error(), "case list: ") {
		t.Errorf("got %v", err)
	}
	if r := b.run.Results["list"]; r == nil || *r != (Result{}) {
		t.Errorf("the result is %+v", r)
	}
}
