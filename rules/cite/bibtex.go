package cite

import (
	"cmp"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"vitrine/rules/keyword"
	"vitrine/rules/pages"
)

// AppendBibTeX appends an item as one BibTeX entry that ends in a newline: in UTF-8 or, with latex, in ASCII as far
// as LaTeX has commands for the characters.
//
//	@article{muster2021owls-k3mn7p2q,
//	title = {Owls at night},
//	author = {Muster, Max and {WHO}},
//	}
//
// Biber and BibTeX both read it. Fields that only biblatex knows, such as eventtitle and pubstate,
// are ignored by the styles of BibTeX.
func AppendBibTeX(dst []byte, it *Item, latex bool) []byte {
	b := bibtex{dst: dst, latex: latex}
	kind := it.Forms.BibTeX
	b.dst = append(append(append(append(append(b.dst, '@'), kind...), '{'), it.Key...), ",\n"...)
	b.fields(b.title, "title", it.Title)
	b.persons("author", it.Authors, it.MoreAuthors)
	b.persons("editor", it.Editors, it.MoreEditors)
	event, container := it.HTML.Event, it.HTML.Container
	names := formats.BibTeX[kind]
	// These kinds have one field for both. Without a container the event stands there.
	if names.Container == "howpublished" && container == "" {
		event, container = "", it.HTML.Event
	}
	b.fields(b.marked, names.Container, container, "eventtitle", event)
	if it.Date.Year > 0 {
		b.fields(b.text, "year", strconv.Itoa(it.Date.Year))
	}
	if it.Date.Month > 0 {
		name := strings.ToLower(time.Month(it.Date.Month).String()[:3]) // the abbreviation that every style defines
		b.dst = append(append(append(b.dst, "  month = "...), name...), ",\n"...)
	}
	b.fields(b.marked, "series", it.HTML.Series)
	b.fields(b.text, "volume", it.Volume, "number", cmp.Or(it.Number, it.Issue))
	b.fields(b.pages, "pages", it.Pages)
	b.fields(b.text, "eid", it.ArticleNumber())
	b.fields(b.text, names.Publisher, it.Publisher, "address", it.Place, "edition", it.Edition, "type", it.Degree,
		"version", it.Version, "pubstate", formats.PubState[it.Status])
	b.fields(b.verbatim, "doi", it.DOI, "url", it.URL)
	b.fields(b.text, "isbn", firstOf(it.ISBN), "issn", firstOf(it.ISSN), // biber accepts only one
		"pmid", it.PMID, "language", it.Language, "keywords", keyword.Join(it.Keywords),
		"copyright", cmp.Or(it.Licence, it.Rights)) // as Zotero writes and reads it; no style shows it
	// An entry must not have two fields of one name.
	if names.Container != "note" || it.Container == "" {
		b.fields(b.text, "note", it.note())
	}
	b.fields(b.marked, "abstract", it.HTML.Abstract)
	return append(b.dst, "}\n"...)
}

// bibtex writes the fields of an entry. latex asks for ASCII. One bibtex writes one entry.
type bibtex struct {
	dst   []byte
	latex bool
}

// fields writes pairs of a name and a value, the value by write, and skips those with an empty
// part. write escapes the value for the kind of its field.
func (b *bibtex) fields(write func(value string), pairs ...string) {
	each(func(name, value string) {
		b.dst = append(append(append(b.dst, "  "...), name...), " = {"...)
		write(value)
		b.dst = append(b.dst, "},\n"...)
	}, pairs...)
}

