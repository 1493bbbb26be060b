package bolt

import "golang.org/x/sys/unix"

// release takes a read-only mapping of a file out of the process's resident memory.
// Its bytes stay readable: a page that is asked for again is mapped again.
func release(mapped []byte) {
	_ = unix.Madvise(mapped, unix.MADV_DONTNEED) // advice: refused, it changes nothing
}
