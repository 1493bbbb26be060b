package osiristest

import (
	"context"
	"fmt"
	"net"
	"os"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// reserve returns the address of a free port of the loopback, which belongs to the test until its end. Otherwise the
// system could give the port to another process while the server is Stopped. So a socket stays bound to the port,
// besides that of the server: it never listens, so that connections are refused while only this one is there.
func reserve(t testing.TB) (addr string) {
	t.Helper()
	socket, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(os.NewSyscallError("socket", err))
	}
	t.Cleanup(func() { _ = unix.Close(socket) })
	if err := share(socket); err != nil {
		t.Fatal(err)
	}
	if err := unix.Bind(socket, &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		t.Fatal(os.NewSyscallError("bind", err))
	}
	name, err := unix.Getsockname(socket)
	if err != nil {
		t.Fatal(os.NewSyscallError("getsockname", err))
	}
	return fmt.Sprintf("127.0.0.1:%d", name.(*unix.SockaddrInet4).Port)
}

// share lets other sockets that share be bound to the address of a socket, too.
func share(socket int) error {
	return os.NewSyscallError("setsockopt", unix.SetsockoptInt(socket, unix.SOL_SOCKET, unix.SO_REUSEPORT, 1))
}

// listen listens at a reserved address.
func listen(addr string) (net.Listener, error) {
	sharing := net.ListenConfig{Control: func(_, _ string, raw syscall.RawConn) (err error) {
		if failed := raw.Control(func(fd uintptr) { err = share(int(fd)) }); failed != nil {
			return failed
		}
		return err
	}}
	return sharing.Listen(context.Background(), "tcp", addr)
}
