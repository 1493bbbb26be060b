//go:build !linux

package listener

import (
	"errors"
	"net"
	"time"
)

// openFiles returns 0, because the limit on open files is unknown on this system.
func openFiles() uint64 { return 0 }

// minUnsent and maxUnsent are not used on this system, but to send a long response in two parts.
const minUnsent, maxUnsent = 128 << 10, 0

// socket stands for the system's side of a connection, of which this system offers nothing.
type socket struct{}

func openSocket(net.Conn) socket { return socket{} }

func (socket) opened() bool { return false }

func (socket) limitUnsent(int) {}

// gone returns false, because this system does not tell whether the client has closed the connection. Work ends at
// its limits instead.
func (socket) gone() bool { return false }

// writeIn is not called on this system.
func (socket) writeIn(Turn, *net.Buffers) (int64, time.Duration, error) {
	return 0, 0, errors.ErrUnsupported
}
