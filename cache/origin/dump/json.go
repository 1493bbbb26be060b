package dump

import (
	"bufio"
	"bytes"
	"fmt"
	"io"

	"vitrine/rules/ejson"
	"vitrine/rules/raw"
)

// The way of JSON: readJSON looks at the first character. readLines or readArray find where each document begins,
// gather collects its text up to the end that lineEnd or nesting finds, and parse makes BSON of it. The scanners
// look for ends only and accept much that is no JSON; the parser decides.

// maxText limits the Extended JSON of one document. The canonical form is several times as large as the BSON.
const maxText = 4 * raw.MaxDocument

// maxGap is how many bytes may be read without the end of a document, so that reading ends.
// White space without end, an object that never closes, and a line of gigabytes are all read only so far.
const maxGap = 4 * maxText

// errGap ends the reading of a file, unlike errTextTooLong, which concerns one document.
var errGap = fmt.Errorf("no document ends within %d bytes", maxGap)

// errTextTooLong is the reason of a BadDocument: its end was found, so the next one can be read.
var errTextTooLong = fmt.Errorf("more than %d bytes of JSON in one document", maxText)

// byteOrderMark is what some editors write at the beginning of UTF-8.
var byteOrderMark = []byte("\ufeff")

// readJSON reads documents in lines, or, if the first character is a bracket, in one array.
func (s *Source) readJSON(in *stream, take takeFunc) error {
	t := text{stream: in, collection: s.Collections[0], line: 1}
	if head, _ := in.Peek(len(byteOrderMark)); bytes.Equal(head, byteOrderMark) {
		_, _ = in.Discard(len(byteOrderMark)) // cannot fail: the bytes are buffered
	}
	if firstCharacter(in.Reader) == '[' {
		return t.readArray(take)
	}
	return t.readLines(take)
}

// firstCharacter peeks for the first byte in the buffer that is not white space. It returns 0 if there is none.
func firstCharacter(in *bufio.Reader) byte {
	in.Peek(1) // fills the buffer; reading reports any error
	head, _ := in.Peek(in.Buffered())
	if head = bytes.TrimLeft(head, " \t\r\n"); len(head) > 0 {
		return head[0]
	}
	return 0
}

// text is a JSON file. It finds the end of each document and gives its text to the parser.
type text struct {
	*stream
	collection string
	line       int    // line of the next byte
	since      int64  // offset at which the previous document ended
	buf        []byte // text of the current document; reused
}

// place returns the position of the next byte, with its line.
func (t *text) place() Place {
	place := t.stream.place()
	place.Line = t.line
	return place
}

// readLines reads one document per line and skips empty lines.
// A line that is no document is a BadDocument, and the next line may be a good one.
func (t *text) readLines(take takeFunc) error {
	for {
		place := t.place()
		err := t.gather(lineEnd)
		if err != nil && err != io.EOF && err != errTextTooLong {
			return newBrokenFile(place, err)
		}
		if t.buf = bytes.TrimSpace(t.buf); len(t.buf) > 0 || err == errTextTooLong {
			if err := take(t.parse(place, err)); err != nil {
				return err
			}
		}
		if err == io.EOF {
			return nil
		}
	}
}

// lineEnd returns the position after a line and the empty lines that follow it, or len(src) if the line goes on.
func lineEnd(src []byte) (n int, end bool) {
	if i := bytes.IndexByte(src, '\n'); i >= 0 {
		for ; i < len(src) && src[i] == '\n'; i++ {
		}
		return i, true
	}
	return len(src), false
}

// readArray reads the documents of one array.
// Its commas are checked, because a missing one may be all that shows a lost document. An error in between
// documents breaks the file: nothing tells where the next one begins.
func (t *text) readArray(take takeFunc) error {
	_, err := t.token() // the opening bracket
	for begins := true; err == nil; begins = false {
		var c byte
		where := "in the array"
		if c, err = t.token(); c == ']' {
			return t.finish()
		}
		if c == ',' && !begins {
			begins, where = true, "where a document should begin"
			c, err = t.token()
		}
		if err == nil && (c != '{' || !begins) {
			err = fmt.Errorf("unexpected %q %s", c, where)
		}
		if err != nil {
			break
		}
		_ = t.UnreadByte() // cannot fail after a read
		place := t.place()
		var inside nesting
		if err = t.gather(inside.follow); err != nil && err != errTextTooLong {
			return newBrokenFile(place, err)
		}
		if err = take(t.parse(place, err)); err != nil {
			return err
		}
	}
	return newBrokenFile(t.place(), err)
}

// token returns the next byte that is not white space.
func (t *text) token() (byte, error) {
	for {
		c, err := t.ReadByte()
		if err == nil && c == '\n' {
			t.line++
		}
		if err == nil && t.stream.place().Offset-t.since > maxGap {
			err = errGap
		}
		if err != nil || c != ' ' && c != '\t' && c != '\r' && c != '\n' {
			return c, err
		}
	}
}

// finish checks that nothing follows the array.
func (t *text) finish() error {
	place := t.place()
	c, err := t.token()
	if err == io.EOF {
		return nil
	}
	if err == nil {
		err = fmt.Errorf("unexpected %q after the array", c)
	}
	return newBrokenFile(place, err)
}

// nesting is the state of a scan through a document's text.
// It survives the end of a buffer, even between a backslash and the character that it escapes.
type nesting struct {
	depth           int // depth of nested objects and arrays
	quoted, escaped bool
}

// follow finds the end of the outermost object; see lineEnd.
// It does not match kinds of brackets: [} closes, and the parser refuses that.
func (n *nesting) follow(src []byte) (int, bool) {
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
				return i + 1, true
			}
		}
	}
	return len(src), false
}

// gather reads a document's text into buf, up to the end that find finds. Text longer than maxText it reads but
// drops.
// For example, find is lineEnd for lines. gather leaves the reader behind the end, also if the text is too long.
func (t *text) gather(find func(src []byte) (n int, end bool)) (err error) {
	t.buf = t.buf[:0]
	tooLong := false
	for end := false; !end && err == nil; {
		if _, err = t.Peek(1); err != nil { // fills an empty buffer
			break
		}
		if t.stream.place().Offset-t.since > maxGap {
			return errGap
		}
		part, _ := t.Peek(t.Buffered())
		var n int
		n, end = find(part)
		part = part[:n]
		if tooLong = tooLong || len(t.buf)+n > maxText; !tooLong {
			t.buf = append(t.buf, part...)
		}
		t.line += bytes.Count(part, []byte{'\n'})
		_, _ = t.Discard(n) // cannot fail: the bytes are buffered
	}
	if tooLong && (err == nil || err == io.EOF) {
		t.buf, err = t.buf[:0], errTextTooLong
	}
	return err
}

// parse parses the text in buf as a document, unless it is too long.
func (t *text) parse(place Place, err error) (Document, error) {
	d := Document{Collection: t.collection, Place: place}
	t.since = t.stream.place().Offset
	if err != errTextTooLong {
		d.Raw, err = ejson.Parse(t.buf, ejson.Options{MaxBytes: maxText, MaxDepth: raw.MaxDepth, RegexValues: true})
	}
	if err != nil {
		return Document{}, d.bad(err)
	}
	return d, nil
}
