package listener

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// Gone reports whether the client has closed the connection. It neither waits nor takes
// anything from what the client has sent.
func (c *Conn) Gone() bool {
	sys, ok := c.Conn.(syscall.Conn)
	if !ok {
		return false
	}
	raw, err := sys.SyscallConn()
	if err != nil {
		return false
	}
	const ended = unix.POLLRDHUP | unix.POLLHUP | unix.POLLERR
	gone := false
	err = raw.Control(func(fd uintptr) {
		asked := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLRDHUP}}
		n, err := unix.Poll(asked, 0)
		gone = err == nil && n > 0 && asked[0].Revents&ended != 0
	})
	return gone || err != nil // closed on this side
}
