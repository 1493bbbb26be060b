//go:build !linux

package listener

import "net"

// boundUnsent does nothing on this system.
func boundUnsent(net.Conn) {}
