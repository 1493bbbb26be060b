package systemd

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"vitrine/rules/leaktest"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

// manager is the socket of a service manager.
type manager struct {
	*net.UnixConn
	t *testing.T
}

// listen opens the socket of a manager.
func listen(t *testing.T, name string) manager {
	t.Helper()
	conn, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: name, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return manager{conn, t}
}

// next returns the lines of the next message.
func (m manager) next() []string {
	m.t.Helper()
	message := make([]byte, 4096)
	n, err := m.Read(message)
	if err != nil {
		m.t.Fatal(err)
	}
	return strings.Split(string(message[:n]), "\n")
}

// until reads messages until one has a line, and returns it.
func (m manager) until(line string) []string {
	m.t.Helper()
	for {
		if got := m.next(); slices.Contains(got, line) {
			return got
		}
	}
}

// environment returns a getenv of pairs of names and values.
func environment(pairs ...string) func(string) string {
	return func(name string) string {
		for i := 0; i < len(pairs); i += 2 {
			if pairs[i] == name {
				return pairs[i+1]
			}
		}
		return ""
	}
}

// TestRun: the manager hears when the process is ready, and that it lives while it answers.
func TestRun(t *testing.T) {
	t.Parallel()
	for _, name := range []string{filepath.Join(t.TempDir(), "notify"), fmt.Sprintf("@vitrine-test-%d", os.Getpid())} {
		m := listen(t, name)
		n := New(environment("NOTIFY_SOCKET", name, "WATCHDOG_USEC", "20000",
			"WATCHDOG_PID", strconv.Itoa(os.Getpid())), slog.New(slog.DiscardHandler))
		var phase atomic.Int32
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			n.Run(ctx, func(ctx context.Context) (State, error) {
				switch phase.Load() {
				case 0:
					return State{Text: "Loading\nactivities."}, nil
				case 1:
					return State{true, "Serving."}, nil
				case 2: // hangs
					<-ctx.Done()
					phase.Store(3)
					return State{}, ctx.Err()
				case 3:
					return State{}, errors.New("refused")
				}
				return State{true, "Serving again."}, nil
			})
		}()
		n.Reloading() // is not ready
		if got := m.next(); !slices.Equal(got, []string{"EXTEND_TIMEOUT_USEC=60000000", "WATCHDOG=1",
			"STATUS=Loading activities."}) {
			t.Errorf("first: %q", got)
		}
		phase.Store(1)
		n.Wake()
		if got := m.until("READY=1"); !slices.Equal(got, []string{"READY=1", "WATCHDOG=1", "STATUS=Serving."}) {
			t.Errorf("ready: %q", got)
		}
		if got := m.next(); !slices.Equal(got, []string{"WATCHDOG=1"}) {
			t.Errorf("then: %q", got)
		}
		n.Reloading()
		reloading := m.until("RELOADING=1")
		if usec, ok := strings.CutPrefix(reloading[1], "MONOTONIC_USEC="); !ok || usec == "" || usec == "0" {
			t.Errorf("reload: %q", reloading)
		}
		n.Reloaded(errors.New("line 3"))
		if got := m.until("READY=1"); got[1] != "STATUS=Configuration not reloaded, all settings stay: line 3" {
			t.Errorf("reloaded: %q", got)
		}
		m.until("STATUS=Serving.") // instead of that of the reload
		phase.Store(2)
		for phase.Load() < 3 { // what it sent before it hung
			n.Wake()
		}
		n.send("MARK=1")
		m.until("MARK=1")
		for range 3 {
			n.Wake()
		}
		n.send("MARK=2")
		if got := m.next(); got[0] != "MARK=2" {
			t.Errorf("without an answer: %q", got)
		}
		phase.Store(4)
		n.Wake()
		if got := m.until("STATUS=Serving again."); slices.Contains(got, "READY=1") {
			t.Errorf("ready twice: %q", got)
		}
		n.Stopping()
		m.until("STOPPING=1")
		stop()
		<-ended
	}
}

// TestNew: without a socket, or with one of another kind, nothing is sent; the watchdog may be another process's.
func TestNew(t *testing.T) {
	t.Parallel()
	log := slog.New(slog.DiscardHandler)
	for _, env := range [][]string{nil, {"NOTIFY_SOCKET", ""}, {"NOTIFY_SOCKET", "vsock:2:1"}} {
		n := New(environment(env...), log)
		if n != nil {
			t.Errorf("%q: a notifier", env)
		}
		n.Reloading()
		n.Reloaded(nil)
		n.Stopping()
		n.Wake()
		n.Run(t.Context(), nil)
	}
	for _, env := range [][]string{{"WATCHDOG_USEC", "x"}, {"WATCHDOG_USEC", "-1"}, {},
		{"WATCHDOG_USEC", "1000", "WATCHDOG_PID", "1"}} {
		if n := New(environment(append(env, "NOTIFY_SOCKET", "/none")...), log); n.watchdog != 0 {
			t.Errorf("%q: a watchdog of %v", env, n.watchdog)
		}
	}
	New(environment("NOTIFY_SOCKET", "/none"), log).Stopping() // no manager: the process goes on
}
