package proxy

import (
	"bytes"
	"fmt"
	"io"
	"iter"

	"vitrine/cache/result"
)

// chunk is about how much of a stream is made at a time, in bytes before coding.
const chunk = 32 << 10

// stream makes a body while it is read. It holds one chunk of it, whatever the
// size of the whole, and needs no goroutine: the connection reads, the rows are
// pulled. Whoever reads it closes it.
type stream struct {
	body  *body
	next  func() (int, bool)
	stop  func()
	coder result.Writer // nil: sent as it is
	plain []byte        // the chunk under construction
	ready bytes.Buffer  // coded, not yet read
	begun bool
	done  bool
	sent  int64
	ended func(sent int64)
}

// newStream begins a body; ended is called once with the number of bytes read.
func newStream(b *body, c result.Coding, ended func(int64)) (*stream, error) {
	s := &stream{body: b, ended: ended, plain: append([]byte(nil), b.head...)}
	if c != result.Identity {
		coder, err := result.NewStream(&s.ready, c)
		if err != nil {
			return nil, err
		}
		s.coder = coder
	}
	s.next, s.stop = iter.Pull(b.items)
	return s, nil
}

// Read implements io.Reader.
func (s *stream) Read(p []byte) (int, error) {
	for s.ready.Len() == 0 {
		if s.done {
			return 0, io.EOF
		}
		if err := s.advance(); err != nil {
			return 0, fmt.Errorf("proxy: stream: %w", err)
		}
	}
	n, err := s.ready.Read(p)
	s.sent += int64(n)
	return n, err
}

// advance joins rows up to a chunk and codes it.
func (s *stream) advance() error {
	for len(s.plain) < chunk {
		item, ok := s.next()
		if !ok {
			s.plain = append(s.plain, s.body.tail...)
			s.done = true
			break
		}
		if s.begun {
			s.plain = append(s.plain, ',')
		}
		s.begun = true
		s.plain = s.body.row(s.plain, item)
	}
	var to io.Writer = &s.ready
	if s.coder != nil {
		to = s.coder
	}
	if _, err := to.Write(s.plain); err != nil {
		return err
	}
	s.plain = s.plain[:0]
	if s.done && s.coder != nil {
		return s.coder.Close()
	}
	return nil
}

// Close implements io.Closer: the rows left are let go, also where the client hung up.
func (s *stream) Close() error {
	s.stop()
	if s.ended != nil {
		s.ended(s.sent)
		s.ended = nil
	}
	return nil
}
