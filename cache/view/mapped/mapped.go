// Package mapped moves large immutable byte slices from memory into files that are mapped in their place.
//
// The pages of a mapped file belong to the system's page cache: it writes them to disk, drops them when memory is
// short, and reads them again when they are used. The slices are used as any others and need not be released. Their
// addresses stay in Go's heap: the package allocates an object of the heap and maps the file over it, so that the
// collector knows every reference into the file, and unmaps it once there is none. A slice can therefore not outlive
// its mapping.
//
// Move removes the name of a file as soon as it has made it, so that no other process can change the file, and the
// system frees it with the mapping, or with the process. Move writes the file before it maps it: a full disk is an
// error, after which the slices stay in memory.
//
// Another program may cut or overwrite a file that has a name (Map), and a disk may fail to return a page that was
// written and dropped. Then Files.Err says that none of the content may be used any more: a fault is a panic, which
// the goroutine that recovers from it reports (package fault), and Files.Check compares a file's checksums after
// another program has written to it.
package mapped

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"
	"sync/atomic"
)

// FileBytes is about the size of a file: small enough that few bytes are in memory and in a file at once, and that
// few slices in use do not keep a large file mapped, but large enough that there are few files.
const FileBytes = 16 << 20

// least is the fewest bytes for which a file is made.
const least = 1 << 20

// Files are mapped files. A nil *Files moves nothing.
type Files struct {
	// Create makes an empty file without a name, for reading and writing.
	Create func() (*os.File, error)
	// Failed, if set, is called with the error after which slices stay in memory.
	Failed func(error)
	// Lost, if set, is called once, with the reason why content must not be used any more. It must not wait.
	Lost func(error)

	bytes  atomic.Int64
	lost   atomic.Pointer[error] // the reason; nil if the content can be used
	naming sync.Mutex            // held while named changes
	named  atomic.Pointer[[]*namedFile]
}

// Bytes returns how many bytes are mapped.
func (f *Files) Bytes() int64 {
	if f == nil {
		return 0
	}
	return f.bytes.Load()
}

// In returns a Files.Create that makes its files in a folder. A file has a name for a moment, which is one of an
// unfinished file of package snapfile: so the next process in the folder removes it if this one is killed
// meanwhile, and may do so before this one does.
func In(dir string) func() (*os.File, error) {
	return func() (*os.File, error) {
		file, err := os.CreateTemp(dir, ".vitrine-*.locked.tmp") // only the owner can read it
		if err != nil {
			return nil, err
		}
		if err := os.Remove(file.Name()); err != nil && !errors.Is(err, fs.ErrNotExist) {
			_ = file.Close()
			return nil, err
		}
		return file, nil
	}
}

// Move replaces slices by equal slices in mapped files. The slices must not be changed any more. It leaves slices in
// memory if they are too few for a file, or if it cannot make one.
func Move[B ~[]byte](f *Files, slices []B) {
	if f == nil {
		return
	}
	for len(slices) > 0 {
		n, size := 0, 0
		for ; n < len(slices) && size < FileBytes; n++ {
			size += len(slices[n])
		}
		if size < least {
			return
		}
		if err := move(f, slices[:n], size); err != nil {
			if f.Failed != nil {
				f.Failed(err)
			}
			return
		}
		slices = slices[n:]
	}
}

// Map maps size bytes of a file, which must not change, from an offset on. It returns false if they are too few, or
// if mapping fails. If the file has a name, the caller calls Watch.
func (f *Files) Map(file *os.File, offset int64, size int) ([]byte, bool) {
	if f == nil || size < least {
		return nil, false
	}
	memory, err := f.memory(file, offset, size)
	if err != nil && f.Failed != nil {
		f.Failed(fmt.Errorf("map a file: %w", err))
	}
	return memory, err == nil
}

var errDamaged = errors.New("its content differs from what was written")

// move moves slices of size bytes in all into one file. It compares what it has mapped with the slices, since a
// failing disk may return something else, and replaces none of them before all are right.
func move[B ~[]byte](f *Files, slices []B, size int) error {
	file, err := f.Create()
	if err != nil {
		return fmt.Errorf("make a file to map: %w", err)
	}
	defer func() { _ = file.Close() }() // the mapping keeps the content
	w := bufio.NewWriterSize(file, 256<<10)
	for _, s := range slices {
		_, _ = w.Write(s) // Flush returns the error
	}
	if err := w.Flush(); err != nil {
		return fmt.Errorf("write a file to map: %w", err)
	}
	memory, err := f.memory(file, 0, size)
	if err != nil {
		return fmt.Errorf("map a file: %w", err)
	}
	at := 0
	for _, s := range slices {
		if !bytes.Equal(memory[at:at+len(s)], s) {
			return fmt.Errorf("read a mapped file: %w", errDamaged)
		}
		at += len(s)
	}
	at = 0
	for i, s := range slices {
		if len(s) > 0 { // nil stays nil
			slices[i] = memory[at : at+len(s) : at+len(s)]
			at += len(s)
		}
	}
	return nil
}
