package bolt

import (
	"context"
	"unsafe"

	bbolt "go.etcd.io/bbolt"
)

// mapped returns the first bytes of the file as they are mapped, which are to be read only.
func mapped(db *bbolt.DB, size int64) []byte {
	data := db.Info().Data
	// The address is the kernel's and not the collector's: it stays what it is.
	return unsafe.Slice((*byte)(*(*unsafe.Pointer)(unsafe.Pointer(&data))), size)
}

// releaseEvery is after how many bytes read a scan lets go of the file's pages.
const releaseEvery = 64 << 20

// reading counts what a scan reads. The file is mapped: what was read counts as the
// process's memory, all of a large store in the end, although the system's own cache
// has it, too. So pages that were read once, one after the other, are let go.
type reading struct {
	file  *storeFile
	bytes int
}

// note counts what one transaction read.
func (r *reading) note(bytes int) {
	if r.bytes += bytes; r.bytes >= releaseEvery {
		r.end()
	}
}

// end lets go of the pages if they were many.
func (r *reading) end() {
	if r.bytes >= releaseEvery/16 {
		// The transaction keeps the mapping where it is. Without it nothing is let go.
		_ = r.file.view(context.Background(), func(tx *bbolt.Tx) error {
			release(mapped(r.file.db, tx.Size()))
			return nil
		})
	}
	r.bytes = 0
}
