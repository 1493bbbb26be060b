package snapfile

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"runtime"
	"slices"
	"syscall"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/view/mapped"
	"vitrine/rules/fault"
	"vitrine/rules/parallel"
)

// Read reads the file at path into memory. The error wraps fs.ErrNotExist if the file does not exist, and ErrRefused
// if it is damaged or of another version.
func Read(path string) (Header, []bson.Raw, error) {
	return Open(path, nil, func(Header) error { return nil })
}

// Open is Read, but maps the rows if files are not nil. It asks accept before it reads rows, and returns its error.
func Open(path string, files *mapped.Files, accept func(Header) error) (Header, []bson.Raw, error) {
	// non-blocking, because opening a named pipe would wait
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return Header{}, nil, fmt.Errorf("read snapshot file: %w", err)
	}
	h, rows, parts, err := read(f, files, accept)
	if err != nil || !files.Watch(f, parts) {
		_ = f.Close() // it was only read
	}
	if err != nil {
		return Header{}, nil, fmt.Errorf("read snapshot file %s: %w", path, err)
	}
	return h, rows, nil
}

// refused returns an ErrRefused with the reason.
func refused(format string, args ...any) error {
	return fmt.Errorf("%w: %w", ErrRefused, fmt.Errorf(format, args...))
}

// read reads a whole file, its blocks in parallel. It returns the parts that it mapped.
func read(f *os.File, files *mapped.Files, accept func(Header) error) (
	h Header, rows []bson.Raw, parts []mapped.Part, err error,
) {
	blocks, err := blocksOf(f)
	if err != nil {
		return h, nil, nil, err
	}
	docs, _, err := blocks[0].documents(f, nil)
	if err != nil {
		return h, nil, nil, err
	}
	if len(docs) != 1 {
		return h, nil, nil, refused("%d headers", len(docs))
	}
	if err := bson.Unmarshal(docs[0], &h); err != nil {
		return h, nil, nil, refused("header: %w", err)
	}
	if err := accept(h); err != nil {
		return h, nil, nil, err
	}
	blocks = blocks[1:]
	read, errs, maps := make([][]bson.Raw, len(blocks)), make([]error, len(blocks)), make([][]mapped.Part,
		len(blocks))
	parallel.Split(len(blocks), min(runtime.GOMAXPROCS(0), len(blocks)), func(_, from, to int) {
		for ; from < to; from++ {
			if read[from], maps[from], errs[from] = blocks[from].documents(f, files); errs[from] != nil {
				return
			}
		}
	})
	if err := errors.Join(errs...); err != nil {
		return h, nil, nil, err
	}
	return h, slices.Concat(read...), slices.Concat(maps...), nil
}

// block is the place of a block in a file; before is the checksum of the block before it, from which sum continues.
type block struct {
	at     int64 // offset of its length
	bytes  int   // including its length
	before uint32
	sum    uint32
}

// blocksOf finds the blocks of a file, and checks what is not in blocks.
func blocksOf(f *os.File) (blocks []block, err error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, refused("not a regular file: %v", info.Mode())
	}
	head := make([]byte, len(magic))
	if err := readAt(f, head, 0); err != nil {
		return nil, err
	}
	switch last := len(magic) - 1; {
	case string(head[:last]) != magic[:last]:
		return nil, refused("not a snapshot file")
	case head[last] != magic[last]:
		return nil, refused("its layout has version %d, this program reads version %d", head[last], magic[last])
	}
	for at, before := int64(len(magic)), uint32(0); ; {
		if err := readAt(f, head[:headBytes], at); err != nil {
			return nil, err
		}
		sum, length := binary.LittleEndian.Uint32(head), int64(binary.LittleEndian.Uint32(head[4:]))
		end := at + headBytes + length
		switch {
		case end > info.Size():
			return nil, refused("it ends too early")
		case length == 0 && crc32.Update(before, checksums, head[4:]) != sum:
			return nil, refused("its end is damaged")
		case length == 0 && end != info.Size():
			return nil, refused("something follows its end")
		case length == 0 && len(blocks) == 0:
			return nil, refused("no header")
		case length == 0:
			return blocks, nil
		}
		blocks = append(blocks, block{at + 4, int(4 + length), before, sum})
		at, before = end, sum
	}
}

func readAt(f *os.File, buf []byte, at int64) error {
	if _, err := f.ReadAt(buf, at); errors.Is(err, io.EOF) {
		return refused("it ends too early")
	} else if err != nil {
		return err
	}
	return nil
}

// documents returns the documents of a block. If files are nil, or cannot map it, each has its own memory: one that
// is replaced later must not keep its neighbours in memory. It returns what it mapped.
func (b block) documents(f *os.File, files *mapped.Files) (docs []bson.Raw, part []mapped.Part, err error) {
	defer fault.Panics()() // if the disk does not return what is mapped
	defer func() {
		if v := recover(); v != nil {
			docs, part, err = nil, nil, refused("unreadable: %v", v)
		}
	}()
	same := func(content []byte) bool { return crc32.Update(b.before, checksums, content) == b.sum }
	content, inFile := files.Map(f, b.at, b.bytes)
	if !inFile {
		content = make([]byte, b.bytes)
		if err := readAt(f, content, b.at); err != nil {
			return nil, nil, err
		}
	}
	if !same(content) {
		return nil, nil, refused("a checksum is wrong")
	}
	if inFile {
		part = []mapped.Part{{Content: content, Same: same}}
	}
	for content = content[4:]; len(content) > 0; {
		if len(content) < 5 {
			return nil, nil, refused("a document of %d bytes", len(content))
		}
		size := binary.LittleEndian.Uint32(content)
		if size < 5 || size > maxDocument || int(size) > len(content) {
			return nil, nil, refused("a document of %d bytes", size)
		}
		doc := bson.Raw(content[:size:size])
		if !inFile {
			doc = slices.Clone(doc)
		}
		docs, content = append(docs, doc), content[size:]
	}
	return docs, part, nil
}
