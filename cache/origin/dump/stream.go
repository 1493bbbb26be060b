package dump

import (
	"bufio"
	"fmt"
	"io"
	"io/fs"

	"github.com/klauspost/compress/gzip"
)

// readAhead is the size of the buffers in front of a file and behind its decompression.
const readAhead = 128 << 10

// stream is a file read from its beginning, decompressed if it is gzip'd.
type stream struct {
	*bufio.Reader
	file fs.File
}

// openStream opens a file and looks at its first bytes for gzip. count, if not
// nil, is called with the number of bytes read from the file, before decompression.
func openStream(fsys fs.FS, name string, count func(n int)) (*stream, error) {
	file, err := fsys.Open(name)
	if err != nil {
		return nil, err
	}
	plain := bufio.NewReaderSize(counting{file, count}, readAhead)
	head, err := plain.Peek(2)
	if err != nil && err != io.EOF {
		file.Close()
		return nil, err
	}
	if len(head) < 2 || head[0] != 0x1f || head[1] != 0x8b {
		return &stream{plain, file}, nil
	}
	zip, err := gzip.NewReader(plain)
	if err != nil {
		file.Close()
		return nil, fmt.Errorf("gzip: %w", err)
	}
	return &stream{bufio.NewReaderSize(naming{zip}, readAhead), file}, nil
}

// Close closes the file.
func (s *stream) Close() error { return s.file.Close() }

// counting reports how much was read.
type counting struct {
	io.Reader
	count func(n int)
}

// Read reads and counts.
func (c counting) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	if c.count != nil && n > 0 {
		c.count(n)
	}
	return n, err
}

// naming says of an error that it arose in decompression: flate's own texts,
// such as "corrupt input before offset 5", speak of another offset than ours.
type naming struct{ io.Reader }

// Read reads and names the error, except a clean end.
func (r naming) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	if err != nil && err != io.EOF {
		err = fmt.Errorf("gzip: %w", err)
	}
	return n, err
}
