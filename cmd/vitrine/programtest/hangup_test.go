package programtest

import (
	"net/http"
	"os/exec"
	"os/signal"
	"syscall"
	"testing"
)

// TestHangup closes the terminal that a server was started from: the server shuts down cleanly, or
// goes on if it was started to ignore that.
func TestHangup(t *testing.T) {
	t.Parallel()
	t.Run("ends", func(t *testing.T) {
		if signal.Ignored(syscall.SIGHUP) {
			t.Skip("the test itself ignores SIGHUP")
		}
		s := startServer(t, t.TempDir(), "--demo").ready()
		if err := s.cmd.Process.Signal(syscall.SIGHUP); err != nil {
			t.Fatal(err)
		}
		if code := s.wait(); code != 0 {
			t.Errorf("SIGHUP: exit code %d\n%s", code, s.logged())
		}
	})
	t.Run("nohup", func(t *testing.T) {
		nohup, err := exec.LookPath("nohup")
		if err != nil {
			t.Skip(err)
		}
		cmd := command(t.TempDir(), "serve", "--listen", "127.0.0.1:0", "--admin-listen", "127.0.0.1:0",
			"--log-format", "json",
			"--demo")
		cmd.Path, cmd.Args = nohup, append([]string{nohup}, cmd.Args...)
		s := &server{t: t, cmd: cmd}
		s.cmd.Stdout = &s.stdout
		s.start().ready()
		if err := s.cmd.Process.Signal(syscall.SIGHUP); err != nil {
			t.Fatal(err)
		}
		if status, body := s.get("/api/activities?limit=1"); status != http.StatusOK {
			t.Errorf("after SIGHUP: %d %s", status, body)
		}
		if code := s.stop(); code != 0 {
			t.Errorf("SIGTERM: exit code %d\n%s", code, s.logged())
		}
	})
}
