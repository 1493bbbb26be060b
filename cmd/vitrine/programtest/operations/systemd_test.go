package operations

import (
	"net"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"vitrine/cmd/vitrine/programtest"
)

// TestServiceManager: a service manager hears that the server loads, is ready, reloads, lives and ends.
func TestServiceManager(t *testing.T) {
	t.Parallel()
	dir, runtime := t.TempDir(), t.TempDir()
	socket := filepath.Join(runtime, "notify")
	manager, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: socket, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	defer manager.Close()
	// until reads messages until one has a line that begins so.
	until := func(prefix string) []string {
		t.Helper()
		for message := make([]byte, 1<<16); ; {
			n, err := manager.Read(message)
			if err != nil {
				t.Fatal(err)
			}
			lines := strings.Split(string(message[:n]), "\n")
			if slices.ContainsFunc(lines, func(l string) bool { return strings.HasPrefix(l, prefix) }) {
				return lines
			}
		}
	}
	programtest.WriteFile(t, dir, "language: de\n")
	programtest.Setenv(dir, "NOTIFY_SOCKET", socket)
	programtest.Setenv(dir, "WATCHDOG_USEC", "2000000")
	s := programtest.Start(t, dir, "--demo", "--config", "vitrine.yml")
	until("READY=1")
	if status, body := s.Get("/readyz"); status != http.StatusOK {
		t.Errorf("ready, but /readyz answers %d %s", status, body)
	}
	until("WATCHDOG=1")
	until("WATCHDOG=1")
	s.Signal(syscall.SIGHUP)
	if got := until("RELOADING=1"); !strings.HasPrefix(got[1], "MONOTONIC_USEC=") {
		t.Errorf("reload: %q", got)
	}
	if got := until("READY=1"); got[1] != "STATUS=Configuration read again." {
		t.Errorf("reloaded: %q", got)
	}
	programtest.WriteFile(t, dir, "language: xx\n")
	s.Signal(syscall.SIGHUP)
	until("RELOADING=1")
	if got := until("READY=1"); !strings.HasPrefix(got[1], "STATUS=Configuration not reloaded, all settings stay: ") {
		t.Errorf("not reloaded: %q", got)
	}
	until("STATUS=Serving ")
	s.Signal(syscall.SIGTERM)
	until("STOPPING=1")
	if code := s.Wait(); code != 0 {
		t.Errorf("exit code %d", code)
	}
}
