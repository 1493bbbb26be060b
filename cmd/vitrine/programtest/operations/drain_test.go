package operations

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"vitrine/cmd/vitrine/programtest"
)

// line is a connection that a client keeps open.
type line struct {
	t    testing.TB
	conn net.Conn
	in   *bufio.Reader
}

// dial opens a connection to a server.
func dial(s *programtest.Server) *line {
	s.T.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(s.Base, "http://"))
	if err != nil {
		s.T.Fatal(err)
	}
	s.T.Cleanup(func() { _ = conn.Close() })
	return &line{t: s.T, conn: conn, in: bufio.NewReader(conn)}
}

// ask sends a request and reads the head of its answer.
func (l *line) ask(path string) *http.Response {
	l.t.Helper()
	if _, err := fmt.Fprintf(l.conn, "GET %s HTTP/1.1\r\nHost: x\r\n\r\n", path); err != nil {
		l.t.Fatal(err)
	}
	res, err := http.ReadResponse(l.in, nil)
	if err != nil {
		l.t.Fatalf("%s: %v", path, err)
	}
	return res
}

// whole reads an answer to its end.
func (l *line) whole(res *http.Response) string {
	l.t.Helper()
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		l.t.Fatalf("after %d bytes: %v", len(body), err)
	}
	return string(body)
}

// large makes a store of activities whose full list exceeds the socket buffers.
func large(t *testing.T, dir string) {
	t.Helper()
	padding, err := json.Marshal(strings.Repeat("many words ", 4000))
	if err != nil {
		t.Fatal(err)
	}
	lines := make([]string, 400)
	for i := range lines {
		lines[i] = fmt.Sprintf(`{"_id":"a%d","type":"lecture","title":"%d","notes":%s}`, i, i, padding)
	}
	programtest.WriteLines(t, dir+"/activities.jsonl", lines...)
	programtest.Run(t, dir, "import", "--store", "bolt://v.db", "activities.jsonl")
}

// TestDrain sends SIGTERM to a server with open client connections: it first reports that it is not ready, goes on
// answering and closes each client's connection after an answer.
func TestDrain(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	programtest.Setenv(dir, "VITRINE_SHUTDOWN_DELAY", "1h") // longer than any pause of a busy machine
	s := programtest.Start(t, dir, "--demo").Ready()
	kept := dial(s)
	if res := kept.ask("/api/activities?limit=1"); res.Close || !strings.Contains(kept.whole(res), `"count":600`) {
		t.Fatalf("%s before SIGTERM, connection closed: %t", res.Status, res.Close)
	}
	if err := s.Cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	programtest.Await(t, "the server drains", func() string {
		status, body := s.Get("/readyz")
		return programtest.Unless(status == http.StatusServiceUnavailable && strings.Contains(body, "Draining"))
	})
	res := kept.ask("/api/activities?limit=1")
	if kept.whole(res); res.StatusCode != http.StatusOK || !res.Close {
		t.Errorf("while draining, on an older connection: %s, connection closed: %t", res.Status, res.Close)
	}
	fresh := dial(s)
	res = fresh.ask("/api/activities?limit=2")
	if fresh.whole(res); res.StatusCode != http.StatusOK || !res.Close {
		t.Errorf("while draining, on a new connection: %s, connection closed: %t", res.Status, res.Close)
	}
}

// TestDrainEnds: after its delay a server accepts no more connections, finishes the requests in progress, and exits
// with code 0.
func TestDrainEnds(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	large(t, dir)
	programtest.Setenv(dir, "VITRINE_SHUTDOWN_DELAY", "1s")
	s := programtest.Start(t, dir, "--store", "bolt://v.db").Ready()
	stream := dial(s)
	streamed := stream.ask("/api/activities?full=1") // 17 MB, unread so far
	if err := s.Cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	// A server that no longer listens must still answer this client.
	programtest.Await(t, "no connection is accepted", func() string {
		conn, err := net.Dial("tcp", strings.TrimPrefix(s.Base, "http://"))
		if err == nil {
			_ = conn.Close()
		}
		return programtest.Unless(err != nil)
	})
	body := stream.whole(streamed)
	if want := streamed.Header.Get("Content-Length"); strconv.Itoa(len(body)) != want {
		t.Errorf("stream of %d bytes, %s announced", len(body), want)
	}
	if e := programtest.Decode(t, body); e.Count != 400 || len(e.Data) != 400 {
		t.Errorf("stream of %d rows, count %d", len(e.Data), e.Count)
	}
	if code := s.Wait(); code != 0 {
		t.Errorf("exit code %d\n%s", code, s.Log())
	}
}

// TestDrainDoesNotWaitForEver: the server closes the connection of a client that does not read its
// answer, and the exit code is that of a clean end.
func TestDrainDoesNotWaitForEver(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	large(t, dir)
	programtest.Setenv(dir, "VITRINE_SHUTDOWN_DELAY", "0")
	programtest.Setenv(dir, "VITRINE_SHUTDOWN_GRACE", "300ms")
	s := programtest.Start(t, dir, "--store", "bolt://v.db").Ready()
	stuck := dial(s)
	stuck.ask("/api/activities?full=1")
	if code := s.Stop(); code != 0 {
		t.Errorf("exit code %d\n%s", code, s.Log())
	}
	if !strings.Contains(s.Log(), "cut off") {
		t.Errorf("the log does not name the client that was cut off:\n%s", s.Log())
	}
}
