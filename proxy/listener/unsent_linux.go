package listener

import (
	"net"
	"syscall"
)

// unsentBytes is how much of an answer the system holds before it is on its way. By
// itself it would take megabytes for each client that does not read, which count as
// nobody's memory here but as the container's.
const unsentBytes = 128 << 10

// notSentLowWater is TCP_NOTSENT_LOWAT, which package syscall does not name.
const notSentLowWater = 25

// boundUnsent bounds what the system holds for a connection. It changes nothing of what
// may be on its way, and so of how fast a far reader is. What is no socket stays as it is.
func boundUnsent(conn net.Conn) {
	socket, ok := conn.(syscall.Conn)
	if !ok {
		return
	}
	if raw, err := socket.SyscallConn(); err == nil {
		_ = raw.Control(func(fd uintptr) { // fails where the connection is gone, which reading tells
			_ = syscall.SetsockoptInt(int(fd), syscall.IPPROTO_TCP, notSentLowWater, unsentBytes) // likewise
		})
	}
}
