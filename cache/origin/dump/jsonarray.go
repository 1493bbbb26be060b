package dump

import (
	"bytes"
	"fmt"
	"io"
)

// arrayReader reads the documents of one JSON array. It only looks for where
// each of them ends, and leaves the rest to the parser.
type arrayReader struct {
	text
	line   int // of the next byte
	opened bool
	count  int
}

// next implements reader.
func (r *arrayReader) next() (Document, error) {
	if !r.opened {
		r.opened = true
		if _, err := r.token(); err != nil { // the bracket
			return Document{}, broken(r.place(), err)
		}
	}
	c, err := r.separator()
	if err != nil {
		return Document{}, broken(r.place(), err)
	}
	if c == ']' {
		return Document{}, r.finish()
	}
	r.count++
	place := r.place()
	place.Offset-- // c is read already
	if err = r.value(c); err != nil && err != errTextTooLong {
		return Document{}, broken(place, err)
	}
	return r.parse(r.buf, place, err)
}

// place returns where the next byte is.
func (r *arrayReader) place() Place {
	place := r.stream.place()
	place.Line = r.line
	return place
}

// token returns the next byte that is no white space.
func (r *arrayReader) token() (byte, error) {
	for {
		c, err := r.ReadByte()
		if err == nil && c == '\n' {
			r.line++
		}
		if err != nil || c != ' ' && c != '\t' && c != '\r' && c != '\n' {
			return c, err
		}
	}
}

// separator reads up to the next document, over the comma that must stand
// between two, and returns its first byte, or the closing bracket.
func (r *arrayReader) separator() (byte, error) {
	c, err := r.token()
	switch {
	case err != nil:
		return 0, err
	case r.count == 0 && (c == '{' || c == ']'), c == ']':
		return c, nil
	case r.count > 0 && c == ',':
		if c, err = r.token(); err != nil {
			return 0, err
		}
	default:
		return 0, fmt.Errorf("unexpected %q in the array", c)
	}
	if c != '{' {
		return 0, fmt.Errorf("unexpected %q where a document should begin", c)
	}
	return c, nil
}

// value reads the document that begins with the brace already read into buf. Of
// one longer than maxText nothing is kept, and reading goes on behind it.
func (r *arrayReader) value(brace byte) error {
	r.buf = append(r.buf[:0], brace)
	inside := nesting{depth: 1}
	tooLong := false
	for inside.depth > 0 {
		if _, err := r.Peek(1); err != nil { // fills an empty buffer
			return err
		}
		part, _ := r.Peek(r.Buffered())
		part = part[:inside.follow(part)]
		if tooLong = tooLong || len(r.buf)+len(part) > maxText; !tooLong {
			r.buf = append(r.buf, part...)
		}
		r.line += bytes.Count(part, []byte{'\n'})
		_, _ = r.Discard(len(part)) // cannot fail for what is buffered
	}
	if tooLong {
		return errTextTooLong
	}
	return nil
}

// nesting is where in a JSON text a reader is.
type nesting struct {
	depth           int // of objects and arrays
	quoted, escaped bool
}

// follow goes through src up to the end of the outermost object or array, or of
// src, and returns how far it came.
func (n *nesting) follow(src []byte) int {
	for i, c := range src {
		switch {
		case n.escaped:
			n.escaped = false
		case n.quoted && c == '\\':
			n.escaped = true
		case c == '"':
			n.quoted = !n.quoted
		case n.quoted:
		case c == '{' || c == '[':
			n.depth++
		case c == '}' || c == ']':
			if n.depth--; n.depth == 0 {
				return i + 1
			}
		}
	}
	return len(src)
}

// finish checks that nothing follows the array.
func (r *arrayReader) finish() error {
	place := r.place()
	switch c, err := r.token(); {
	case err == io.EOF:
		return io.EOF
	case err != nil:
		return broken(place, err)
	default:
		return broken(place, fmt.Errorf("unexpected %q behind the array", c))
	}
}
