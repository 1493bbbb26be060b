// Package systemd tells the service manager about the process: when it is ready, reloads and ends, what it does, and
// that it is alive (sd_notify).
//
// # Ready
//
// For systemd a service is ready when its start has finished, and units after it may begin. So the process says
// READY=1 when /readyz answers 200 for the first time: what begins after it gets answers, and `systemctl restart` of
// one front end after the other never leaves none. A start may have to wait for its store for hours. Until it is
// ready the process asks for more time, so that the limit on a start (TimeoutStartSec) ends only a process that does
// not answer.
//
// # Alive
//
// A watchdog that a timer feeds proves that the timer runs. This one asks the process's own public listener, on a new
// connection, and feeds the watchdog only after an answer, whatever its status: so it has gone through accept, the
// parser, the router and a handler.
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

// Notifier sends messages to the service manager. All methods may be called on nil, which sends nothing: no manager
// has asked for messages then.
type Notifier struct {
	address  string
	watchdog time.Duration // 0: none
	log      *slog.Logger
	wake     chan struct{} // of capacity one: Wake was called

	ready    atomic.Bool // READY=1 was sent
	stale    atomic.Bool // the manager shows another status than the last that Run has sent
	stopping atomic.Bool // STOPPING=1 was sent
}

// New returns the notifier that the environment asks for by NOTIFY_SOCKET, and nil if it asks for none. A socket whose
// name begins with @ has no file (abstract). The watchdog is that of this process alone: WATCHDOG_PID may name another.
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

// send sends a message. An error is logged and no more: the server works without its manager.
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
		n.log.Warn("message to the service manager failed", "error", err)
	}
}

// status returns the line that `systemctl status` shows.
func status(text string) string { return "STATUS=" + strings.ReplaceAll(text, "\n", " ") }

// Reloading says that the configuration is being read again; Reloaded must follow. systemd takes the first READY=1
// after a time as the end of the reload that began then. During a start neither sends anything.
func (n *Notifier) Reloading() {
	if n == nil || !n.ready.Load() {
		return
	}
	n.send("RELOADING=1", "MONOTONIC_USEC="+strconv.FormatInt(monotonic().Microseconds(), 10),
		status("Reading the configuration again."))
}

// Reloaded says that the configuration was read again, or that it could not be and stays.
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

// Stopping says that the process ends. Run goes on to feed the watchdog while the process answers.
func (n *Notifier) Stopping() {
	if n != nil {
		n.stopping.Store(true)
		n.send("STOPPING=1", status("Draining."))
	}
}

// Wake makes Run ask at once whether the process is ready.
func (n *Notifier) Wake() {
	if n == nil {
		return
	}
	select {
	case n.wake <- struct{}{}:
	default:
	}
}

// State is what the process answers about itself.
type State struct {
	Ready bool
	Text  string // for `systemctl status`
}

// How often Run asks. Until the process is ready, each answer asks the manager for more time.
const (
	startEvery  = 2 * time.Second
	statusEvery = 15 * time.Second
	moreTime    = time.Minute
)

// Run asks the process for its state until ctx ends, and reports it: READY=1 once, each new STATUS, and WATCHDOG=1
// twice in the watchdog's time. ask must go the way of a client's request. Without an answer nothing is sent, and Run
// asks again.
func (n *Notifier) Run(ctx context.Context, ask func(context.Context) (State, error)) {
	if n == nil {
		return
	}
	every := statusEvery
	if n.watchdog > 0 {
		every = min(every, n.watchdog/2)
	}
	last, silent := "", false
	for {
		state, err := n.ask(ctx, ask, every)
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

// ask asks for the state, for at most as long as Run pauses between two questions: half of the watchdog's time.
func (n *Notifier) ask(ctx context.Context, ask func(context.Context) (State, error),
	most time.Duration) (State, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, most, errors.New("no answer within "+most.String()))
	defer cancel()
	state, err := ask(ctx)
	if err != nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return state, err
}
