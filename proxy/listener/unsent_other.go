//go:build !linux

package listener

import "net"

// boundUnsent leaves connections as the system has them.
func boundUnsent(net.Conn) {}
