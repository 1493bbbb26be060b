package ejson

import (
	"encoding/binary"
	"unicode/utf16"
	"unicode/utf8"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// stringValue reads the string at pos as a BSON string.
func (p *parser) stringValue() error {
	start := len(p.buf)
	p.buf = append(p.buf, 0, 0, 0, 0)
	if err := p.text(); err != nil {
		return err
	}
	p.buf = append(p.buf, 0)
	binary.LittleEndian.PutUint32(p.buf[start:], uint32(len(p.buf)-start-4))
	return nil
}

// text takes the string at pos, quotes included, and appends what it says.
func (p *parser) text() error {
	opening := p.pos
	p.pos++
	for {
		rest := p.src[p.pos:]
		n, ascii := plainRun(rest)
		if !ascii && !utf8.Valid(rest[:n]) {
			return p.fail(p.pos+invalidAt(rest[:n]), "the string is not valid UTF-8")
		}
		p.buf = append(p.buf, rest[:n]...)
		p.pos += n
		if n == len(rest) {
			return p.fail(opening, "the string does not end")
		}
		switch rest[n] {
		case '"':
			p.pos++
			return nil
		case '\\':
			if err := p.escape(); err != nil {
				return err
			}
		default:
			return p.fail(p.pos, "control character 0x%02x in a string must be escaped", rest[n])
		}
	}
}

// invalidAt is the offset of the first byte that is not UTF-8.
func invalidAt(b []byte) int {
	for i := 0; i < len(b); {
		r, size := utf8.DecodeRune(b[i:])
		if r == utf8.RuneError && size == 1 {
			return i
		}
		i += size
	}
	return len(b)
}

// escape takes the escape sequence at pos.
func (p *parser) escape() error {
	if p.pos+1 == len(p.src) {
		return p.fail(p.pos, "the string does not end")
	}
	c := p.src[p.pos+1]
	switch c {
	case '"', '\\', '/':
	case 'b':
		c = '\b'
	case 'f':
		c = '\f'
	case 'n':
		c = '\n'
	case 'r':
		c = '\r'
	case 't':
		c = '\t'
	case 'u':
		return p.unicodeEscape()
	default:
		return p.fail(p.pos, "unknown escape sequence in a string")
	}
	p.buf = append(p.buf, c)
	p.pos += 2
	return nil
}

// unicodeEscape takes a \uHHHH, or the two that make up a surrogate pair.
func (p *parser) unicodeEscape() error {
	r := codeUnit(p.src[p.pos:])
	if r < 0 {
		return p.fail(p.pos, "\\u needs four hexadecimal digits")
	}
	size := 6
	if utf16.IsSurrogate(r) {
		r = utf16.DecodeRune(r, codeUnit(p.src[p.pos+6:]))
		if r == utf8.RuneError {
			return p.fail(p.pos, "half of a surrogate pair in a string")
		}
		size = 12
	}
	p.buf = utf8.AppendRune(p.buf, r)
	p.pos += size
	return nil
}

// codeUnit is the value of the \uHHHH at the start of b; -1 if there is none.
func codeUnit(b []byte) rune {
	if len(b) < 6 || b[0] != '\\' || b[1] != 'u' {
		return -1
	}
	var r rune
	for _, c := range b[2:6] {
		d := hexDigit(c)
		if d < 0 {
			return -1
		}
		r = r<<4 | rune(d)
	}
	return r
}

// hexDigit is the value of a hexadecimal digit; -1 for any other byte.
func hexDigit(c byte) int {
	switch {
	case '0' <= c && c <= '9':
		return int(c - '0')
	case 'a' <= c && c <= 'f':
		return int(c-'a') + 10
	case 'A' <= c && c <= 'F':
		return int(c-'A') + 10
	}
	return -1
}

// stringContent is what a value says if it is a string.
func stringContent(v value) ([]byte, bool) {
	if v.t != bson.TypeString {
		return nil, false
	}
	return v.b[4 : len(v.b)-1], true
}
