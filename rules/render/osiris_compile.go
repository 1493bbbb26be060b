package render

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"vitrine/rules/markup"
	"vitrine/rules/render/names"
)

// legend is a field that templates cannot name. Its brackets are outside of the syntax of names.
const legend = "<legend>"

// untitled is the link text for an activity without a title.
var untitled = constantField([languages]string{english: "[no title]", german: "[ohne Titel]"})

// osirisTemplates compiles the templates of a subtype into s; s keeps its own for those that the
// subtype lacks. OSIRIS makes two forms from title and subtitle: one for its own lists and one for
// portfolios. If only one of the two templates is given, the other is OSIRIS's default. The errors
// of compile can be ignored here, because template has compiled the same text before.
func (l *osirisLoader) osirisTemplates(o OsirisType, s *typeRules) {
	if print := l.template(o.From, "print", o.Print); print != nil {
		s.templates[outPlain] = nil
		var b branch
		print.branch(&b, print.src)
		if print.authors {
			b.text("<br><small>")
			b.field(l.fields[legend])
			b.text("</small>")
		}
		s.templates[outPrint], _ = compile(&b)
	}
	title := l.template(o.From, "title", o.Title)
	subtitle := l.template(o.From, "subtitle", o.Subtitle)
	if title == nil && subtitle == nil {
		return
	}
	if title != nil {
		s.templates[outTitle], _ = title.compile()
	}
	title = cmp.Or(title, &osirisReader{osirisLoader: l, src: "{title}"})
	subtitle = cmp.Or(subtitle, &osirisReader{osirisLoader: l, src: "{authors}"})
	title.untitled = true
	s.templates[outPortfolio] = l.listForm("/activity/", title, subtitle)
	subtitle.linked = true
	s.templates[outWeb] = l.listForm("/activities/view/", title, subtitle)
}

// listForm compiles the form of activities in lists: the title as a link, and below it the
// subtitle. base is the address of activities, as OSIRIS has it in its own pages or in portfolios.
func (l *osirisLoader) listForm(base string, title, subtitle *osirisReader) []instr {
	var b branch
	b.text("<a class='colorless' href='" + base)
	b.field(l.fields["id"])
	b.text("'>")
	title.branch(&b, title.src)
	b.text("</a><br><small class='text-muted d-block'>")
	subtitle.branch(&b, subtitle.src)
	b.text("</small>")
	code, _ := compile(&b)
	return code
}

// template returns the reader of a template. It first corrects HTML that the compiler would refuse.
// It returns nil if the template is empty, becomes empty, or does not compile. An institute edits
// templates by hand, so what can be understood is used.
func (l *osirisLoader) template(from, name, src string) *osirisReader {
	if len(src) > maxOsirisTemplate {
		l.fault(from, "template.%s is longer than %d bytes", name, maxOsirisTemplate)
		return nil
	}
	if src = strings.TrimSpace(withoutComments(strings.ReplaceAll(src, hole, ""))); src == "" {
		return nil
	}
	r := &osirisReader{osirisLoader: l, src: src}
	_, err := r.compile()
	for _, reason := range slices.Compact(r.faults) {
		l.fault(from, "template.%s: %s", name, reason)
	}
	slices.Sort(r.unknown)
	for _, unknown := range slices.Compact(r.unknown) {
		l.fault(from, "template.%s: unknown field %q, taken for what activities store under that name", name, unknown)
	}
	if err == nil {
		return r
	}
	l.fault(from, "template.%s: HTML that is not allowed or not closed is left out", name)
	r.tidy = true
	if code, err := r.compile(); err != nil || len(code) == 0 {
		return nil
	}
	return r
}

// withoutComments removes comments. One without an end takes the rest of the text with it, as in
// browsers.
func withoutComments(html string) string {
	for {
		before, rest, found := strings.Cut(html, "<!--")
		if !found {
			return html
		}
		_, after, _ := strings.Cut(rest, "-->")
		html = before + after
	}
}

// named returns a known field, or persons in a style that the name spells ("authors-last-f.-etal6"), or nil.
func (l *osirisLoader) named(name string) *field {
	if f, ok := l.fields[name]; ok {
		return f
	}
	for _, who := range [...]string{"authors", "editors", "supervisors"} {
		if spec, ok := strings.CutPrefix(name, who+"-"); ok {
			if style, ok := names.Parse(spec); ok {
				return osirisPersons(l.rules.source(who), style)
			}
		}
	}
	return nil
}

// anyTag matches a tag, a comment or the like, up to its end or the end of the text.
var anyTag = regexp.MustCompile(`<[/!?A-Za-z][^>]*>?`)

// tidy corrects the HTML of a branch before it is compiled. It writes tags in the plain form of the allow-list and
// closes all elements in the branch. It removes tags that are not on the list, but keeps their content. It also
// removes tags with holes in them, because a value could break the tag.
func tidy(html string) string {
	return markup.Balance(anyTag.ReplaceAllStringFunc(html, func(tag string) string {
		rest, isEnd := strings.CutPrefix(tag[1:], "/")
		name := strings.ToLower(word.FindString(rest))
		switch {
		case strings.Contains(tag, hole) || !strings.HasSuffix(tag, ">"):
			return ""
		case name == "br":
			return "<br>"
		case isEnd:
			return "</" + name + ">"
		}
		clean := markup.Clean(tag + "x</" + name + ">")
		if !strings.HasPrefix(clean, "<"+name) {
			return ""
		}
		return clean[:strings.IndexByte(clean, '>')+1]
	}))
}
