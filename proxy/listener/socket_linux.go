package listener

import (
	"cmp"
	"net"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// openFiles returns how many files the process may open, or 0 if that is unknown.
func openFiles() uint64 {
	var limit unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_NOFILE, &limit) != nil {
		return 0
	}
	return limit.Cur
}

// minUnsent and maxUnsent are how much of a response the system buffers before it sends it. By default it would take
// megabytes for each client that does not read, memory that the process does not see but its container counts. The
// system takes maxUnsent of a client that has read some of a long response, until it stops, because each time that
// the system takes more wakes the goroutine: with minUnsent that is a third of the processor time of the response.
const minUnsent, maxUnsent = 128 << 10, 2 << 20

// socket is the system's side of a connection: the calls that package net does not have.
type socket struct{ raw syscall.RawConn } // nil if the connection has no socket, such as one of a test

// openSocket returns the socket of a connection.
func openSocket(conn net.Conn) (s socket) {
	if c, ok := conn.(syscall.Conn); ok {
		s.raw, _ = c.SyscallConn() // fails only after Close
	}
	return s
}

// opened reports whether there is a socket.
func (s socket) opened() bool { return s.raw != nil }

// limitUnsent sets how much of a response the system buffers before it sends it. This does not slow a distant reader:
// the limit concerns unsent data alone, not what is under way (TCP_NOTSENT_LOWAT in tcp(7)).
func (s socket) limitUnsent(bytes int) {
	if s.raw == nil {
		return
	}
	_ = s.raw.Control(func(fd uintptr) { // the next Read reports a failure
		_ = unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_NOTSENT_LOWAT, bytes)
	})
}

// gone reports whether the client has closed the connection. It does not wait, and reads nothing.
func (s socket) gone() (gone bool) {
	if s.raw == nil {
		return false
	}
	err := s.raw.Control(func(fd uintptr) {
		poll := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLRDHUP}}
		n, err := unix.Poll(poll, 0)
		gone = err == nil && n > 0 && poll[0].Revents&(unix.POLLRDHUP|unix.POLLHUP|unix.POLLERR) != 0
	})
	return gone || err != nil
}

// writeIn writes, in a turn, as much of unsent as the system accepts, at least one byte, and removes it from unsent.
// It also returns how long it waited for the turn.
func (s socket) writeIn(turn Turn, unsent *net.Buffers) (n int64, queued time.Duration, err error) {
	var failed error
	err = s.raw.Write(func(fd uintptr) bool {
		began := time.Now()
		failed = turn.Resume()
		if queued += time.Since(began); failed != nil {
			return true
		}
		var sent int
		for failed = unix.EINTR; failed == unix.EINTR; {
			sent, failed = unix.Writev(int(fd), *unsent)
		}
		if failed == unix.EAGAIN {
			failed = nil
			turn.Pause()
			return false
		}
		n = int64(max(sent, 0))
		return true
	})
	for left := int(n); left > 0; {
		first := min(left, len((*unsent)[0]))
		left -= first
		if (*unsent)[0] = (*unsent)[0][first:]; len((*unsent)[0]) == 0 {
			*unsent = (*unsent)[1:]
		}
	}
	return n, queued, cmp.Or(failed, err)
}
