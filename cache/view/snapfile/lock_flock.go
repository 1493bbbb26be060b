//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package snapfile

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

// lockFile locks the file at a path until the returned file is closed; the kernel closes it at the end of the
// process. lockFile does not wait. The error is errLocked if another descriptor, of this process or another, has the
// lock, and errors.ErrUnsupported if the file system has no locks.
func lockFile(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|syscall.O_NONBLOCK, 0) // to write, because NFS locks only such descriptors
	if err != nil {
		return nil, err
	}
	for err = syscall.EINTR; errors.Is(err, syscall.EINTR); {
		err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	}
	if err == nil {
		return f, nil
	}
	if errors.Is(err, syscall.EWOULDBLOCK) {
		err = errLocked
	} else {
		err = errors.Join(errors.ErrUnsupported, err)
	}
	_ = f.Close() // nothing was written
	return nil, fmt.Errorf("lock %s: %w", path, err)
}
