package operations

import (
	"fmt"
	"net"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"vitrine/cmd/vitrine/programtest"
)

// limited starts the demo in a shell that has limited its open files. A soft limit can be raised again, a hard one
// not.
func limited(t *testing.T, kind string, files int) *programtest.Server {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("the limit on open files is read on Linux only")
	}
	dir := t.TempDir()
	cmd := programtest.Command(dir)
	shell := exec.Command("sh", "-c", "ulimit "+kind+" "+strconv.Itoa(files)+` && exec "$0" "$@"`, cmd.Path,
		"serve", "--demo", "--listen", "127.0.0.1:0", "--admin-listen", "127.0.0.1:0", "--log-format", "json")
	shell.Dir, shell.Env = dir, cmd.Env
	return &programtest.Server{T: t, Cmd: shell}
}

// TestFewDescriptors: a limit on open files that leaves too few for connections stops the start, and says how many
// are needed. With so many the server answers a client on each connection that it promises.
func TestFewDescriptors(t *testing.T) {
	t.Parallel()
	for _, files := range []int{64, 127} {
		s := limited(t, "-n", files)
		if s.Listens() {
			t.Errorf("with %d files the server starts", files)
		}
		code, log := s.Wait(), s.Log()
		if want := fmt.Sprintf("the limit of %d open files", files); code == 0 ||
			!strings.Contains(log, want) || !strings.Contains(log, "at least 128") {
			t.Errorf("with %d files: exit code %d: %s", files, code, log)
		}
	}
	s := limited(t, "-n", 128).Start().Ready()
	if !strings.Contains(s.Log(), `"connections":64`) {
		t.Errorf("the log does not say how many connections are left: %s", s.Log())
	}
	var conns []net.Conn
	for range 60 { // the tests' client may still have some
		conn, err := net.Dial("tcp", strings.TrimPrefix(s.Base, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = conn.Close() })
		// At once: the server closes a connection without a request after some seconds.
		if _, err := conn.Write([]byte("GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")); err != nil {
			t.Fatal(err)
		}
		conns = append(conns, conn)
	}
	for i, conn := range conns {
		status := make([]byte, len("HTTP/1.1 200"))
		if _, err := conn.Read(status); err != nil || string(status) != "HTTP/1.1 200" {
			t.Fatalf("connection %d: %q, %v", i, status, err)
		}
	}
	if code := s.Stop(); code != 0 {
		t.Errorf("SIGTERM: exit code %d", code)
	}
}

// TestSoftLimitOnDescriptors: a soft limit below the hard one does not count, because the program raises it.
func TestSoftLimitOnDescriptors(t *testing.T) {
	t.Parallel()
	s := limited(t, "-Sn", 64).Start()
	if code := s.Stop(); code != 0 {
		t.Errorf("SIGTERM: exit code %d", code)
	}
}
