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
	defaultDepth = 100 // how deep MongoDB allows documents to nest
	// maxSource keeps every length in the BSON within an int32: no JSON grows more than 7.5 times
	// (an array of single digits: two bytes become a type, nine digits of index, a NUL and four of
	// value).
	maxSource = 1 << 28
)

// Options says how to read a text. The zero value reads a filter that does not come from a
// parameter. Limits count before parsing or on the way, so a text beyond them costs nothing more.
type Options struct {
	Param    string // request parameter with the text, for errors
	MaxBytes int    // limit on the text's length; 0 means 256 MiB
	MaxDepth int    // limit on nested objects and arrays, wrappers included; 0 means 100
	// RegexValues reads {"$regex": "…"} and {"$regex": "…", "$options": "…"} as regular expression values, as old
	// versions of mongoexport write them. It must be false for filters, where these are operators.
	RegexValues bool
}

// Parse reads a text that is one JSON object. The document keeps the order of keys
// and shares no memory with src. Errors are *rules.Error of kind ErrWrongCall.
func Parse(src []byte, o Options) (doc bson.Raw, err error) {
	defer rules.Catch(&err)
	o.MaxDepth = cmp.Or(o.MaxDepth, defaultDepth)
	limit := min(cmp.Or(o.MaxBytes, maxSource), maxSource)
	if len(src) > limit {
		return nil, rules.Wrongf(o.Param, "", "is %d bytes long, %d are allowed", len(src), limit)
	}
	// BSON records are about as long as their JSON, filters a little longer.
	// With this room the buffer rarely grows.
	p := &parser{src: src, opts: o, buf: make([]byte, 0, len(src)+len(src)/4+64)}
	p.keys = p.firstKeys[:0]
	if bytes.HasPrefix(src, []byte("\xef\xbb\xbf")) {
		p.fail(0, "starts with a byte order mark")
	}
	if p.token() != '{' {
		p.unexpected("an object")
	}
	p.elements(1)
	if p.token(); p.pos < len(src) {
		p.unexpected("nothing more")
	}
	return p.buf, nil
}

// parser reads src from pos on and appends BSON to buf. Its methods end the parsing by rules.Fail
// at the first mistake; Parse recovers.
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

// value reads a value, appends it without its type, and returns the type. The caller has left a
// byte for the type, since BSON puts it before the key.
func (p *parser) value(depth int) bson.Type {
	switch c := p.token(); {
	case c == '"':
		p.stringValue()
		return bson.TypeString
	case c == '{':
		return p.object(depth)
	case c == '[':
		p.elements(depth)
		return bson.TypeArray
	case c == '-' || '0' <= c && c <= '9':
		return p.number()
	case p.literal("true"):
		p.buf = append(p.buf, 1)
		return bson.TypeBoolean
	case p.literal("false"):
		p.buf = append(p.buf, 0)
		return bson.TypeBoolean
	case !p.literal("null"):
		p.unexpected("a value")
	}
	return bson.TypeNull
}

// literal consumes the word if it comes next.
func (p *parser) literal(word string) bool {
	found := bytes.HasPrefix(p.src[p.pos:], []byte(word))
	if found {
		p.pos += len(word)
	}
	return found
}

// elements reads an object or array as a document, even with a wrapper's keys, and counts its
// elements. Phases for each element: a byte for the type, the key, the value, the type itself, and
// the comma.
func (p *parser) elements(depth int) (n int) {
	if depth > p.opts.MaxDepth {
		p.fail(p.pos, "nests deeper than %d levels", p.opts.MaxDepth)
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
		} else {
			p.key()
		}
		t := p.value(depth + 1)
		p.buf[at] = byte(t)
		if c = p.token(); c == ',' {
			p.pos++
			if c = p.token(); c == closing {
				p.unexpected("another " + what + " after the comma")
			}
		} else if c != closing {
			p.unexpected("',' or '" + string(closing) + "'")
		}
	}
	p.pos++
	p.buf, _ = bsoncore.AppendDocumentEnd(p.buf, start) // cannot fail: the document began at start
	p.unique(p.keys[firstKey:])
	p.keys = p.keys[:firstKey]
	return n
}

// fail ends the parsing with an error at an offset of the text.
func (p *parser) fail(at int, format string, args ...any) {
	rules.Fail(rules.Wrongf(p.opts.Param, "offset "+strconv.Itoa(at), format, args...))
}

// unexpected is fail for other text at pos than want.
func (p *parser) unexpected(want string) {
	if p.pos >= len(p.src) {
		p.fail(p.pos, "ends where %s should be", want)
	}
	found := fmt.Sprintf("byte 0x%02x", p.src[p.pos])
	if r, _ := utf8.DecodeRune(p.src[p.pos:]); r != utf8.RuneError {
		found = strconv.QuoteRune(r)
	}
	p.fail(p.pos, "found %s where %s should be", found, want)
}
