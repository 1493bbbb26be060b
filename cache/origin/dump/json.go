package dump

import (
	"bufio"
	"bytes"
	"fmt"
	"io"

	"vitrine/rules/ejson"
	"vitrine/rules/raw"
)

// maxText is how long the Extended JSON of one document may be, in bytes. The
// canonical form of a document takes several times the room of its BSON.
const maxText = 4 * raw.MaxDocument

// errTextTooLong reports a document whose text exceeds maxText.
var errTextTooLong = fmt.Errorf("more than %d bytes of JSON in one document", maxText)

// byteOrderMark is what some editors put in front of UTF-8.
var byteOrderMark = []byte("\ufeff")

// newJSONReader returns the reader for a file of documents in lines, or, if its
// first character is a bracket, in one array.
func newJSONReader(in *stream, collection string) reader {
	t := text{stream: in, collection: collection}
	if head, _ := in.Peek(len(byteOrderMark)); bytes.Equal(head, byteOrderMark) {
		_, _ = in.Discard(len(byteOrderMark)) // cannot fail for what is buffered
	}
	if firstCharacter(in.Reader) == '[' {
		return &arrayReader{text: t, line: 1}
	}
	return &lineReader{text: t}
}

// firstCharacter returns the first byte that is no white space, as far as the
// buffer reaches, without reading it; 0 if there is none.
func firstCharacter(in *bufio.Reader) byte {
	in.Peek(1) // fills the buffer; an error shows when the file is read
	head, _ := in.Peek(in.Buffered())
	if head = bytes.TrimLeft(head, " \t\r\n"); len(head) > 0 {
		return head[0]
	}
	return 0
}

// text is what both readers of JSON have in common.
type text struct {
	*stream
	collection string
	buf        []byte // of the document being read; reused
}

// parse turns one document's text into BSON, unless the text could not be read.
func (t *text) parse(src []byte, place Place, err error) (Document, error) {
	d := Document{Collection: t.collection, Place: place}
	if err == nil {
		d.Raw, err = ejson.Parse(src, ejson.Options{MaxBytes: maxText, MaxDepth: raw.MaxDepth, RegexValues: true})
	}
	if err != nil {
		return Document{}, d.bad(err)
	}
	return d, nil
}

// lineReader reads one document a line; empty lines are passed over.
type lineReader struct {
	text
	line int
}

// next implements reader.
func (r *lineReader) next() (Document, error) {
	for {
		r.line++
		place := r.place()
		place.Line = r.line
		src, err := r.readLine()
		src = bytes.TrimSpace(src)
		switch {
		case err == errTextTooLong:
			return r.parse(nil, place, err)
		case err != nil && err != io.EOF:
			return Document{}, broken(place, err)
		case len(src) > 0:
			return r.parse(src, place, nil)
		case err == io.EOF:
			return Document{}, io.EOF
		}
	}
}

// readLine returns the next line, which stays valid until the next call; the
// last one comes with io.EOF if no newline ends it. Of a line longer than
// maxText nothing is kept, and reading goes on behind it.
func (r *lineReader) readLine() ([]byte, error) {
	r.buf = r.buf[:0]
	tooLong := false
	for {
		part, err := r.ReadSlice('\n')
		if err == nil && len(r.buf) == 0 && !tooLong {
			return part, nil // the usual case, without a copy
		}
		if tooLong = tooLong || len(r.buf)+len(part) > maxText; !tooLong {
			r.buf = append(r.buf, part...)
		}
		switch {
		case err == bufio.ErrBufferFull:
			continue
		case tooLong && (err == nil || err == io.EOF):
			return nil, errTextTooLong
		default:
			return r.buf, err
		}
	}
}
