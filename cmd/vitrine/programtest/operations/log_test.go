package operations

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"vitrine/cmd/vitrine/programtest"
)

// unread is a server whose standard output is a full pipe without a reader. Tests read its standard
// error only when they choose to.
type unread struct {
	*programtest.Server
	log   *os.File
	lines *bufio.Scanner
}

func startUnread(t *testing.T) *unread {
	t.Helper()
	pipe := func() (r, w *os.File) {
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _, _ = r.Close(), w.Close() })
		return r, w
	}
	_, full := pipe()
	for full.SetWriteDeadline(time.Now().Add(10*time.Millisecond)) == nil { // until a whole one passes without room
		n, err := full.Write(make([]byte, 2<<20))
		if !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Fatalf("the pipe is not full: %v", err)
		}
		if n == 0 {
			break
		}
	}
	log, stderr := pipe()
	cmd := programtest.Command(t.TempDir(), "serve", "--listen", "127.0.0.1:0", "--admin-listen", "127.0.0.1:0",
		"--log-format",
		"json", "--demo")
	cmd.Env = append(cmd.Env, "VITRINE_SHUTDOWN_DELAY=0")
	cmd.Stdout, cmd.Stderr = full, stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_ = stderr.Close() // only the child holds it from here on
	t.Cleanup(func() { _, _ = cmd.Process.Kill(), cmd.Wait() })
	u := &unread{Server: &programtest.Server{T: t, Cmd: cmd}, log: log, lines: programtest.NewLines(log)}
	var at struct{ Address, Admin string }
	u.readTo("listening", &at)
	u.Base, u.Admin = "http://"+at.Address, "http://"+at.Admin
	return u
}

// readTo reads the log as far as the next line with a message.
func (u *unread) readTo(msg string, entry any) {
	u.T.Helper()
	for u.lines.Scan() {
		var line struct{ Msg string }
		if err := json.Unmarshal(u.lines.Bytes(), &line); err != nil {
			u.T.Fatalf("the log has a broken line: %v: %.200q", err, u.lines.Text())
		}
		if line.Msg == msg {
			if err := json.Unmarshal(u.lines.Bytes(), entry); err != nil {
				u.T.Fatal(err)
			}
			return
		}
	}
	u.T.Fatalf("the log ended before %q: %v", msg, u.lines.Err())
}

// ask expects an answer to a request with a long line in the log.
func (u *unread) ask() {
	u.T.Helper()
	ctx, cancel := context.WithTimeout(u.T.Context(), 5*time.Minute) // a server that blocks never answers
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.Base+"/docs?x="+strings.Repeat("x", 2000), nil)
	if err != nil {
		u.T.Fatal(err)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		u.T.Fatalf("request while no process reads the log: %.200v", err)
	}
	_ = res.Body.Close()
}

var droppedLines = regexp.MustCompile(`(?m)^vitrine_log_lines_dropped_total (\S+)$`)

// dropped returns the metric of dropped lines.
func (u *unread) dropped() float64 {
	u.T.Helper()
	_, body := programtest.Fetch(u.T, http.MethodGet, u.Admin+"/metrics")
	m := droppedLines.FindStringSubmatch(body)
	if m == nil {
		u.T.Fatal("no metric of dropped lines")
	}
	n, err := strconv.ParseFloat(m[1], 64)
	if err != nil {
		u.T.Fatal(err)
	}
	return n
}

// overflow sends requests until the log drops lines.
func (u *unread) overflow() {
	u.T.Helper()
	for before := u.dropped(); u.dropped() == before; {
		for range 100 {
			u.ask()
		}
	}
}

// end sends a signal and expects an exit code.
func (u *unread) end(signal os.Signal, want int) {
	u.T.Helper()
	if err := u.Cmd.Process.Signal(signal); err != nil {
		u.T.Fatal(err)
	}
	err := u.Cmd.Wait()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		u.T.Fatal(err)
	}
	if code := u.Cmd.ProcessState.ExitCode(); code != want {
		u.T.Errorf("%s: %s, want exit code %d", signal, u.Cmd.ProcessState, want)
	}
}

// TestUnreadLog: a pipe behind standard output or standard error that no process reads, or that has
// lost its reader, delays neither requests nor the shutdown.
func TestUnreadLog(t *testing.T) {
	t.Run("full", func(t *testing.T) {
		t.Parallel()
		u := startUnread(t)
		u.overflow()
		var entry struct{ Lines float64 }
		for reported, dropped := 0.0, u.dropped(); reported < dropped; reported += entry.Lines {
			u.readTo("log lines dropped", &entry)
		}
		u.overflow()
		u.end(syscall.SIGTERM, 0)
	})
	t.Run("crash", func(t *testing.T) {
		t.Parallel()
		u := startUnread(t)
		u.overflow()
		u.end(syscall.SIGQUIT, 2) // the runtime's own output, as at a panic
	})
	t.Run("gone", func(t *testing.T) {
		t.Parallel()
		u := startUnread(t)
		_ = u.log.Close()
		for range 3 {
			u.ask()
		}
		u.end(syscall.SIGTERM, 0)
	})
}
