package markup

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// Restrict returns HTML that another system has stored. The elements i b em strong sub sup stay, without attributes
// and properly nested. Character references stay. Restrict escapes all other markup, so that readers see it as
// typed. P < 0.05 & <i>E. coli</i> <a href=…> becomes P &lt; 0.05 &amp; <i>E. coli</i> &lt;a href=…&gt;.
func Restrict(s string) string {
	if plainText(s) {
		return s
	}
	var dst []byte
	var stack [maxDepth]string
	open := stack[:0]
	for i := 0; i < len(s); {
		n := 1
		switch s[i] {
		case '<':
			name, end, size := titleTag(s[i:])
			n = max(size, 1)
			switch {
			case size == 0:
				dst = append(dst, "&lt;"...)
			case end:
				dst, open = closeThrough(dst, open, name)
			case len(open) < maxDepth:
				dst, open = append(append(append(dst, '<'), name...), '>'), append(open, name)
			}
		case '>':
			dst = append(dst, "&gt;"...)
		case '&':
			size := reference(s[i:])
			n = max(size, 1)
			if size > 0 {
				dst = append(dst, s[i:i+size]...)
			} else {
				dst = append(dst, "&amp;"...)
			}
		default:
			dst, n = appendRune(dst, s[i:])
		}
		i += n
	}
	return string(closeAll(dst, open))
}

// maxTitleTag bounds a tag, so that a title of many "<" takes linear time.
const maxTitleTag = 256

// titleTag reads an allowed tag without its attributes; size is 0 if s begins with other text. Attributes are
// dropped without being read: none of them is needed, and none can then be dangerous.
func titleTag(s string) (name string, end bool, size int) {
	gt := strings.IndexByte(s[:min(len(s), maxTitleTag)], '>')
	if gt < 0 || strings.IndexByte(s[1:gt], '<') >= 0 {
		return "", false, 0
	}
	name, end = tagName(s[:gt])
	after := 1 + len(name)
	if end {
		after++
	}
	if !slices.Contains(titleElements, name) || !(after == gt || s[after] == ' ') {
		return "", false, 0
	}
	return name, end, gt + 1
}

// appendRune drops a control character and replaces invalid UTF-8. It returns the bytes read.
func appendRune(dst []byte, s string) ([]byte, int) {
	if s[0] < utf8.RuneSelf {
		if control(s[0]) {
			return dst, 1
		}
		return append(dst, s[0]), 1
	}
	r, n := utf8.DecodeRuneInString(s)
	return utf8.AppendRune(dst, r), n
}

// Stored returns s unchanged if it has no markup beyond the allow-list ("P < 0.05"), and Restrict(s) otherwise.
// Byte for byte, since clients compare and synchronise stored texts. Restrict is only for what could run or lay out
// something.
func Stored(s string) string {
	if !tagged(s) || simple(s) {
		return s
	}
	return Restrict(s)
}

// tagged reports whether a "<" in s could begin a tag or a comment: any "<" that is not followed by a space, a
// digit, a sign or a character beyond ASCII. HTML begins a tag only by a letter, "/", "!" or "?" after "<"; the
// rest is cautious and counts as one, too.
func tagged(s string) bool {
	for lt := strings.IndexByte(s, '<'); lt >= 0 && lt+1 < len(s); lt = strings.IndexByte(s, '<') {
		s = s[lt+1:]
		if next := s[0]; next < utf8.RuneSelf && strings.IndexByte(" 0123456789=<>-+.,;&$", next) < 0 {
			return true
		}
	}
	return false
}
