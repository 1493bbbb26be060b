package snapfile

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"

	"github.com/klauspost/compress/zstd"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// tempPattern names files that are being written.
const tempPattern = ".vitrine-*.tmp"

// Write puts rows into the file at path, in place of what is there. The folder must
// exist. Rows hold what the institute's records hold: no other user may read the file.
func Write(path string, h Header, rows iter.Seq[bson.Raw]) (err error) {
	temp, err := os.CreateTemp(filepath.Dir(path), tempPattern) // for the owner alone
	if err != nil {
		return fmt.Errorf("write snapshot file: %w", err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(fmt.Errorf("write snapshot file %s: %w", path, err), os.Remove(temp.Name()))
		}
	}()
	err = encode(temp, h, rows)
	if err == nil {
		err = temp.Sync()
	}
	if err = errors.Join(err, temp.Close()); err != nil {
		return err
	}
	if err := os.Rename(temp.Name(), path); err != nil {
		return err
	}
	syncFolder(filepath.Dir(path))
	return nil
}

// syncFolder makes a renaming durable. File systems that cannot sync a folder need no
// such thing, hence errors do not matter.
func syncFolder(dir string) {
	if d, err := os.Open(dir); err == nil {
		_ = d.Sync()
		_ = d.Close()
	}
}

// encode writes a whole file.
func encode(to io.Writer, h Header, rows iter.Seq[bson.Raw]) error {
	encoder, err := newEncoder()
	if err != nil {
		return err
	}
	defer encoder.Close()
	w := &writer{to: bufio.NewWriterSize(to, blockSize), encoder: encoder}
	w.write([]byte(magic))
	header, err := bson.Marshal(h)
	if err != nil {
		return err
	}
	w.block(kindHeader, header)
	n := w.rows(rows)
	w.block(kindEnd, binary.LittleEndian.AppendUint64(nil, n))
	if w.err != nil {
		return w.err
	}
	return w.to.Flush()
}

// writer writes blocks; after an error it does nothing.
type writer struct {
	to      *bufio.Writer
	encoder *zstd.Encoder
	packed  []byte
	before  uint64 // the last checksum
	err     error
}

// rows writes rows and returns their number.
func (w *writer) rows(rows iter.Seq[bson.Raw]) (n uint64) {
	plain := make([]byte, 0, blockSize+blockSize/4)
	for row := range rows {
		if len(plain) > 0 && len(plain)+len(row) > blockSize {
			w.block(kindRows, plain)
			plain = plain[:0]
		}
		plain = append(plain, row...)
		if n++; w.err != nil {
			return n
		}
	}
	if len(plain) > 0 {
		w.block(kindRows, plain)
	}
	return n
}

// block writes a block.
func (w *writer) block(kind byte, plain []byte) {
	if w.err == nil && len(plain) > maxBlock {
		w.err = fmt.Errorf("a row of %d bytes is too large", len(plain))
	}
	if w.err != nil {
		return
	}
	w.packed = w.encoder.EncodeAll(plain, w.packed[:0])
	before := prefix(kind, len(w.packed), len(plain))
	w.before = sum(w.before, before, w.packed)
	w.write(before)
	w.write(w.packed)
	w.write(binary.LittleEndian.AppendUint64(nil, w.before))
}

func (w *writer) write(p []byte) {
	if w.err == nil {
		_, w.err = w.to.Write(p)
	}
}
