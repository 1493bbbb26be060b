package asynclog

import (
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// Unblock lets the program end when it crashes: the runtime writes its report to descriptor 2, and a full pipe
// without a reader would block the dying process, and its ports, for ever. Unblock opens a pipe anew, so that writes
// that would block fail in this process only, and enlarges it, so that a slow reader gets everything. Outputs that
// cannot be opened, such as sockets, stay unchanged.
func Unblock(stderr io.Writer) io.Writer {
	f, ok := stderr.(*os.File)
	if !ok || f != os.Stderr {
		return stderr
	}
	if info, err := f.Stat(); err != nil || info.Mode()&os.ModeNamedPipe == 0 {
		return stderr
	}
	fd, err := unix.Open("/proc/self/fd/2", unix.O_WRONLY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return stderr
	}
	if size, err := unix.FcntlInt(uintptr(fd), unix.F_GETPIPE_SZ, 0); err == nil && size < maxWaiting {
		_, _ = unix.FcntlInt(uintptr(fd), unix.F_SETPIPE_SZ, maxWaiting) // if refused, the pipe stays smaller
	}
	if err := unix.Dup3(fd, 2, 0); err != nil {
		_ = unix.Close(fd)
		return stderr
	}
	return os.NewFile(uintptr(fd), f.Name())
}
