//go:build !linux

package listener

import (
	"errors"
	"net"
)

// Gone reports whether the client has closed the connection, which is unknown on
// this system: work ends at its limits.
func (c *Conn) Gone() bool { return false }

// boundUnsent does nothing on this system.
func boundUnsent(net.Conn) {}

// WriteIn reports that the system cannot write in a turn.
func (c *Conn) WriteIn(Turn) bool { return false }

// writeInTurn is not called on this system.
func (c *Conn) writeInTurn() (int64, error) { return 0, errors.ErrUnsupported }
