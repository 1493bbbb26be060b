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

	"github.com/cespare/xxhash/v2"
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
	if _, err := io.WriteString(to, magic); err != nil {
		return err
	}
	packed, err := zstd.NewWriter(to, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedFastest),
		zstd.WithWindowSize(window), zstd.WithEncoderCRC(false))
	if err != nil {
		return err
	}
	return errors.Join(writeDocuments(packed, h, rows), packed.Close())
}

// writeDocuments writes the bytes of a file before they are packed.
func writeDocuments(packed io.Writer, h Header, rows iter.Seq[bson.Raw]) error {
	header, err := bson.Marshal(h)
	if err != nil {
		return err
	}
	sum := xxhash.New()
	buffered := bufio.NewWriterSize(io.MultiWriter(packed, sum), bufferSize)
	_, _ = buffered.Write(header) // Flush returns the first error
	for row := range rows {
		if len(row) > maxDocument {
			return fmt.Errorf("a row of %d bytes is too large", len(row))
		}
		if _, err := buffered.Write(row); err != nil {
			return err
		}
	}
	_, _ = buffered.Write(end)
	if err := buffered.Flush(); err != nil {
		return err
	}
	_, err = packed.Write(binary.LittleEndian.AppendUint64(nil, sum.Sum64()))
	return err
}
