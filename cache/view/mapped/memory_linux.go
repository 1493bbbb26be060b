//go:build amd64 || arm64

package mapped

import (
	"errors"
	"fmt"
	"math"
	"os"
	"runtime"
	"runtime/debug"
	"sync"
	"unsafe"

	"golang.org/x/sys/unix"

	"vitrine/rules/fault"
)

// memory maps size bytes of a file from an offset on, and returns them as an object of Go's heap. The collector calls
// the object's finalizer before it frees the object, which gives the heap ordinary memory back.
func (f *Files) memory(file *os.File, offset int64, size int) ([]byte, error) {
	var system unix.Statfs_t
	if err := unix.Fstatfs(int(file.Fd()), &system); err == nil && system.Type == unix.TMPFS_MAGIC {
		return nil, fmt.Errorf("its folder is in memory (tmpfs): %w", errors.ErrUnsupported)
	}
	page := os.Getpagesize()
	skip := int(offset % int64(page))
	offset -= int64(skip)
	bytes := skip + size
	size = (bytes + page - 1) / page * page
	object := make([]byte, size+page) // pages of its own, as it is large
	at := int(-uintptr(unsafe.Pointer(&object[0])) & uintptr(page-1))
	pages := object[at : at+size]
	if err := place(pages, int(file.Fd()), offset, unix.PROT_READ, unix.MAP_SHARED|unix.MAP_POPULATE); err != nil {
		restore(pages)
		return nil, err
	}
	f.count(int64(size))
	forget := fault.Watch(pages, f.lose)
	runtime.SetFinalizer(&object[0], func(first *byte) {
		forget()
		restore(unsafe.Slice(first, at+size)[at:])
		f.count(-int64(size))
	})
	return pages[skip:bytes:bytes], nil
}

// stampOf returns the stamp of a file.
func stampOf(file *os.File) (stamp, error) {
	var info unix.Stat_t
	if err := unix.Fstat(int(file.Fd()), &info); err != nil {
		return stamp{}, err
	}
	return stamp{info.Mtim.Nano(), info.Size}, nil
}

func place(pages []byte, fd int, offset int64, access, flags int) error {
	_, _, err := unix.Syscall6(unix.SYS_MMAP, uintptr(unsafe.Pointer(unsafe.SliceData(pages))), uintptr(len(pages)),
		uintptr(access), uintptr(flags|unix.MAP_FIXED), uintptr(fd), uintptr(offset))
	if err != 0 {
		return err
	}
	return nil
}

// restore maps ordinary memory in place of pages. It panics if the system has no memory for that, as for all memory.
func restore(pages []byte) {
	if err := place(pages, -1, 0, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON); err != nil {
		panic("out of memory: " + err.Error())
	}
}

// counting guards the limit of memory.
var counting sync.Mutex

// count adds to the bytes that are mapped. The collector counts them as heap, so the heap's limit grows with them.
func (f *Files) count(bytes int64) {
	f.bytes.Add(bytes)
	total.Add(bytes)
	counting.Lock()
	defer counting.Unlock()
	if limit := debug.SetMemoryLimit(-1); limit < math.MaxInt64 {
		debug.SetMemoryLimit(limit + bytes)
	}
}
