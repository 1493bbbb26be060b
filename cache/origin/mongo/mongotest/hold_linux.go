package mongotest

import (
	"net"
	"strconv"
	"syscall"
)

// hold reserves a free loopback port and returns its address. Until release is called, no other process gets the
// port, not even for an outgoing connection. This process may listen on it; until it does, connections are refused.
func hold() (address string, release func(), err error) {
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return "", nil, err
	}
	release = func() { _ = syscall.Close(fd) } // nothing was written
	// Listeners of Go have the option, too. Of two sockets that have it, both may be bound and one may listen.
	err = syscall.SetsockoptInt(fd, syscall.SOL_SOCKET, syscall.SO_REUSEADDR, 1)
	if err == nil {
		err = syscall.Bind(fd, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}})
	}
	var at syscall.Sockaddr
	if err == nil {
		at, err = syscall.Getsockname(fd)
	}
	if err != nil {
		release()
		return "", nil, err
	}
	port := at.(*syscall.SockaddrInet4).Port
	return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)), release, nil
}
