package bolt

import "golang.org/x/sys/unix"

// release takes a read-only mapping out of the process's resident memory; the system maps a page again at its next
// use. It may then read the pages around it, too: bbolt advises it not to, but scans of a large store that is not
// in the system's cache would read it page by page.
func release(mapped []byte) {
	_ = unix.Madvise(mapped, unix.MADV_DONTNEED) // only advice: if it is refused, nothing changes
	_ = unix.Madvise(mapped, unix.MADV_NORMAL)
}
