package render

import (
	"regexp"
	"strings"

	"vitrine/rules"
)

// maxNesting is how deep conditions may nest. Reading and compiling recurse at each.
const maxNesting = 16

// template reads a template in the notation of the rules file, and compiles it:
//
//	{field} {field:format} {field|other|@label|'text'} {?a&!b|c:shown}
//
// with \{ \} and \\ for the characters themselves.
func (l *loader) template(src string) (code []instr, err error) {
	defer rules.Catch(&err)
	r := &templateReader{loader: l, src: src}
	template := r.branch(0)
	if r.pos < len(src) {
		failTemplate(r.pos, "} without {")
	}
	return compile(template)
}

// templateReader reads one template, from pos on.
type templateReader struct {
	*loader
	src string
	pos int
}

// The patterns of literal text, in which a backslash makes braces and itself text.
var (
	textRun     = regexp.MustCompile(`^(\\[{}\\]|[^{}])*`)
	textEscapes = strings.NewReplacer(`\{`, `{`, `\}`, `}`, `\\`, `\`)
)

// branch reads up to the end or the "}" that closes the enclosing conditional. Parts keep their
// offsets, so that the compiler can name the place of a mistake.
func (r *templateReader) branch(depth int) *branch {
	b := new(branch)
	for r.pos < len(r.src) && r.src[r.pos] != '}' {
		if text := r.next(textRun); text != "" {
			b.text(textEscapes.Replace(text))
			continue
		}
		p := part{at: r.pos}
		r.pos++
		if r.take('?') {
			r.conditional(&p, depth+1)
		} else {
			r.placeholder(&p)
		}
		p.end = r.pos
		b.html.WriteString(b.hole(p))
	}
	return b
}

// placeholder reads the rest of a field after "{", up to the closing "}".
//
//	{doi:link|url|'no address'} → three fields, of which the first that is not empty is shown
func (r *templateReader) placeholder(p *part) {
	for {
		p.fields = append(p.fields, r.operand())
		if r.take('}') {
			return
		}
		if !r.take('|') {
			failTemplate(r.pos, "expected | or } in a field")
		}
	}
}

// conditional reads the rest of a conditional after "{?", both conditions and body, up to the closing "}".
func (r *templateReader) conditional(p *part, depth int) {
	if depth > maxNesting {
		failTemplate(p.at, "conditionals nest deeper than %d", maxNesting)
	}
	begin := r.pos
	conditions, ok := strings.CutSuffix(r.next(conditionForm), ":")
	if !ok {
		failTemplate(begin, "expected &, | or : in a condition")
	}
	p.test = readTest(conditions, func(name string) *field { return r.named(begin, name) })
	p.body = r.branch(depth)
	if !r.take('}') {
		failTemplate(p.at, "conditional is not closed")
	}
}

// operand reads a field with its format, an @label, or quoted text, and the spaces around it.
// operandForm also matches nothing, so parts is never nil.
func (r *templateReader) operand() *field {
	r.next(blankRun)
	at := r.pos
	parts := operandForm.FindStringSubmatch(r.src[at:])
	quoted, isLabel, name, format := parts[1], parts[2] != "", parts[3], parts[4]
	r.pos += len(parts[0])
	switch {
	case quoted != "":
		text := quoted[1 : len(quoted)-1]
		return constantField([languages]string{text, text})
	case r.take('\'') || r.take('"'):
		failTemplate(at, "text is not closed")
	case name == "":
		failTemplate(r.pos, "expected a field, @label or quoted text")
	case isLabel:
		label, ok := r.labels[name]
		if !ok {
			failTemplate(at, "unknown label %q", name)
		}
		return constantField(label)
	}
	f := r.named(at, name)
	formatted, ok := f.in(format)
	switch {
	case !ok:
		failTemplate(at, "unknown format %q of field %q", format, name)
	case f.filled != nil:
		failTemplate(at, "field %q is a flag, which only conditions can use", name)
	}
	return formatted
}

// named returns the field with a name. at is the name's offset, for errors.
func (r *templateReader) named(at int, name string) *field {
	f, ok := r.fields[name]
	if !ok {
		failTemplate(at, "unknown field %q", name)
	}
	return f
}

// The patterns of the text between braces.
var (
	// operandForm matches quoted text, or what may be an @label or a field with its format.
	operandForm   = regexp.MustCompile(`^(?:('[^']*'|"[^"]*")|(@?)([\w.-]*)(?::([\w.-]+))?)[ \n]*`)
	conditionForm = regexp.MustCompile(`^(?:[ \n]*!?[\w.-]+[ \n]*[&|])*[ \n]*!?[\w.-]+[ \n]*:`)
	blankRun      = regexp.MustCompile(`^[ \n]*`)
)

// next reads the text that matches a pattern, or returns "".
func (r *templateReader) next(pattern *regexp.Regexp) string {
	text := pattern.FindString(r.src[r.pos:])
	r.pos += len(text)
	return text
}

// take reads the character c. It returns false if another character comes next.
func (r *templateReader) take(c byte) bool {
	if r.pos < len(r.src) && r.src[r.pos] == c {
		r.pos++
		return true
	}
	return false
}
