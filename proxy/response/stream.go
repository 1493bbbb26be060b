package response

import (
	"bytes"
	"fmt"
	"io"
	"iter"

	"vitrine/cache/result"
)

// compressed is a body in a coding, compressed while it is asked for.
func compressed(b *Body, c result.Coding) Pieces {
	return func(yield func([]byte, error) bool) {
		var ready bytes.Buffer
		coder, err := result.NewStream(&ready, c)
		if err != nil {
			yield(nil, err)
			return
		}
		for piece, err := range b.Pieces {
			if err == nil {
				_, err = coder.Write(piece)
			}
			if err != nil {
				yield(nil, err)
				return
			}
			if ready.Len() > 0 && !yield(ready.Bytes(), nil) {
				return
			}
			ready.Reset()
		}
		err = coder.Close()
		yield(ready.Bytes(), err)
	}
}

// stream hands pieces to a connection, which reads where the length is unknown and
// has them written where it is known: then they are not copied. It holds one piece,
// whatever the size of the whole, and needs no goroutine. Whoever reads it closes it.
type stream struct {
	pieces Pieces
	next   func() ([]byte, error, bool) // nil until it is read from
	stop   func()
	rest   []byte // of the piece last asked for
	sent   int64
	ended  func(sent int64) // called once with the number of bytes read or written; may be nil
}

// Read implements io.Reader.
func (s *stream) Read(p []byte) (int, error) {
	if s.next == nil {
		s.next, s.stop = iter.Pull2(s.pieces)
	}
	for len(s.rest) == 0 {
		piece, err, ok := s.next()
		if err != nil {
			return 0, fmt.Errorf("response: stream: %w", err)
		}
		if !ok {
			return 0, io.EOF
		}
		s.rest = piece
	}
	n := copy(p, s.rest)
	s.rest = s.rest[n:]
	s.sent += int64(n)
	return n, nil
}

// WriteTo implements io.WriterTo for streams nobody has read from.
func (s *stream) WriteTo(w io.Writer) (int64, error) {
	for piece, err := range s.pieces {
		if err != nil {
			return s.sent, fmt.Errorf("response: stream: %w", err)
		}
		n, err := w.Write(piece)
		s.sent += int64(n)
		if err != nil {
			return s.sent, err
		}
	}
	return s.sent, nil
}

// Close implements io.Closer: the pieces left are let go, also where the client hung up.
func (s *stream) Close() error {
	if s.stop != nil {
		s.stop()
	}
	if s.ended != nil {
		s.ended(s.sent)
		s.ended = nil
	}
	return nil
}
