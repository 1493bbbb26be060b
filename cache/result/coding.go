package result

import (
	"bytes"
	"cmp"
	"fmt"
	"io"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// Coding is an HTTP content coding, by its registered name.
type Coding string

// The codings of answers. Identity is the empty string, so that a zero Key names the plain body.
const (
	Identity Coding = ""
	Gzip     Coding = "gzip"
	Brotli   Coding = "br"
	Zstd     Coding = "zstd"
)

// The levels of brotli. A kept answer is compressed once and sent often; a client waits while a stream is compressed.
const brotliKept, brotliStreamed = 5, 3

// windowLimit bounds the memory of a zstd stream on either side, in bytes.
const windowLimit = 1 << 20

// StreamBytes estimates how much memory a compressor of NewStream takes.
func StreamBytes(c Coding) int64 {
	return map[Coding]int64{Gzip: 5 << 18, Brotli: 9 << 20, Zstd: 3 << 20}[c]
}

// NewStream returns a compressor for bodies made while they are sent, or an error for Identity and unknown codings.
func NewStream(w io.Writer, c Coding) (io.WriteCloser, error) {
	return newWriter(w, c, brotliStreamed, zstd.SpeedFastest)
}

func newWriter(w io.Writer, c Coding, brotliLevel int, zstdLevel zstd.EncoderLevel) (io.WriteCloser, error) {
	switch c {
	case Gzip:
		return gzip.NewWriter(w), nil
	case Brotli:
		return brotli.NewWriterLevel(w, brotliLevel), nil
	case Zstd:
		// No concurrency, because the encoder's goroutines would outlive an abandoned stream.
		return zstd.NewWriter(w, zstd.WithEncoderLevel(zstdLevel),
			zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(windowLimit))
	default:
		return nil, fmt.Errorf("result: no compressor for coding %q", c)
	}
}

func compress(body []byte, c Coding) ([]byte, error) {
	var out bytes.Buffer
	out.Grow(len(body)/4 + 64)
	w, err := newWriter(&out, c, brotliKept, zstd.SpeedDefault)
	if err != nil {
		return nil, err
	}
	_, err = w.Write(body)
	if err = cmp.Or(err, w.Close()); err != nil {
		return nil, fmt.Errorf("result: compress as %s: %w", c, err)
	}
	return bytes.Clone(out.Bytes()), nil
}
