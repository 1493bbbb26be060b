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
func Read(path string) (Header, []bson.Raw, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0) // non-blocking, because opening a named pipe would wait
	if err != nil {
		return Header{}, nil, fmt.Errorf("read snapshot file: %w", err)
	}
	defer func() { _ = f.Close() }()
	var h Header
	var rows []bson.Raw
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = refused("not a regular file: %v", info.Mode())
	}
	if err == nil {
		h, rows, err = decode(f)
	}
	if err != nil {
		return Header{}, nil, fmt.Errorf("read snapshot file %s: %w", path, err)
	}
	return h, rows, nil
}

// refused returns an error about the content of a file.
func refused(format string, args ...any) error {
	return fmt.Errorf("%w: %w", ErrRefused, fmt.Errorf(format, args...))
}

// decode reads a whole file.
func decode(from io.Reader) (h Header, rows []bson.Raw, err error) {
	got := make([]byte, len(magic))
	if _, err := io.ReadFull(from, got); err != nil {
		return h, nil, unreadable(err)
	}
	switch last := len(magic) - 1; {
	case string(got[:last]) != magic[:last]:
		return h, nil, refused("not a snapshot file")
	case got[last] != magic[last]:
		return h, nil, refused("its layout has version %d, this program reads version %d", got[last], magic[last])
	}
	unpacked, err := zstd.NewReader(from, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(window))
	if err != nil {
		return h, nil, unreadable(err)
	}
	defer unpacked.Close()
	return readDocuments(unpacked)
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
func readDocuments(unpacked io.Reader) (h Header, rows []bson.Raw, err error) {
	header, err := readDocument(unpacked)
	if err != nil {
		return h, nil, err
	}
	if err := bson.Unmarshal(header, &h); err != nil {
		return h, nil, refused("header: %w", err)
	}
	for {
		row, err := readDocument(unpacked)
		if err != nil {
			return h, nil, err
		}
		if row == nil {
			break
		}
		if _, err := row.LookupErr("_id"); err != nil {
			return h, nil, refused("a row without an _id: %w", err)
		}
		rows = append(rows, row)
	}
	if _, err := unpacked.Read(make([]byte, 1)); err != io.EOF {
		return h, nil, refused("its checksum is wrong, or something follows its end: %v", err)
	}
	return h, rows, nil
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
