//go:build unix

package proxy

import (
	"errors"
	"net"
	"syscall"
)

// openFiles is how many files the process may have open (RLIMIT_NOFILE); 0: it cannot be told.
func openFiles() uint64 {
	var limit syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit) != nil {
		return 0
	}
	return uint64(limit.Cur)
}

// hasLeft reports whether the other end of a connection has closed it, without taking
// anything of what it has sent.
func hasLeft(peer net.Conn) bool {
	if c, ok := peer.(*conn); ok {
		peer = c.Conn
	}
	sys, ok := peer.(syscall.Conn)
	if !ok {
		return false
	}
	raw, err := sys.SyscallConn()
	if err != nil {
		return true
	}
	left := false
	err = raw.Control(func(fd uintptr) {
		n, _, err := syscall.Recvfrom(int(fd), make([]byte, 1), syscall.MSG_PEEK|syscall.MSG_DONTWAIT)
		left = n == 0 && err == nil || err != nil && !errors.Is(err, syscall.EAGAIN) && !errors.Is(err, syscall.EINTR)
	})
	return left || err != nil
}
