package markup

import "strings"

// markup reads what begins with the '<' at the beginning of s and returns its size, 0 if it is text. In this order:
// comments, CDATA sections, processing instructions and declarations, elements. A comment without an end is text,
// and noEnd remembers that, so that many "<!--" do not search the rest each.
func (r *reader) markup(s string) int {
	switch {
	case strings.HasPrefix(s, "<!--"):
		if r.noEnd {
			return 0
		}
		end := strings.Index(s[2:], "-->")
		if r.noEnd = end < 0; r.noEnd {
			return 0
		}
		return 2 + end + 3
	case strings.HasPrefix(s, "<![CDATA["):
		r.cdata = true
		return len("<![CDATA[")
	case len(s) > 2 && (s[1] == '?' || s[1] == '!') && letter(s[2]):
		end := strings.IndexAny(s[1:min(len(s), maxTag)], "<>")
		if end < 0 || s[1+end] == '<' {
			return 0
		}
		return 1 + end + 1
	}
	e := scanElement(s)
	if e.size == 0 || !r.isElement(e) {
		return 0
	}
	r.waiting = false
	switch {
	case e.end:
		r.end(e)
		r.formulas = r.formulas && e.local != "alternatives"
	case r.isHidden(e):
		return e.size + r.sizeOfHidden(s[e.size:], e)
	default:
		if e.local == "alternatives" {
			r.formulas = hasFormula(s[e.size:])
		}
		r.start(e)
	}
	return e.size
}

// isHidden reports whether the content of an element is not shown. TeX is not if there is MathML for it.
func (r *reader) isHidden(e element) bool {
	return !e.closed && (e.role == hidden || e.local == "tex-math" && r.formulas)
}

// sizeOfHidden returns the size of the content that s begins with, with its end tag. Without an end tag the content
// of a script is the rest, and that of other elements is shown. The content of script and style is raw text for
// HTML, in which only their end tag counts.
func (r *reader) sizeOfHidden(s string, e element) int {
	raw := e.local == "script" || e.local == "style"
	if !raw && !r.hasEnd(e.name) {
		return 0
	}
	for i := 0; ; i += 2 {
		at := strings.Index(s[i:], "</")
		if at < 0 {
			break
		}
		i += at
		if end := scanElement(s[i:]); end.size > 0 && end.name == e.name {
			return i + end.size
		}
	}
	if raw {
		return len(s)
	}
	r.ends[e.name] = false // there are no more
	return 0
}

// hasFormula reports whether the alternatives before s have MathML. JATS has a formula as TeX and as MathML within
// alternatives; to show both would show it twice.
func hasFormula(s string) bool {
	s, _, found := strings.Cut(s, "alternatives>")
	return found && (strings.Contains(s, ":math") || strings.Contains(s, "<math"))
}

// top returns the innermost open element, or nil.
func (r *reader) top() *frame {
	if len(r.open) == 0 {
		return nil
	}
	return &r.open[len(r.open)-1]
}

// breaks separates what a block or a line break stands between. It reports whether the element is one of these.
func (r *reader) breaks(e element) bool {
	switch e.role {
	case block:
		r.part()
	case line:
		r.space()
	default:
		return false
	}
	return true
}

// start reads a start tag. The steps: what only separates, the tag to write, the place among scripts, then the
// frame. An element beyond maxDepth is counted, so that its end tag closes no other.
func (r *reader) start(e element) {
	if r.breaks(e) {
		return
	}
	top, tag := r.top(), ""
	inScripts := top != nil && top.role == scripts
	switch {
	case e.role == format:
		tag = e.local
		if same, ok := formats[tag]; ok {
			tag = same
		}
	case r.math > 0 && (e.local == "mspace" || e.local == "mtd" || e.local == "mtr"):
		r.separate()
	case e.local == "mprescripts" && inScripts && top.name == "mmultiscripts":
		top.pre, top.children, top.base = len(r.dst), 0, 0
		inScripts = false
	}
	wrap := ""
	if inScripts {
		if top.children++; top.children > top.base {
			all := scriptsOf[top.name]
			if n := top.children - top.base - 1; n < len(all) || top.name == "mmultiscripts" {
				wrap = all[n%len(all)]
			}
		}
	}
	if e.closed || e.role < format && r.math == 0 {
		return
	}
	if len(r.open) == maxDepth {
		r.skipped++
		return
	}
	f := frame{name: e.local, tag: tag, role: e.role, start: len(r.dst), base: 1}
	if f.tag == "" {
		f.tag = wrap
	}
	if e.role >= foreign {
		r.math++
	}
	if r.tags && f.tag != "" {
		r.dst = append(append(append(r.dst, '<'), f.tag...), '>')
	}
	f.content = len(r.dst)
	r.open = append(r.open, f)
}

// end reads an end tag. It closes the elements inside, too; an end tag without a start vanishes.
func (r *reader) end(e element) {
	if r.breaks(e) {
		return
	}
	if r.skipped > 0 && (e.role >= format || r.math > 0) {
		r.skipped--
		return
	}
	for at := len(r.open) - 1; at >= 0; at-- {
		if r.open[at].name == e.local {
			r.closeTo(at)
			return
		}
	}
}

// closeTo closes the open elements from the innermost one to the one at an index.
func (r *reader) closeTo(at int) {
	for i := len(r.open) - 1; i >= at; i-- {
		f := r.open[i]
		r.open = r.open[:i]
		if f.role >= foreign {
			r.math--
		}
		if f.pre > 0 {
			r.rotate(f.content, f.pre)
		}
		r.endTag(&f)
	}
}

// endTag writes the end tag of an element before the space at its end. It removes the tag of an empty element. The
// space moves behind the tag, so that <i>a </i>b is a word, a space and a word in text and HTML alike.
func (r *reader) endTag(f *frame) {
	if !r.tags || f.tag == "" {
		return
	}
	end := len(r.dst)
	spaced := end > f.content && r.dst[end-1] == ' '
	if spaced {
		r.dst = r.dst[:end-1]
	}
	if len(r.dst) == f.content {
		r.dst = r.dst[:f.start]
	} else {
		r.dst = append(append(append(r.dst, "</"...), f.tag...), '>')
	}
	if spaced {
		r.dst = append(r.dst, ' ')
	}
}

// rotate moves what is written from an offset on to a place before. MathML writes prescripts behind the base,
// readers see them before it.
func (r *reader) rotate(to, from int) {
	moved := append([]byte(nil), r.dst[from:]...)
	copy(r.dst[to+len(moved):], r.dst[to:from])
	copy(r.dst[to:], moved)
	r.rotated = true
}

// part separates blocks. An element that is open across the border of two paragraphs is closed before and opened
// again behind it, so that each paragraph is whole HTML.
func (r *reader) part() {
	if !r.parted || r.math > 0 {
		r.separate()
		return
	}
	open := append([]frame(nil), r.open...)
	r.closeTo(0)
	r.dst = append(r.trimmed(), '\n')
	r.spaced = true
	for _, f := range open {
		f.start, f.pre = len(r.dst), 0
		if r.tags && f.tag != "" {
			r.dst = append(append(append(r.dst, '<'), f.tag...), '>')
		}
		f.content = len(r.dst)
		r.open = append(r.open, f)
	}
}
