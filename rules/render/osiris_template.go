package render

import (
	"fmt"
	"regexp"
	"strings"
)

// Of OSIRIS's notation for templates:
//
//	{field}            the value of a field
//	{field|fallback}   the value of a field; if it is empty, of another field, or text
//	%fields text%      text, which may hold fields, only if the fields are filled:
//	                   & all of them, | any of them, ! empty
//
// It has no escapes and no errors: text that cannot be read is shown as it is written.
// Everything else is HTML.

// osirisReader reads one template, any number of times.
type osirisReader struct {
	*osirisLoader
	src string
	// Changes to what the template says:
	tidy     bool // corrected HTML
	linked   bool // persons as links to their profiles
	untitled bool // a text for a title that is empty

	depth   int      // of conditions
	faults  []string // parts that were read as plain text
	unknown []string // names without a definition
	authors bool     // whether a field writes authors with marks
}

// maxOsirisTemplate bounds the bytes of a template. The templates of OSIRIS itself have some 200.
const maxOsirisTemplate = 16 << 10

// compile compiles the template alone.
func (r *osirisReader) compile() ([]instr, error) {
	var b branch
	r.branch(&b, r.src)
	return compile(&b)
}

// branch adds a template, or the text of a condition, to a branch.
func (r *osirisReader) branch(b *branch, src string) {
	var html strings.Builder
	for src != "" {
		p, size := r.part(src)
		if size > 0 {
			html.WriteString(b.hole(p))
		} else {
			size = 1
			html.WriteByte(src[0])
		}
		src = src[size:]
	}
	text := html.String()
	if r.tidy {
		text = tidied(text)
	}
	b.html.WriteString(text)
}

// part reads the field or condition that s begins with; its size is 0 if there is none. Its
// place stays unknown, since mistakes in HTML are not reported by place.
func (r *osirisReader) part(s string) (p part, size int) {
	switch s[0] {
	case '{':
		end := strings.IndexByte(s, '}')
		if end < 0 {
			r.fault("a { without its }")
			return p, 0
		}
		return part{fields: r.placeholder(s[1:end])}, end + 1
	case '%':
		return r.conditional(s)
	}
	return p, 0
}

// fault records a part of the template that is read as plain text.
func (r *osirisReader) fault(format string, args ...any) {
	r.faults = append(r.faults, fmt.Sprintf(format, args...))
}

// field returns the field of a name. As in OSIRIS, a name without a definition stands for
// the stored field of that name.
func (r *osirisReader) field(name string) *field {
	f := r.named(name)
	if f == nil {
		r.unknown = append(r.unknown, name)
		f = osirisStored(r.rules.source(name))
	}
	r.authors = r.authors || f.authors
	if linked, ok := f.in(personsLinked); ok && r.linked {
		return linked
	}
	return f
}

// placeholder reads the text between { and }. The first alternative is a field. A
// later one is a field if it has the name of one, and text otherwise, in quotes or not.
func (r *osirisReader) placeholder(s string) (fields []*field) {
	for first := true; first || s != ""; first = false {
		var alternative string
		alternative, s = cutAlternative(s)
		text, isText := unquoted(alternative)
		if !isText && first && !fieldName.MatchString(alternative) {
			r.fault("{%s} does not begin with a field's name", alternative)
			continue
		}
		if !isText && (first || r.named(alternative) != nil) {
			fields = append(fields, r.field(alternative))
		} else if isText || text != "" {
			fields = append(fields, constantField([languages]string{text, text}))
		}
	}
	if r.untitled && r.depth == 0 && len(fields) == 1 && fields[0] == r.fields["title"] {
		fields = append(fields, untitled)
	}
	return fields
}

// cutAlternative returns the trimmed text before the next | outside of quotes, and the text
// behind it.
func cutAlternative(s string) (alternative, rest string) {
	s = strings.TrimLeft(s, " ")
	from := 0
	if s != "" && (s[0] == '\'' || s[0] == '"') {
		from = 1 + max(0, strings.IndexByte(s[1:], s[0]))
	}
	if bar := strings.IndexByte(s[from:], '|'); bar >= 0 {
		return strings.TrimSpace(s[:from+bar]), s[from+bar+1:]
	}
	return strings.TrimSpace(s), ""
}

// unquoted returns text without its quotes, if it has any.
func unquoted(s string) (string, bool) {
	if len(s) < 2 || s[0] != '\'' && s[0] != '"' || s[len(s)-1] != s[0] {
		return s, false
	}
	return s[1 : len(s)-1], true
}

// conditional reads %fields text%. A percent sign that no condition follows is one.
func (r *osirisReader) conditional(s string) (p part, size int) {
	end := closingPercent(s)
	if end < 0 {
		r.fault("a %% without its pair")
		return p, 0
	}
	names, text, _ := strings.Cut(s[1:end], " ")
	if !condition.MatchString(names) {
		r.fault("a %% without fields after it")
		return p, 0
	}
	p = part{test: readTest(names, r.field), body: new(branch)}
	r.depth++
	r.branch(p.body, text)
	r.depth--
	return p, end + 1
}

// closingPercent returns the place of the % that closes the one s begins with; those
// within fields are text.
func closingPercent(s string) int {
	braces, last := false, strings.LastIndexByte(s, '}')
	for i := 1; i < len(s); i++ {
		switch {
		case s[i] == '{' && i < last:
			braces = true
		case s[i] == '}':
			braces = false
		case s[i] == '%' && !braces:
			return i
		}
	}
	return -1
}

// nameForm is the form of a field's name: "journal-abbr", "openalex.id",
// "authors-last, f.-amp+comma".
const nameForm = `[\w\x{80}-\x{10FFFF}][-\w.+, \x{80}-\x{10FFFF}]*`

var (
	fieldName = regexp.MustCompile(`^` + nameForm + `$`)
	condition = regexp.MustCompile(`^!?` + nameForm + `([|&]!?` + nameForm + `)*$`)
)
