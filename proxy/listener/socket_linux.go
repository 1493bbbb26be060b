package listener

import (
	"cmp"
	"errors"
	"net"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// errNoSocket is returned for connections without a file descriptor, as tests have them.
var errNoSocket = errors.New("no socket")

// control calls f with the file descriptor of a connection. It fails where the connection
// is closed on this side.
func control(conn net.Conn, f func(fd int)) error {
	socket, ok := conn.(syscall.Conn)
	if !ok {
		return errNoSocket
	}
	raw, err := socket.SyscallConn()
	if err != nil {
		return err
	}
	return raw.Control(func(fd uintptr) { f(int(fd)) })
}

// Gone reports whether the client has closed the connection. It neither waits nor takes
// anything from what the client has sent.
func (c *Conn) Gone() (gone bool) {
	err := control(c.Conn, func(fd int) {
		poll := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLRDHUP}}
		n, err := unix.Poll(poll, 0)
		gone = err == nil && n > 0 && poll[0].Revents&(unix.POLLRDHUP|unix.POLLHUP|unix.POLLERR) != 0
	})
	return gone || err != nil && !errors.Is(err, errNoSocket)
}

// WriteIn has the response written in a turn, which is paused while the client does not read:
// to send much to a fast client takes as much of a processor as to make it. It reports whether the
// system can do so.
func (c *Conn) WriteIn(turn Turn) bool {
	socket, ok := c.Conn.(syscall.Conn)
	if !ok {
		return false
	}
	var err error
	if c.raw, err = socket.SyscallConn(); err != nil {
		return false
	}
	c.turn = turn
	return true
}

// writeInTurn writes what the system takes of unsent, some bytes at least.
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

// unsentBytes is how much of a response the system holds before it is on its way. By
// itself it would take megabytes for each client that does not read, which the process
// does not see, but which count as memory of its container.
const unsentBytes = 128 << 10

// boundUnsent bounds what the system holds for a connection. What may be on its way,
// and so the speed of a distant reader, stays as it is.
func boundUnsent(conn net.Conn) {
	_ = control(conn, func(fd int) { // the next Read reports a failure
		_ = unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_NOTSENT_LOWAT, unsentBytes)
	})
}
