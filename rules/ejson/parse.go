package ejson

import (
	"bytes"
	"cmp"
	"fmt"
	"strconv"
	"unicode/utf8"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"vitrine/rules"
)

const (
	// defaultDepth is how deep MongoDB allows documents to nest.
	defaultDepth = 100
	// maxSource keeps every length in the BSON within an int32: no JSON grows more than 7.5 times (an array of single
	// digits: two bytes become a type, nine digits of index, a NUL and four of value).
	maxSource = 1 << 28
)

// Options says how to read a text. The zero value reads a filter that does not come from a parameter.
type Options struct {
	// Param is the request parameter with the text, for errors.
	Param string
	// MaxBytes is the limit on the text's length; 0 means the hard limit of 256 MiB.
	MaxBytes int
	// MaxDepth is the limit on nested objects and arrays, wrappers included; 0 means 100.
	MaxDepth int
	// RegexValues reads {"$regex": "…"} and {"$regex": "…", "$options": "…"} as
	// regular expression values, as old versions of mongoexport write them. It must be
	// false for filters, where these are operators.
	RegexValues bool
}

// Parse reads a text that is one JSON object. The document keeps the order of keys
// and shares no memory with src. Errors are *rules.Error of kind ErrWrongCall.
func Parse(src []byte, o Options) (bson.Raw, error) {
	o.MaxDepth = cmp.Or(o.MaxDepth, defaultDepth)
	limit := min(cmp.Or(o.MaxBytes, maxSource), maxSource)
	if len(src) > limit {
		return nil, rules.Wrongf(o.Param, "", "is %d bytes long, %d are allowed", len(src), limit)
	}
	// BSON records are about as long as their JSON, filters a little longer.
	p := &parser{src: src, opts: o, buf: make([]byte, 0, len(src)+len(src)/4+64)}
	p.keys = p.firstKeys[:0]
	switch {
	case bytes.HasPrefix(src, []byte("\xef\xbb\xbf")):
		return nil, p.fail(0, "starts with a byte order mark")
	case p.token() != '{':
		return nil, p.unexpected("an object")
	}
	if _, err := p.elements(1); err != nil {
		return nil, err
	}
	if p.token(); p.pos < len(src) {
		return nil, p.unexpected("nothing more")
	}
	return p.buf, nil
}

// parser reads src from pos on and appends BSON to buf.
type parser struct {
	src  []byte
	pos  int
	buf  []byte
	keys []keyRef // the keys of all open objects, the innermost object's last
	opts Options

	firstKeys [48]keyRef // the initial memory of keys, enough for most documents
}

// token skips white space and returns the next byte without consuming it, or 0 at the end of the text.
func (p *parser) token() byte {
	for ; p.pos < len(p.src); p.pos++ {
		switch c := p.src[p.pos]; c {
		case ' ', '\t', '\n', '\r':
		default:
			return c
		}
	}
	return 0
}

// value reads a value, appends it without its type, and returns the type.
func (p *parser) value(depth int) (bson.Type, error) {
	switch c := p.token(); {
	case c == '"':
		return bson.TypeString, p.stringValue()
	case c == '{':
		return p.object(depth)
	case c == '[':
		_, err := p.elements(depth)
		return bson.TypeArray, err
	case c == '-' || '0' <= c && c <= '9':
		return p.number()
	case p.literal("true"):
		p.buf = append(p.buf, 1)
		return bson.TypeBoolean, nil
	case p.literal("false"):
		p.buf = append(p.buf, 0)
		return bson.TypeBoolean, nil
	case p.literal("null"):
		return bson.TypeNull, nil
	}
	return 0, p.unexpected("a value")
}

// literal consumes the word if it comes next.
func (p *parser) literal(word string) bool {
	found := bytes.HasPrefix(p.src[p.pos:], []byte(word))
	if found {
		p.pos += len(word)
	}
	return found
}

// elements reads the object or array at pos as a document, even if it has the keys of a wrapper, and
// returns the number of elements.
func (p *parser) elements(depth int) (n int, err error) {
	if depth > p.opts.MaxDepth {
		return 0, p.fail(p.pos, "nests deeper than %d levels", p.opts.MaxDepth)
	}
	closing, what := byte('}'), "key"
	if p.src[p.pos] == '[' {
		closing, what = ']', "value"
	}
	start, buf := bsoncore.AppendDocumentStart(p.buf)
	p.buf = buf
	p.pos++
	firstKey := len(p.keys)
	for c := p.token(); c != closing; n++ {
		at := len(p.buf)
		p.buf = append(p.buf, 0) // a placeholder for the type
		if closing == ']' {
			p.buf = append(strconv.AppendInt(p.buf, int64(n), 10), 0)
		} else if err := p.key(); err != nil {
			return 0, err
		}
		t, err := p.value(depth + 1)
		if err != nil {
			return 0, err
		}
		p.buf[at] = byte(t)
		if c = p.token(); c == ',' {
			p.pos++
			if c = p.token(); c == closing {
				return 0, p.unexpected("another " + what + " after the comma")
			}
		} else if c != closing {
			return 0, p.unexpected("',' or '" + string(closing) + "'")
		}
	}
	p.pos++
	if p.buf, err = bsoncore.AppendDocumentEnd(p.buf, start); err != nil {
		return 0, err
	}
	own := p.keys[firstKey:]
	p.keys = p.keys[:firstKey]
	return n, p.unique(own)
}

// fail returns an error with an offset.
func (p *parser) fail(at int, format string, args ...any) error {
	return rules.Wrongf(p.opts.Param, "offset "+strconv.Itoa(at), format, args...)
}

// unexpected returns the error for other text at pos than want.
func (p *parser) unexpected(want string) error {
	if p.pos >= len(p.src) {
		return p.fail(p.pos, "ends where %s should be", want)
	}
	found := fmt.Sprintf("byte 0x%02x", p.src[p.pos])
	if r, _ := utf8.DecodeRune(p.src[p.pos:]); r != utf8.RuneError {
		found = strconv.QuoteRune(r)
	}
	return p.fail(p.pos, "found %s where %s should be", found, want)
}
