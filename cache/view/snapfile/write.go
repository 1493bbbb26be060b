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

// Write writes rows into the file at path, which it replaces. The folder must exist. Rows contain the institute's
// records, so no other user may read the file.
func Write(path string, h Header, rows iter.Seq[bson.Raw]) error {
	return WriteIntact(path, h, rows, func() error { return nil })
}

// WriteIntact is Write for rows in mapped files. It asks intact when it has read them, and returns its error instead
// of replacing the file: it would give rows that another program has altered a right checksum.
func WriteIntact(path string, h Header, rows iter.Seq[bson.Raw], intact func() error) error {
	removeAbandoned(filepath.Dir(path)) // first, because they may take the space that this file needs
	return Replace(path, func(to io.Writer) error {
		if err := encode(to, h, rows); err != nil {
			return err
		}
		return intact()
	})
}

// Replace writes a file, which replaces the one at path when it is complete and on the disk. The folder must exist.
// Only the owner can read the file.
func Replace(path string, write func(to io.Writer) error) (err error) {
	temp, err := createTemp(filepath.Dir(path))
	if err != nil {
		return fmt.Errorf("write snapshot file: %w", err)
	}
	defer temp.release()
	renamed := false
	defer func() {
		if !renamed { // after a panic, too
			err = errors.Join(fmt.Errorf("write snapshot file %s: %w", path, err), os.Remove(temp.name))
		}
	}()
	if err = write(temp.file); err == nil {
		err = temp.file.Sync()
	}
	if err = errors.Join(err, temp.file.Close()); err != nil {
		return err
	}
	if err := os.Rename(temp.name, path); err != nil {
		return err
	}
	renamed = true
	syncFolder(filepath.Dir(path))
	return nil
}

// syncFolder makes a rename durable. It ignores errors, because file systems that cannot sync a folder do not need
// it.
func syncFolder(dir string) {
	if d, err := os.Open(dir); err == nil {
		_ = d.Sync()
		_ = d.Close()
	}
}

// encode writes a file in the layout of the package comment.
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
