package bolt

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// release takes a read-only mapping of a file out of the process's resident memory.
// Its bytes stay readable: a page that is asked for again is mapped again.
func release(data uintptr, size int64) {
	if data == 0 || size <= 0 {
		return
	}
	// The address is the kernel's and not the collector's: it stays what it is.
	mapped := unsafe.Slice((*byte)(*(*unsafe.Pointer)(unsafe.Pointer(&data))), size)
	_ = unix.Madvise(mapped, unix.MADV_DONTNEED) // advice: refused, it changes nothing
}
