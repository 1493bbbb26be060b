package snapfile

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"

	"github.com/klauspost/compress/zstd"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// Read reads the file at path. The error wraps fs.ErrNotExist if the file does not exist, and ErrRefused if it is
// damaged or of another version.
func Read(path string) (h Header, rows []bson.Raw, err error) {
	err = Each(path, func(header Header) (func(bson.Raw), error) {
		h = header
		return func(row bson.Raw) { rows = append(rows, row) }, nil
	})
	if err != nil {
		return Header{}, nil, err
	}
	return h, rows, nil
}

// Each is Read for callers that need not have all rows in memory. It calls begin with the header, and put, which begin
// returns, with each row. If it fails, with an error of begin or of Read, the rows must not be used.
func Each(path string, begin func(Header) (put func(bson.Raw), err error)) error {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0) // non-blocking, because opening a named pipe would wait
	if err != nil {
		return fmt.Errorf("read snapshot file: %w", err)
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = refused("not a regular file: %v", info.Mode())
	}
	if err == nil {
		err = decode(f, begin)
	}
	if err != nil {
		return fmt.Errorf("read snapshot file %s: %w", path, err)
	}
	return nil
}

// refused returns an error about the content of a file.
func refused(format string, args ...any) error {
	return fmt.Errorf("%w: %w", ErrRefused, fmt.Errorf(format, args...))
}

// decode reads a whole file.
func decode(from io.Reader, begin func(Header) (func(bson.Raw), error)) error {
	got := make([]byte, len(magic))
	if _, err := io.ReadFull(from, got); err != nil {
		return unreadable(err)
	}
	switch last := len(magic) - 1; {
	case string(got[:last]) != magic[:last]:
		return refused("not a snapshot file")
	case got[last] != magic[last]:
		return refused("its layout has version %d, this program reads version %d", got[last], magic[last])
	}
	unpacked, err := zstd.NewReader(from, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(window))
	if err != nil {
		return unreadable(err)
	}
	defer unpacked.Close()
	return readDocuments(unpacked, begin)
}

// unreadable returns the error of the file itself, or else a refusal of its content.
func unreadable(err error) error {
	var file *fs.PathError
	switch {
	case errors.As(err, &file):
		return err
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return refused("it ends too early")
	}
	return refused("unpack: %w", err)
}

// readDocuments reads the unpacked bytes of a file to their end.
func readDocuments(unpacked io.Reader, begin func(Header) (func(bson.Raw), error)) error {
	var h Header
	header, err := readDocument(unpacked)
	if err != nil {
		return err
	}
	if err := bson.Unmarshal(header, &h); err != nil {
		return refused("header: %w", err)
	}
	put, err := begin(h)
	if err != nil {
		return err
	}
	for {
		row, err := readDocument(unpacked)
		if err != nil {
			return err
		}
		if row == nil {
			break
		}
		if _, err := row.LookupErr("_id"); err != nil {
			return refused("a row without an _id: %w", err)
		}
		put(row)
	}
	if _, err := unpacked.Read(make([]byte, 1)); err != io.EOF {
		return refused("its checksum is wrong, or something follows its end: %v", err)
	}
	return nil
}

// readDocument reads a document into its own memory, because a row that is replaced later must not keep its neighbours
// in memory. It returns nil at the end.
func readDocument(from io.Reader) (bson.Raw, error) {
	length := make([]byte, len(end))
	if _, err := io.ReadFull(from, length); err != nil {
		return nil, unreadable(err)
	}
	size := binary.LittleEndian.Uint32(length)
	if size == 0 {
		return nil, nil
	}
	if size < 5 || size > maxDocument {
		return nil, refused("a document of %d bytes", size)
	}
	doc := append(make(bson.Raw, 0, size), length...)[:size]
	if _, err := io.ReadFull(from, doc[len(length):]); err != nil {
		return nil, unreadable(err)
	}
	return doc, nil
}
