package bolt

import "golang.org/x/sys/unix"

// release takes a read-only mapping of a file out of the process's resident memory. Its bytes stay readable: the system
// maps a page again at its next use.
func release(mapped []byte) {
	_ = unix.Madvise(mapped, unix.MADV_DONTNEED) // only advice: if it is refused, nothing changes
}
