package snapfile

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"iter"
	"os"
	"path/filepath"

	"go.mongodb.org/mongo-driver/v2/bson"
)

const tempPattern = ".vitrine-*.tmp"

// Write writes rows into the file at path, which it replaces. The folder must exist. Rows contain the institute's
// records, so no other user may read the file.
func Write(path string, h Header, rows iter.Seq[bson.Raw]) (err error) {
	temp, err := os.CreateTemp(filepath.Dir(path), tempPattern) // only the owner can read it
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

// syncFolder makes a rename durable. It ignores errors, because file systems that cannot sync a folder do not need it.
func syncFolder(dir string) {
	if d, err := os.Open(dir); err == nil {
		_ = d.Sync()
		_ = d.Close()
	}
}

func encode(to io.Writer, h Header, rows iter.Seq[bson.Raw]) error {
	header, err := bson.Marshal(h)
	if err != nil {
		return err
	}
	if _, err := io.WriteString(to, magic); err != nil {
		return err
	}
	w := &blockWriter{to: to, block: append(make([]byte, headBytes, blockBytes+blockBytes/4), header...)}
	if err := w.flush(); err != nil {
		return err
	}
	for row := range rows {
		if len(row) > maxDocument {
			return fmt.Errorf("a row of %d bytes is too large", len(row))
		}
		if w.block = append(w.block, row...); len(w.block) < blockBytes {
			continue
		}
		if err := w.flush(); err != nil {
			return err
		}
	}
	if len(w.block) > headBytes {
		err = w.flush()
	}
	return cmp.Or(err, w.flush())
}

type blockWriter struct {
	to    io.Writer
	sum   uint32 // checksum of the last block
	block []byte // the next block, after space for its head
}

func (w *blockWriter) flush() error {
	binary.LittleEndian.PutUint32(w.block[4:], uint32(len(w.block)-headBytes))
	w.sum = crc32.Update(w.sum, checksums, w.block[4:])
	binary.LittleEndian.PutUint32(w.block, w.sum)
	_, err := w.to.Write(w.block)
	w.block = w.block[:headBytes]
	return err
}
