package urlpath

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// step is what a server may do to a path before it looks for what is there.
type step = func(path string) string

// steps are what servers do to a path that they have decoded once.
var steps = []step{decodedAgain, withoutHost, withoutParameters, withoutQuery, trimmed, slashed}

// Bounds of a closure. Ordinary paths have one or two readings. The bytes bound the work for a long path.
const (
	mostReadings = 128
	mostBytes    = 256 << 10
)

// closure returns some paths with all that steps make of them, in any order. It is not ok if there are too many.
func closure(from []string, steps []step) (all []string, ok bool) {
	all, size := slices.Clone(from), 0
	for i := 0; i < len(all); i++ {
		if size += len(all[i]); i > 0 && (i >= mostReadings || size > mostBytes) {
			return nil, false
		}
		for _, do := range steps {
			if next := do(all[i]); !slices.Contains(all, next) {
				all = append(all, next)
			}
		}
	}
	return all, true
}

func unique(paths []string) (all []string) {
	for _, p := range paths {
		if !slices.Contains(all, p) {
			all = append(all, p)
		}
	}
	return all
}

// isPlain reports whether every server reads a path in the same way, except for case and names of scripts: it has
// only characters that are themselves, and no segment that is empty, begins or ends with a dot.
func isPlain(path string) bool {
	if path == "" || path[0] != '/' {
		return false
	}
	before := byte(0)
	for i := range len(path) {
		b := path[i]
		switch {
		case b == '/':
			if before == '/' || before == '.' {
				return false
			}
		case b == '.':
			if before == '/' {
				return false
			}
		case 'a' <= b && b <= 'z', 'A' <= b && b <= 'Z', '0' <= b && b <= '9', strings.IndexByte("-_~!$&'()*+,=:@",
			b) >= 0:
		default:
			return false
		}
		before = b
	}
	return before != '.'
}

// check returns why no server should get a path with a reading. Dots lead upwards, and a NUL ends a path in C; long
// forms of ASCII characters are dots and slashes to lenient decoders.
func check(reading string) error {
	for segment := range strings.FieldsFuncSeq(reading, isSeparator) {
		segment, _, _ = strings.Cut(segment, ";") // some servers ignore the rest
		if strings.Contains(segment, ".") && strings.TrimFunc(segment, isEnding) == "" {
			return ErrDots
		}
	}
	if strings.IndexByte(reading, 0) >= 0 || hasLongForm(reading) {
		return ErrUnreadable
	}
	return nil
}

// hasLongForm reports whether a text has a character that UTF-8 writes in fewer bytes (RFC 3629: 3).
func hasLongForm(text string) bool {
	for i := 0; i+1 < len(text); i++ {
		next := text[i+1]
		switch text[i] {
		case 0xC0, 0xC1:
			if next&0xC0 == 0x80 {
				return true
			}
		case 0xE0:
			if 0x80 <= next && next < 0xA0 {
				return true
			}
		case 0xF0:
			if 0x80 <= next && next < 0x90 {
				return true
			}
		}
	}
	return false
}

func isSeparator(r rune) bool { return r == '/' || r == '\\' }

// isEnding reports whether Windows ignores a character at the end of a name, or a pattern's $ before the end of a
// text.
func isEnding(r rune) bool { return r == '.' || r <= ' ' || r == 0x7f || r == 0xa0 }

// merged returns a path without empty segments, which most servers ignore. A slash at its end stays.
func merged(path string) string {
	if !strings.Contains(path, "//") && strings.HasPrefix(path, "/") {
		return path
	}
	var b strings.Builder
	b.WriteByte('/')
	for part := range strings.FieldsFuncSeq(path, func(r rune) bool { return r == '/' }) {
		if b.Len() > 1 {
			b.WriteByte('/')
		}
		b.WriteString(part)
	}
	if strings.HasSuffix(path, "/") && b.Len() > 1 {
		b.WriteByte('/')
	}
	return b.String()
}

func withoutSlash(path string) string {
	if len(path) > 1 {
		return strings.TrimSuffix(path, "/")
	}
	return path
}

// Which escapes decoded replaces.
func keepSeparators(b byte) bool { return b != '/' && b != '\\' }
func allBytes(byte) bool         { return true }

// decodes reports whether all escapes of a path are whole.
func decodes(path string) bool {
	for i := range len(path) {
		if path[i] == '%' {
			if _, ok := escape(path, i); !ok {
				return false
			}
		}
	}
	return true
}

// decoded replaces those escapes of a path for whose bytes takes is true. Broken ones stay.
func decoded(path string, takes func(byte) bool) string {
	if !strings.Contains(path, "%") {
		return path
	}
	b := make([]byte, 0, len(path))
	for i := 0; i < len(path); i++ {
		if path[i] == '%' {
			if plain, ok := escape(path, i); ok && takes(plain) {
				b = append(b, plain)
				i += 2
				continue
			}
		}
		b = append(b, path[i])
	}
	return string(b)
}

// escape returns the byte that the escape at a place stands for.
func escape(path string, at int) (plain byte, ok bool) {
	if at+2 >= len(path) {
		return 0, false
	}
	high, low := digit(path[at+1]), digit(path[at+2])
	return high<<4 | low, high < 16 && low < 16
}

// digit returns the value of a hexadecimal digit, or 16.
func digit(b byte) byte {
	switch {
	case '0' <= b && b <= '9':
		return b - '0'
	case 'a' <= b|0x20 && b|0x20 <= 'f':
		return b | 0x20 - 'a' + 10
	}
	return 16
}

// decodedAgain is what a server reads that decodes what another one in front of it has decoded.
func decodedAgain(path string) string { return decoded(path, allBytes) }

// withoutHost is what PHP's parse_url reads: a host after two slashes. A path that is nothing but a host is no
// spelling of "/".
func withoutHost(path string) string {
	after, found := strings.CutPrefix(path, "//")
	if _, rest, more := strings.Cut(after, "/"); found && more {
		return "/" + rest
	}
	return path
}

// withoutParameters drops what Java servers take for parameters of a segment.
func withoutParameters(path string) string {
	if !strings.Contains(path, ";") {
		return path
	}
	segments := strings.Split(path, "/")
	for i := range segments {
		segments[i], _, _ = strings.Cut(segments[i], ";")
	}
	return strings.Join(segments, "/")
}

// withoutQuery ends a path where a server that rewrites the decoded one reads a query or a fragment.
func withoutQuery(path string) string {
	if i := strings.IndexAny(path, "?#"); i >= 0 {
		return path[:i]
	}
	return path
}

// trimmed drops from the end of each segment what Windows drops.
func trimmed(path string) string {
	segments := strings.Split(path, "/")
	for i := range segments {
		segments[i] = strings.TrimRightFunc(segments[i], isEnding)
	}
	return strings.Join(segments, "/")
}

// slashed is what Windows reads.
func slashed(path string) string { return strings.ReplaceAll(path, `\`, "/") }

// fold returns a path in one case, in which s and k are also the letters ſ and K, which Unicode calls the same.
func fold(path string) string {
	for i := range len(path) {
		if path[i] >= utf8.RuneSelf {
			path = strings.ToUpper(path)
			break
		}
	}
	return strings.ToLower(path)
}
