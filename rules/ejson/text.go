package ejson

import (
	"encoding/binary"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// stringValue appends the string at pos as BSON. It writes the length last, when it is known.
func (p *parser) stringValue() {
	start := len(p.buf)
	p.buf = append(p.buf, 0, 0, 0, 0)
	p.text()
	p.buf = append(p.buf, 0)
	binary.LittleEndian.PutUint32(p.buf[start:], uint32(len(p.buf)-start-4))
}

// text consumes the string at pos, quotes included, and appends its content. It copies runs without
// escapes as a whole, after a check of their UTF-8. RFC 8259 forbids control characters without an
// escape.
func (p *parser) text() {
	opening := p.pos
	p.pos++
	for {
		rest := p.src[p.pos:]
		n, ascii := plainRun(rest)
		if !ascii && !utf8.Valid(rest[:n]) {
			p.fail(p.pos+invalidAt(rest[:n]), "the string is not valid UTF-8")
		}
		p.buf = append(p.buf, rest[:n]...)
		p.pos += n
		if n == len(rest) {
			p.fail(opening, "the string does not end")
		}
		switch rest[n] {
		case '"':
			p.pos++
			return
		case '\\':
			p.escape()
		default:
			p.fail(p.pos, "control character 0x%02x in a string must be escaped", rest[n])
		}
	}
}

// invalidAt returns the offset of the first byte that is not UTF-8. There must be one.
func invalidAt(b []byte) int {
	for i := 0; ; {
		r, size := utf8.DecodeRune(b[i:])
		if r == utf8.RuneError && size <= 1 {
			return i
		}
		i += size
	}
}

// escape consumes a backslash sequence.
func (p *parser) escape() {
	if p.pos+1 == len(p.src) {
		p.fail(p.pos, "the string does not end")
	}
	letter := p.src[p.pos+1]
	if letter == 'u' {
		p.unicodeEscape()
		return
	}
	i := strings.IndexByte(escapeLetters, letter)
	if i < 0 {
		p.fail(p.pos, "unknown escape sequence in a string")
	}
	p.buf = append(p.buf, escapedBytes[i])
	p.pos += 2
}

// unicodeEscape consumes a \uHHHH, or a surrogate pair of two. Half of a pair is no character and
// has no UTF-8.
func (p *parser) unicodeEscape() {
	r := codeUnit(p.src[p.pos:])
	if r < 0 {
		p.fail(p.pos, "\\u needs four hexadecimal digits")
	}
	size := 6
	if utf16.IsSurrogate(r) {
		r = utf16.DecodeRune(r, codeUnit(p.src[p.pos+6:]))
		if r == utf8.RuneError {
			p.fail(p.pos, "half of a surrogate pair in a string")
		}
		size = 12
	}
	p.buf = utf8.AppendRune(p.buf, r)
	p.pos += size
}

// codeUnit returns the value of the \uHHHH at the start of b, or -1.
func codeUnit(b []byte) rune {
	if len(b) < 6 || b[0] != '\\' || b[1] != 'u' {
		return -1
	}
	r, err := strconv.ParseUint(string(b[2:6]), 16, 16)
	if err != nil {
		return -1
	}
	return rune(r)
}
