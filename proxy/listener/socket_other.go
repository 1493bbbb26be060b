//go:build !linux

package listener

import "net"

// Gone reports whether the client has closed the connection, which is unknown on
// this system: work ends at its limits.
func (c *Conn) Gone() bool { return false }

// boundUnsent does nothing on this system.
func boundUnsent(net.Conn) {}
