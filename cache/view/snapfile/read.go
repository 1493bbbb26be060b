package snapfile

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"

	"github.com/klauspost/compress/zstd"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// Read reads the file at path. Beside the rows it holds one block at a time, whatever
// the file says of its size. The error wraps ErrRefused if the file is there and not
// sound, fs.ErrNotExist if it is not there.
func Read(path string) (Header, []bson.Raw, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0) // a named pipe must not keep us waiting
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

// refused is an error about what a file holds.
func refused(format string, args ...any) error {
	return fmt.Errorf("%w: %w", ErrRefused, fmt.Errorf(format, args...))
}

// decode reads a whole file.
func decode(from io.Reader) (h Header, rows []bson.Raw, err error) {
	decoder, err := newDecoder()
	if err != nil {
		return h, nil, err
	}
	defer decoder.Close()
	r := &reader{from: bufio.NewReaderSize(from, blockSize), decoder: decoder}
	if err := r.begin(); err != nil {
		return h, nil, err
	}
	kind, plain, err := r.block()
	if err == nil && kind != kindHeader {
		err = refused("it begins with a block of kind %d", kind)
	}
	if err == nil {
		if invalid := bson.Unmarshal(plain, &h); invalid != nil {
			err = refused("header: %w", invalid)
		}
	}
	if err != nil {
		return h, nil, err
	}
	rows, err = r.rows()
	return h, rows, err
}

// reader reads blocks.
type reader struct {
	from    *bufio.Reader
	decoder *zstd.Decoder
	packed  bytes.Buffer
	plain   []byte
	before  uint64 // the last checksum
}

// begin reads the magic.
func (r *reader) begin() error {
	got := make([]byte, len(magic))
	if _, err := io.ReadFull(r.from, got); err != nil {
		return ended(err)
	}
	switch last := len(magic) - 1; {
	case string(got) == magic:
		return nil
	case string(got[:last]) == magic[:last]:
		return refused("its layout has version %d, this program knows version %d", got[last], magic[last])
	}
	return refused("not a snapshot file")
}

// ended turns a file's early end into a refusal.
func ended(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return refused("it ends too early")
	}
	return err
}

// block reads a block, checks it and unpacks it. The bytes hold until the next.
func (r *reader) block() (kind byte, plain []byte, err error) {
	before := make([]byte, prefixSize)
	if _, err := io.ReadFull(r.from, before); err != nil {
		return 0, nil, ended(err)
	}
	packed, size := binary.LittleEndian.Uint32(before[1:]), binary.LittleEndian.Uint32(before[5:])
	if packed > maxBlock || size > maxBlock {
		return 0, nil, refused("a block of %d bytes, %d packed, is too large", size, packed)
	}
	r.packed.Reset()
	// As much memory as there is file, not as a length says that may be wrong.
	if _, err := io.CopyN(&r.packed, r.from, int64(packed)); err != nil {
		return 0, nil, ended(err)
	}
	var check [8]byte
	if _, err := io.ReadFull(r.from, check[:]); err != nil {
		return 0, nil, ended(err)
	}
	if r.before = sum(r.before, before, r.packed.Bytes()); r.before != binary.LittleEndian.Uint64(check[:]) {
		return 0, nil, refused("a checksum is wrong")
	}
	r.plain, err = r.decoder.DecodeAll(r.packed.Bytes(), r.plain[:0])
	if err != nil {
		return 0, nil, refused("unpack: %w", err)
	}
	if len(r.plain) != int(size) {
		return 0, nil, refused("a block has %d bytes instead of %d", len(r.plain), size)
	}
	return before[0], r.plain, nil
}

// rows reads rows to the end of the file.
func (r *reader) rows() (rows []bson.Raw, err error) {
	for {
		kind, plain, err := r.block()
		if err != nil {
			return nil, err
		}
		switch kind {
		case kindRows:
			if rows, err = split(rows, plain); err != nil {
				return nil, err
			}
		case kindEnd:
			if len(plain) != 8 || binary.LittleEndian.Uint64(plain) != uint64(len(rows)) {
				return nil, refused("it has %d rows, but says otherwise", len(rows))
			}
			if _, err := r.from.ReadByte(); !errors.Is(err, io.EOF) {
				return nil, refused("something follows its end")
			}
			return rows, nil
		default:
			return nil, refused("a block of kind %d among the rows", kind)
		}
	}
}

// split appends the documents in a block, each in memory of its own: a row that is
// replaced later must not keep its neighbours'.
func split(rows []bson.Raw, plain []byte) ([]bson.Raw, error) {
	for len(plain) > 0 {
		if len(plain) < 5 {
			return nil, refused("a row is cut off")
		}
		size := binary.LittleEndian.Uint32(plain)
		if size < 5 || uint64(size) > uint64(len(plain)) {
			return nil, refused("a row of %d bytes where there are %d", size, len(plain))
		}
		row := bson.Raw(bytes.Clone(plain[:size]))
		if _, err := row.LookupErr("_id"); err != nil {
			return nil, refused("a row without an _id: %w", err)
		}
		rows, plain = append(rows, row), plain[size:]
	}
	return rows, nil
}