// inURL percent-encodes the characters that would end a field or begin a command: also "^", because
// TeX reads ^^5c as a backslash, and characters to which packages give a meaning. The other special
// characters of TeX (#$%&_~) begin no command, and packages for URLs read them literally.
var inURL = strings.NewReplacer("{", "%7B", "}", "%7D", `\`, "%5C", "^", "%5E", `"`, "%22", "`", "%60", "|", "%7C",
	" ", "%20", "\n", "%0A", "\r", "%0D")

// verbatim writes a text for a field that readers do not parse as TeX. Text escapes would become
// part of the address here.
func (b *bibtex) verbatim(s string) { b.dst = append(b.dst, inURL.Replace(s)...) }

// pages writes pages, with two hyphens in each range.
//
//	12-17, 20 → 12--17, 20
func (b *bibtex) pages(all string) {
	for ends, separator := range pages.Parts(all) {
		b.text(ends[0])
		if ends[1] != "" {
			b.dst = append(b.dst, "--"...)
			b.text(ends[1])
		}
		b.text(separator)
	}
}

// persons writes a field with names: "Costa, Jr., P. T. and {WHO} and others". Commas and " and "
// are separators there, so braces enclose the parts that contain them, and the names of
// organisations. others adds the "and others" from which styles make "et al."
func (b *bibtex) persons(field string, persons []Person, others bool) {
	if len(persons) == 0 {
		return
	}
	before := "  " + field + " = {"
	for i := range persons {
		p := &persons[i]
		b.dst = append(b.dst, before...)
		before = " and "
		if p.Given == "" { // BibTeX would read the first of several words, or what follows a comma, as a given name
			b.namePart(p.Name(), p.Family == "" || p.Suffix != "" || strings.Contains(p.Family, " "))
			continue
		}
		b.namePart(p.Family, false)
		if p.Suffix != "" {
			b.dst = append(b.dst, ", "...)
			b.namePart(p.Suffix, false)
		}
		b.dst = append(b.dst, ", "...)
		b.namePart(p.Given, false)
	}
	if others {
		b.dst = append(b.dst, " and others"...)
	}
	b.dst = append(b.dst, "},\n"...)
}

// writeBraces writes a text that BibTeX neither splits nor changes in case.
func (b *bibtex) writeBraces(s string) {
	b.dst = append(b.dst, '{')
	b.text(s)
	b.dst = append(b.dst, '}')
}

// namePart writes a part of a name. It adds braces if whole is true, if BibTeX would read several names, or if the
// part would end a label of natbib.
func (b *bibtex) namePart(s string, whole bool) {
	whole = whole || strings.ContainsAny(s, ",[]()")
	for word := range strings.SplitSeq(s, " ") {
		whole = whole || strings.EqualFold(word, "and") || strings.EqualFold(word, "others")
	}
	if whole {
		b.writeBraces(s)
	} else {
		b.text(s)
	}
}

// title writes the title, with its markup as commands. Braces keep capitals beyond a word's first
// letter. Styles put titles into small letters, except for what is in braces. A tag for sub- or
// superscript does not separate words: in "H<sub>2</sub>O" the O is inside of a word and needs
// braces, too.
func (b *bibtex) title(title string) {
	before, glued := "", false // the previous text, and whether only a sub or sup tag follows it
	for tag, text := range parts(title) {
		lowered := strings.HasSuffix(tag, "sub>") || strings.HasSuffix(tag, "sup>")
		b.words(before, glued, lowered)
		b.dst = append(b.dst, formats.Tags[tag].LaTeX...)
		before, glued = text, lowered
	}
	b.words(before, glued, false)
}

// marked writes another text with the markup of titles as commands. Styles keep the case of these
// fields, so they need no braces.
func (b *bibtex) marked(html string) {
	for tag, text := range parts(html) {
		b.dst = append(b.dst, formats.Tags[tag].LaTeX...)
		b.text(text)
	}
}

// words writes a text of a title. gluedStart and gluedEnd say that no space separates the text from
// the one before or after it. A capital that begins a word needs no braces if a space or the start
// of the title precedes it, because the style decides about the case at the start of words.
func (b *bibtex) words(s string, gluedStart, gluedEnd bool) {
	done := 0 // bytes of s already written
	for start := 0; start < len(s); {
		end := len(s) - len(strings.TrimLeftFunc(s[start:], isLetter))
		capital := strings.LastIndexFunc(s[start:end], unicode.IsUpper)
		if capital > 0 || capital == 0 && (start == 0 && gluedStart || end == len(s) && gluedEnd) {
			b.text(s[done:start])
			b.writeBraces(s[start:end])
			done = end
		}
		start = len(s) - len(strings.TrimLeftFunc(s[end:], func(r rune) bool { return !isLetter(r) }))
	}
	b.text(s[done:])
}

// text writes plain text with escapes, so that TeX shows the same text. It composes accents first,
// since the table of symbols has composed letters.
func (b *bibtex) text(s string) {
	if b.latex {
		s = norm.NFC.String(s)
	}
	s = texEscapes.Replace(s)
	// Three hyphens have two pairs that overlap, and ReplaceAll finds only one of them.
	for _, pair := range ligatures {
		for strings.Contains(s, pair) {
			s = strings.ReplaceAll(s, pair, pair[:1]+"{}"+pair[1:])
		}
	}
	if !b.latex {
		b.dst = append(b.dst, s...)
		return
	}
	for _, r := range s {
		b.dst = appendLaTeX(b.dst, r)
	}
}

// appendLaTeX appends a character. It writes one beyond ASCII as a LaTeX command, unless only a package defines the
// command.
//
//	é → {\'{e}}, ß → the command in formats.yaml
func appendLaTeX(dst []byte, r rune) []byte {
	if r < utf8.RuneSelf {
		return append(dst, byte(r))
	}
	if command, ok := formats.Symbols[string(r)]; ok {
		return append(dst, command...)
	}
	decomposed := []rune(string(norm.NFD.PropertiesString(string(r)).Decomposition()))
	if len(decomposed) < 2 || decomposed[0] >= utf8.RuneSelf {
		return utf8.AppendRune(dst, r)
	}
	letter := string(decomposed[0])
	for _, mark := range decomposed[1:] {
		accent, ok := formats.Accents[string(mark)]
		if !ok {
			return utf8.AppendRune(dst, r)
		}
		letter = `\` + accent + "{" + letter + "}"
	}
	return append(append(append(dst, '{'), letter...), '}')
}

// ligatures are the characters that TeX would join.
var ligatures = []string{"--", "''", ",,", "``", "?`", "!`"}

// texEscapes replaces the characters that TeX would not show as they are. NewReplacer takes the
// first pair that fits at a place and does not look at its result again.
var texEscapes = strings.NewReplacer(
	"$", `\$`, "&", `\&`, "#", `\#`, "%", `\%`, "_", `\_`,
	`\`, `\textbackslash{}`, "^", `\textasciicircum{}`, "~", `\textasciitilde{}`,
	"<", `\textless{}`, ">", `\textgreater{}`, "|", `\textbar{}`, // old fonts show other characters
	"{", `\textbraceleft{}`, "}", `\textbraceright{}`, // BibTeX counts escaped braces, too
)
