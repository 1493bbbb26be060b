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

// releaseEvery is how many bytes a scan reads before it releases the pages of the file. At
// its end it releases them if it has read a sixteenth of that. The file is mapped, so what
// was read counts as the process's memory, all of a large store in the end, although the
// system's own cache has it, too.
const releaseEvery = 64 << 20

// releasePages takes the file out of the process's resident memory.
func (f *storeFile) releasePages() {
	// The transaction keeps the mapping where it is. Without it nothing is released.
	_ = f.read(context.Background(), func(tx *bbolt.Tx) error {
		release(mapped(f.db, tx.Size()))
		return nil
	})
}
