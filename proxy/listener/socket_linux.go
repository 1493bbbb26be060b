package listener

import (
	"cmp"
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

// openSocket bounds the unsent data that the system buffers, which does not slow a distant reader.
func (c *Conn) openSocket() {
	socket, ok := c.Conn.(syscall.Conn)
	if !ok {
		return
	}
	c.raw, _ = socket.SyscallConn() // fails only after Close
	c.limitUnsent(minUnsent)
}

// limitUnsent sets how much of a response the system buffers before it sends it.
func (c *Conn) limitUnsent(bytes int) {
	if c.raw == nil {
		return
	}
	_ = c.raw.Control(func(fd uintptr) { // the next Read reports a failure
		_ = unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_NOTSENT_LOWAT, bytes)
	})
}

// Gone reports whether the client has closed the connection. It does not wait, and reads nothing.
func (c *Conn) Gone() (gone bool) {
	if c.raw == nil {
		return false
	}
	err := c.raw.Control(func(fd uintptr) {
		poll := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLRDHUP}}
		n, err := unix.Poll(poll, 0)
		gone = err == nil && n > 0 && poll[0].Revents&(unix.POLLRDHUP|unix.POLLHUP|unix.POLLERR) != 0
	})
	return gone || err != nil
}

// writeInTurn writes as much of unsent as the system accepts, at least one byte.
func (c *Conn) writeInTurn() (n int64, err error) {
	var failed error
	err = c.raw.Write(func(fd uintptr) bool {
		began := time.Now()
		failed = c.turn.Resume()
		if c.queued += time.Since(began); failed != nil {
			return true
		}
		var sent int
		for failed = unix.EINTR; failed == unix.EINTR; {
			sent, failed = unix.Writev(int(fd), c.unsent)
		}
		if failed == unix.EAGAIN {
			failed = nil
			c.turn.Pause()
			return false
		}
		n = int64(max(sent, 0))
		return true
	})
	for left := int(n); left > 0; {
		first := min(left, len(c.unsent[0]))
		left -= first
		if c.unsent[0] = c.unsent[0][first:]; len(c.unsent[0]) == 0 {
			c.unsent = c.unsent[1:]
		}
	}
	return n, cmp.Or(failed, err)
}
