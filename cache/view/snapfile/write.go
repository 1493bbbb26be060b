package snapfile

import (
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"

	"github.com/klauspost/compress/zstd"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// tempPattern is the name pattern of files that are being written.
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

// encode writes a whole file.
func encode(to io.Writer, h Header, rows iter.Seq[bson.Raw]) error {
	if _, err := io.WriteString(to, magic); err != nil {
		return err
	}
	packed, err := zstd.NewWriter(to, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithWindowSize(window))
	if err != nil {
		return err
	}
	return errors.Join(writeDocuments(packed, h, rows), packed.Close())
}

// writeDocuments writes the bytes of a file before packing.
func writeDocuments(packed io.Writer, h Header, rows iter.Seq[bson.Raw]) error {
	header, err := bson.Marshal(h)
	if err == nil {
		_, err = packed.Write(header)
	}
	for row := range rows {
		if err == nil && len(row) > maxDocument {
			err = fmt.Errorf("a row of %d bytes is too large", len(row))
		}
		if err != nil {
			return err
		}
		_, err = packed.Write(row)
	}
	if err == nil {
		_, err = packed.Write(end)
	}
	return err
}
