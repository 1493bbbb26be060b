package listener

import (
	"net"
	"syscall"
)

// unsentBytes is how much of an answer the system holds before it is on its way. By
// itself it would take megabytes for each client that does not read, which the process
// does not see, but which count as memory of its container.
const unsentBytes = 128 << 10

// notSentLowWater is TCP_NOTSENT_LOWAT, which package syscall does not name.
const notSentLowWater = 25

// boundUnsent bounds what the system holds for a connection. What may be on its way,
// and so the speed of a distant reader, stays as it is.
func boundUnsent(conn net.Conn) {
	socket, ok := conn.(syscall.Conn)
	if !ok {
		return
	}
	if raw, err := socket.SyscallConn(); err == nil {
		_ = raw.Control(func(fd uintptr) { // fails where the connection is closed; the next Read reports that
			_ = syscall.SetsockoptInt(int(fd), syscall.IPPROTO_TCP, notSentLowWater, unsentBytes) // likewise
		})
	}
}
