package bolt

import (
	"context"
	"unsafe"

	bbolt "go.etcd.io/bbolt"
)

// mapping returns the first bytes of the mapped file, which are read-only.
func mapping(db *bbolt.DB, size int64) []byte {
	data := db.Info().Data
	// The kernel owns the address: the garbage collector does not move it.
	return unsafe.Slice((*byte)(*(*unsafe.Pointer)(unsafe.Pointer(&data))), size)
}

// releaseEvery is how many bytes a scan reads before it releases the pages of the file, at its end a sixteenth of
// that. Otherwise they would count as the process's memory, although the system's cache has them, too.
const releaseEvery = 64 << 20

// releasePages removes the pages of the file from the process's memory. It holds no data of its own, so it may run
// beside other readers: they fault their pages in again.
func (f *storeFile) releasePages() {
	// The transaction keeps the mapping from moving.
	_ = f.read(context.Background(), func(tx *bbolt.Tx) error {
		release(mapping(f.db, tx.Size()))
		return nil
	})
}
