package markup

import (
	"strings"
	"unicode/utf8"
)

// simple reports whether s is HTML that Clean returns unchanged: valid UTF-8 without control characters, with only
// allowed elements in lower case, properly nested, and with safe quoted attributes. In doubt it returns false,
// which only costs the slow path. It is the only judge of what is sent without the policy, so each rule is at least
// as strict as the policy's. FuzzClean reads the results of both ways as a browser does.
func simple(s string) bool {
	if !utf8.ValidString(s) {
		return false
	}
	var open [maxDepth]string
	depth := 0
	for i := 0; i < len(s); {
		if s[i] != '<' {
			if control(s[i]) {
				return false
			}
			i++
			continue
		}
		t, ok := scanTag(s[i:])
		if !ok {
			return false
		}
		i += t.size
		switch {
		case t.elem == "br":
		case t.end:
			if depth == 0 || open[depth-1] != t.elem {
				return false
			}
			depth--
		case depth == maxDepth:
			return false
		default:
			open[depth] = t.elem
			depth++
		}
	}
	return depth == 0
}

// control reports whether a byte is a control character that HTML text may not have: also a carriage return, which
// parsers turn into a line feed.
func control(c byte) bool { return c < ' ' && c != '\n' && c != '\t' || c == 0x7f }

// tag is a tag in simple form.
type tag struct {
	elem string // the element's name
	end  bool   // </name>
	size int    // bytes from '<' through '>'
}

// scanTag reads a tag in a simple form: <name>, <name a='v' b="v">, </name>, <br>, <br/>, <br />. Single blanks
// only; what people indent differently takes the slow path once, when it is materialized.
func scanTag(s string) (tag, bool) {
	i := 1
	t := tag{}
	if i < len(s) && s[i] == '/' {
		t.end = true
		i++
	}
	start := i
	for i < len(s) && s[i] >= 'a' && s[i] <= 'z' {
		i++
	}
	t.elem = s[start:i]
	if !isElement(t.elem) || t.end && t.elem == "br" {
		return t, false
	}
	for i < len(s) {
		switch {
		case s[i] == '>':
			t.size = i + 1
			return t, true
		case t.elem == "br" && (strings.HasPrefix(s[i:], "/>") || strings.HasPrefix(s[i:], " />")):
			t.size = i + strings.IndexByte(s[i:], '>') + 1
			return t, true
		case s[i] != ' ' || t.end:
			return t, false
		}
		size, ok := scanAttribute(s[i+1:], t.elem)
		if !ok {
			return t, false
		}
		i += 1 + size
	}
	return t, false
}

// scanAttribute reads name='value' or name="value" at the start of s and returns its size. It returns false if the
// element may not have this attribute and value. The value ends at the same quote, and safeAttribute refuses "<"
// and ">" in it.
func scanAttribute(s, elem string) (int, bool) {
	eq := strings.IndexByte(s, '=')
	if eq < 0 || eq+1 >= len(s) {
		return 0, false
	}
	quote := s[eq+1]
	if quote != '\'' && quote != '"' {
		return 0, false
	}
	n := strings.IndexByte(s[eq+2:], quote)
	if n < 0 || !safeAttribute(elem, s[:eq], s[eq+2:eq+2+n]) {
		return 0, false
	}
	return eq + 2 + n + 1, true
}

// safeAttribute mirrors the bluemonday policy for one attribute. data-title and data-toggle are what OSIRIS writes
// for tooltips.
func safeAttribute(elem, name, value string) bool {
	switch name {
	case "class":
		return allowedWords(value, classNames, classFamilies)
	case "title", "data-title":
		return only(value, func(c byte) bool { return c != '<' && c != '>' && c != 0x7f && c >= ' ' })
	case "data-toggle":
		return only(value, func(c byte) bool { return c >= 'a' && c <= 'z' || c == '-' })
	case "href":
		return elem == "a" && simpleURL(value)
	case "target":
		return elem == "a" && (value == "_blank" || value == "_self" || value == "_parent" || value == "_top")
	case "rel":
		return elem == "a" && allowedWords(value, relations, nil)
	}
	return false
}

// simpleURL reports whether all parsers read u alike: ASCII, http, https or one slash, "&" as "&amp;". Parsers
// differ in backslashes, blanks, control characters and characters beyond ASCII, so none of these is simple.
func simpleURL(u string) bool {
	if !IsLink(u) {
		return false
	}
	for i := 0; i < len(u); i++ {
		c := u[i]
		if c == '&' && !strings.HasPrefix(u[i:], "&amp;") {
			return false
		}
		if !alnum(c) && strings.IndexByte("-._~:/?#@!$&()*+,;=%", c) < 0 {
			return false
		}
	}
	return true
}

// alnum reports letters and digits of ASCII.
func alnum(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
}

// only reports whether ok accepts every byte of s.
func only(s string, ok func(byte) bool) bool {
	for i := 0; i < len(s); i++ {
		if !ok(s[i]) {
			return false
		}
	}
	return true
}
