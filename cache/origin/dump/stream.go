package dump

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"io/fs"

	"github.com/klauspost/compress/gzip"
)

// readAhead is the size, in bytes, of the buffers before and after decompression.
const readAhead = 128 << 10

// stream is a file read from its beginning, decompressed if it is gzipped.
type stream struct {
	*bufio.Reader
	name    string // the file's name for people
	file    fs.File
	content *counter // what Reader reads: the file, or its decompressed content
}

// open opens the file and detects gzip by the first bytes. count, if not nil, is called with the number of bytes
// read before decompression. If ctx ends, reading fails.
// RFC 1952, section 2.3.1, says what they are. gzip.Reader reads several members as one, as after cat of two files.
func (s *Source) open(ctx context.Context, count func(n int)) (*stream, error) {
	file, err := s.files.Open(s.file)
	if err != nil {
		return nil, err
	}
	in := &stream{name: s.Name, file: file}
	in.read(&counter{Reader: file, ended: ctx.Err, each: count})
	head, err := in.Peek(2)
	if string(head) == "\x1f\x8b" {
		var zip *gzip.Reader
		if zip, err = gzip.NewReader(in.Reader); err != nil {
			err = fmt.Errorf("gzip: %w", err)
		} else {
			in.read(&counter{Reader: zip, ended: ctx.Err, gzip: true})
		}
	}
	if err != nil && err != io.EOF { // a shorter file is not gzipped
		file.Close()
		return nil, fmt.Errorf("%s: %w", s.Name, err)
	}
	return in, nil
}

// read makes content the source of the stream. Of a gzipped file, the buffer before belongs to the gzip reader.
func (s *stream) read(content *counter) {
	s.content, s.Reader = content, bufio.NewReaderSize(content, readAhead)
}

// place returns the position of the next byte, without its line.
// It is in the decompressed content, where people look with zcat.
func (s *stream) place() Place {
	return Place{File: s.name, Offset: s.content.n - int64(s.Buffered())}
}

// counter counts the bytes that are read.
type counter struct {
	io.Reader
	ended func() error // returns an error if reading must stop
	n     int64        // bytes read so far
	each  func(n int)  // called with the number of bytes of each read; may be nil
	gzip  bool         // content is decompressed, so errors come from gzip
}

// Read marks errors of decompression, because the offset in flate's own texts is not one in the file.
func (c *counter) Read(p []byte) (int, error) {
	if err := c.ended(); err != nil { // the only check in a file without documents
		return 0, err
	}
	n, err := c.Reader.Read(p)
	c.n += int64(n)
	if c.each != nil && n > 0 {
		c.each(n)
	}
	if c.gzip && err != nil && err != io.EOF {
		err = fmt.Errorf("gzip: %w", err)
	}
	return n, err
}
