package ejson

import (
	"fmt"
	"math/bits"
	"strings"
	"unicode/utf8"
)

// AppendString writes s as a JSON string. It escapes only quotes, backslashes and control
// characters; each byte that is not UTF-8 becomes U+FFFD. HTML and the line separators U+2028 and
// U+2029 stay: the output is JSON, not script. Most texts are copied in one piece: a run is
// appended first and checked in place.
func AppendString[S string | []byte](dst []byte, s S) []byte {
	dst = append(dst, '"')
	for {
		n, ascii := plainRun(s)
		start := len(dst)
		dst = append(dst, s[:n]...)
		if !ascii && !utf8.Valid(dst[start:]) {
			dst = dst[:start]
			for _, r := range string(s[:n]) { // U+FFFD for each byte that is not UTF-8
				dst = utf8.AppendRune(dst, r)
			}
		}
		if n == len(s) {
			return append(dst, '"')
		}
		dst = appendEscape(dst, s[n])
		s = s[n+1:]
	}
}

// AppendKey writes a key and a colon, and a comma before them unless dst ends with an opening brace.
func AppendKey[S string | []byte](dst []byte, key S) []byte {
	if len(dst) == 0 || dst[len(dst)-1] != '{' {
		dst = append(dst, ',')
	}
	return append(AppendString(dst, key), ':')
}

// The letters of JSON's short escapes, and the bytes that they mean.
const (
	escapeLetters = `"\/bfnrt`
	escapedBytes  = "\"\\/\b\f\n\r\t"
)

// appendEscape writes a byte in its short form if JSON has one. "/" needs no escape, so callers
// never pass it.
func appendEscape(dst []byte, c byte) []byte {
	if i := strings.IndexByte(escapedBytes, c); i >= 0 {
		return append(dst, '\\', escapeLetters[i])
	}
	return fmt.Appendf(dst, `\u%04x`, c)
}

// plainRun returns the length of the part of s before the first quote, backslash or control character, and whether
// that part is ASCII. It looks at eight bytes at a time. In the masks below, the highest bit of each byte is valid
// for that byte, up to and including the first match (the subtractions borrow only upwards).
func plainRun[S string | []byte](s S) (n int, ascii bool) {
	const (
		ones  = 0x0101010101010101
		highs = 0x80 * ones
	)
	var seen uint64 // the bitwise or of all bytes in the run
	for ; n+8 <= len(s); n += 8 {
		x := load64(s[n:])
		quote, backslash := x^('"'*ones), x^('\\'*ones)
		found := ((x-' '*ones)&^x | (quote-ones)&^quote | (backslash-ones)&^backslash) & highs
		if found != 0 {
			before := bits.TrailingZeros64(found) &^ 7
			seen |= x & (1<<before - 1)
			return n + before/8, seen&highs == 0
		}
		seen |= x
	}
	for ; n < len(s); n++ {
		c := s[n]
		if c < ' ' || c == '"' || c == '\\' {
			break
		}
		seen |= uint64(c)
	}
	return n, seen&highs == 0
}

// load64 reads eight bytes, the first as the lowest; it compiles to one load. A conversion of a
// string to bytes would allocate.
func load64[S string | []byte](s S) uint64 {
	_ = s[7]
	return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
		uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
}
