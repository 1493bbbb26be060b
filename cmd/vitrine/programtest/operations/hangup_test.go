package operations

import (
	"net/http"
	"os/exec"
	"os/signal"
	"syscall"
	"testing"

	"vitrine/cmd/vitrine/programtest"
)

// TestHangup closes the terminal that a server was started from: the server shuts down cleanly, or
// goes on if it was started to ignore that.
func TestHangup(t *testing.T) {
	t.Parallel()
	t.Run("ends", func(t *testing.T) {
		if signal.Ignored(syscall.SIGHUP) {
			t.Skip("the test itself ignores SIGHUP")
		}
		s := programtest.Start(t, t.TempDir(), "--demo").Ready()
		if err := s.Cmd.Process.Signal(syscall.SIGHUP); err != nil {
			t.Fatal(err)
		}
		if code := s.Wait(); code != 0 {
			t.Errorf("SIGHUP: exit code %d\n%s", code, s.Log())
		}
	})
	t.Run("nohup", func(t *testing.T) {
		nohup, err := exec.LookPath("nohup")
		if err != nil {
			t.Skip(err)
		}
		cmd := programtest.Command(t.TempDir(), "serve", "--listen", "127.0.0.1:0", "--admin-listen", "127.0.0.1:0",
			"--log-format", "json",
			"--demo")
		cmd.Path, cmd.Args = nohup, append([]string{nohup}, cmd.Args...)
		s := &programtest.Server{T: t, Cmd: cmd}
		s.Cmd.Stdout = &s.Stdout
		s.Start().Ready()
		if err := s.Cmd.Process.Signal(syscall.SIGHUP); err != nil {
			t.Fatal(err)
		}
		if status, body := s.Get("/api/activities?limit=1"); status != http.StatusOK {
			t.Errorf("after SIGHUP: %d %s", status, body)
		}
		if code := s.Stop(); code != 0 {
			t.Errorf("SIGTERM: exit code %d\n%s", code, s.Log())
		}
	})
}
