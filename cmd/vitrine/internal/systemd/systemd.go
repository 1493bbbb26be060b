// Package systemd notifies the service manager of the state of the process (sd_notify): when it is ready, reloads
// and ends, what it does, and that it is alive.
//
// # Ready
//
// systemd starts the units after a service when the service is ready. So the process sends READY=1 when /readyz
// answers 200 for the first time: later units get answers, and if `systemctl restart` is run for one front end
// after the other, one always answers. A start may have to wait for its store for hours. Until the process is
// ready, it asks for more time, so that the limit on a start (TimeoutStartSec) ends only a process that does not
// answer.
//
// # Alive
//
// A timer that feeds the watchdog would prove only that the timer runs. So Run sends a request to the process's own
// public listener, on a new connection, and feeds the watchdog only after an answer, whatever its status. Such a
// request has passed accept, the parser, the router and a handler.
package systemd

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

// Notifier sends messages to the service manager. All methods may be called on nil, which sends nothing: then no
// manager has asked for messages.
type Notifier struct {
	address  string
	watchdog time.Duration // 0: none
	log      *slog.Logger
	wake     chan struct{} // of capacity one: Wake was called

	ready    atomic.Bool // READY=1 was sent
	stale    atomic.Bool // another message has replaced the status that Run sent last
	stopping atomic.Bool // STOPPING=1 was sent
}

// New returns a notifier for the socket in NOTIFY_SOCKET, or nil if there is none. A socket whose name begins with
// @ is abstract: it has no file. The watchdog is that in WATCHDOG_USEC, unless WATCHDOG_PID names another process.
func New(getenv func(string) string, log *slog.Logger) *Notifier {
	n := &Notifier{address: getenv("NOTIFY_SOCKET"), log: log, wake: make(chan struct{}, 1)}
	switch {
	case n.address == "":
		return nil
	case n.address[0] != '/' && n.address[0] != '@':
		log.Warn("the service manager gets no messages: NOTIFY_SOCKET is no Unix socket", "socket", n.address)
		return nil
	}
	usec, err := strconv.ParseInt(getenv("WATCHDOG_USEC"), 10, 64)
	if pid := getenv("WATCHDOG_PID"); err == nil && usec > 0 && (pid == "" || pid == strconv.Itoa(os.Getpid())) {
		n.watchdog = time.Duration(usec) * time.Microsecond
	}
	return n
}

// send sends a message. It only logs an error, because the server works without its manager.
func (n *Notifier) send(lines ...string) {
	if n == nil {
		return
	}
	err := func() error {
		conn, err := net.DialUnix("unixgram", nil, &net.UnixAddr{Name: n.address, Net: "unixgram"})
		if err != nil {
			return err
		}
		defer conn.Close()
		// A manager that does not read must not stop the server.
		if err := conn.SetWriteDeadline(time.Now().Add(time.Second)); err != nil {
			return err
		}
		_, err = conn.Write([]byte(strings.Join(lines, "\n")))
		return err
	}()
	if err != nil {
		n.log.Warn("send a message to the service manager", "error", err)
	}
}

// status returns the line that `systemctl status` shows.
func status(text string) string { return "STATUS=" + strings.ReplaceAll(text, "\n", " ") }

// Reloading reports that the configuration is being read again; Reloaded must follow. The message has the time, and
// systemd takes the first READY=1 after this time as the end of the reload. Before the process is ready, neither
// sends anything.
func (n *Notifier) Reloading() {
	if n == nil || !n.ready.Load() {
		return
	}
	n.send("RELOADING=1", "MONOTONIC_USEC="+strconv.FormatInt(monotonic().Microseconds(), 10),
		status("Reading the configuration again."))
}

// Reloaded reports that the configuration was read again or, with an error, that the previous one stays.
func (n *Notifier) Reloaded(err error) {
	if n == nil || !n.ready.Load() {
		return
	}
	text := "Configuration read again."
	if err != nil {
		text = "Configuration not reloaded, all settings stay: " + err.Error()
	}
	n.send("READY=1", status(text))
	n.stale.Store(true)
}

// Stopping reports that the process ends. Run continues to feed the watchdog while the process answers.
func (n *Notifier) Stopping() {
	if n != nil {
		n.stopping.Store(true)
		n.send("STOPPING=1", status("Draining."))
	}
}

// Wake makes Run probe at once.
func (n *Notifier) Wake() {
	if n == nil {
		return
	}
	select {
	case n.wake <- struct{}{}:
	default:
	}
}

// State is what a probe of the process has found.
type State struct {
	Ready bool
	Text  string // for `systemctl status`
}

// How often Run probes. Until the process is ready, Run asks the manager for more time after each probe.
const (
	startEvery  = 2 * time.Second
	statusEvery = 15 * time.Second
	moreTime    = time.Minute
)

// Run probes the process until ctx ends, and reports its state: READY=1 once, each new STATUS, and WATCHDOG=1 twice
// in the watchdog's time. probe must go the way of a client's request. If it fails, Run sends nothing and tries
// again.
func (n *Notifier) Run(ctx context.Context, probe func(context.Context) (State, error)) {
	if n == nil {
		return
	}
	every := statusEvery
	if n.watchdog > 0 {
		every = min(every, n.watchdog/2)
	}
	last, silent := "", false
	for {
		state, err := withTimeout(ctx, every, probe)
		var lines []string
		switch {
		case ctx.Err() != nil:
			return
		case err != nil:
			if !silent && !n.stopping.Load() {
				n.log.WarnContext(ctx, "the server does not answer its own request", "error", err)
			}
		case state.Ready && !n.ready.Load():
			lines = append(lines, "READY=1")
			n.ready.Store(true)
		case !n.ready.Load():
			lines = append(lines, fmt.Sprintf("EXTEND_TIMEOUT_USEC=%d", moreTime.Microseconds()))
		}
		if silent = err != nil; !silent {
			if n.watchdog > 0 {
				lines = append(lines, "WATCHDOG=1")
			}
			if (n.stale.Swap(false) || state.Text != last) && !n.stopping.Load() {
				lines, last = append(lines, status(state.Text)), state.Text
			}
			n.send(lines...)
		}
		pause := every
		if !n.ready.Load() || silent {
			pause = min(every, startEvery)
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(pause):
		case <-n.wake:
		}
	}
}

// withTimeout calls probe with a timeout.
func withTimeout(ctx context.Context, most time.Duration,
	probe func(context.Context) (State, error)) (State, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, most, errors.New("no answer within "+most.String()))
	defer cancel()
	state, err := probe(ctx)
	if err != nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return state, err
}
