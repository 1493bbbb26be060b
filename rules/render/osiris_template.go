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
// It has no escapes and no errors: text that cannot be read is shown as it is written. Everything else is HTML.

// osirisReader reads one template. It can read it several times. The forms of one template differ
// in the changes below, so it is read anew for each rather than rewritten afterwards.
type osirisReader struct {
	*osirisLoader
	src string
	// Changes to the template:
	tidy     bool // correct the HTML
	linked   bool // write persons as links to their profiles
	untitled bool // write a text for an empty title

	depth   int      // depth of nested conditions
	faults  []string // parts that were read as plain text
	unknown []string // names of unknown fields
	authors bool     // whether a field writes authors with marks
}

// maxOsirisTemplate bounds the bytes of a template. OSIRIS's own templates have some 200. Reading
// looks for the end of each field, which takes quadratic time in the worst case.
const maxOsirisTemplate = 16 << 10

// compile reads the template and compiles it.
func (r *osirisReader) compile() ([]instr, error) {
	var b branch
	r.branch(&b, r.src)
	return compile(&b)
}

// branch adds a template or a condition's body. Parts have no offset: mistakes are reported without
// one. A "{" or "%" that begins nothing is written as it is, and reading goes on after it.
func (r *osirisReader) branch(b *branch, src string) {
	var html strings.Builder
	for src != "" {
		var p part
		size := 0 // of the part at the beginning of src, or 0 if there is none
		switch end := strings.IndexByte(src, '}'); {
		case src[0] == '%':
			p, size = r.conditional(src)
		case src[0] == '{' && end < 0:
			r.fault("a { without its }")
		case src[0] == '{':
			p, size = part{fields: r.placeholder(src[1:end])}, end+1
		}
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
		text = tidy(text)
	}
	b.html.WriteString(text)
}

// fault records a part of the template that is treated as plain text.
func (r *osirisReader) fault(format string, args ...any) {
	r.faults = append(r.faults, fmt.Sprintf(format, args...))
}

// field returns the field with a name. As in OSIRIS, an unknown name means the stored field of that name.
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

// placeholder reads the text between { and }. The first alternative is a field. A later alternative
// is a field if it is the name of one, and otherwise text, in quotes or not.
func (r *osirisReader) placeholder(s string) (fields []*field) {
	for first := true; first || s != ""; first = false {
		found := alternativeForm.FindStringSubmatch(s)
		s = s[len(found[0]):]
		alternative := strings.TrimSpace(found[1])
		text, isText := unquote(alternative)
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

// unquote returns text without its quotes, if it has any.
func unquote(s string) (string, bool) {
	if len(s) < 2 || s[0] != '\'' && s[0] != '"' || s[len(s)-1] != s[0] {
		return s, false
	}
	return s[1 : len(s)-1], true
}

// conditional reads %fields text%. A percent sign that begins no condition is text.
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

// closingPercent returns the position of the % that closes the first, not counting those within
// fields. A "{" without a "}" after it is text, and hides no %.
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

// nameForm is the syntax of a field's name: "journal-abbr", "openalex.id", "authors-last, f.-amp+comma".
const nameForm = `[\w\x{80}-\x{10FFFF}][-\w.+, \x{80}-\x{10FFFF}]*`

var (
	fieldName = regexp.MustCompile(`^` + nameForm + `$`)
	// alternativeForm matches the text up to the next | outside of quotes, and that |.
	alternativeForm = regexp.MustCompile(`^ *((?:'[^']*'|"[^"]*")?[^|]*)\|?`)

	condition = regexp.MustCompile(`^!?` + nameForm + `([|&]!?` + nameForm + `)*$`)
)
