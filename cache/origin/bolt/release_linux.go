package bolt

import "golang.org/x/sys/unix"

// release takes a read-only mapping of a file out of the process's resident memory. Its bytes stay readable: the system
// maps a page again at its next use. It may then read the pages around it from the disk, too. bbolt advises it not to, but
// scans would read a large store that the system's cache does not have page by page.
func release(mapped []byte) {
	_ = unix.Madvise(mapped, unix.MADV_DONTNEED) // only advice: if it is refused, nothing changes
	_ = unix.Madvise(mapped, unix.MADV_NORMAL)
}
