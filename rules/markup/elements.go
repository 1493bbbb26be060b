package markup

import "strings"

// role is what an element means for its content.
type role uint8

const (
	unknown role = iota
	plain        // only the content counts
	block        // separates words, as a paragraph does
	line         // separates words, as a line break does
	format       // one of titleElements, see formats
	hidden       // the content is not shown
	foreign      // a child of math whose content counts, see inMath
	scripts      // a base with scripts, see scriptsOf
)

// elements are the known elements by local name, in small letters: HTML, JATS, MathML, and what publishers write in
// their place. Names of different vocabularies share one table, because records have them with and without a
// prefix.
var elements = func() map[string]role {
	all := map[string]role{}
	for r, names := range map[role]string{
		plain: "a abbr acronym big center cite code del dfn ext-link font inline-formula inline-graphic ins kbd " +
			"label mark monospace named-content nobr overline q roman rp rt ruby s samp sans-serif sc scp small " +
			"smallcaps span strike styled-content tex-math tt u underline uri var wbr xref",
		block: "abstract blockquote caption dd disp-formula disp-formula-group disp-quote div dl dt figcaption " +
			"figure fn h1 h2 h3 h4 h5 h6 hr li list list-item ol p para pre sec section section-title simple-para " +
			"subtitle table tbody td tfoot th thead title tr ul",
		line:   "br break",
		format: "b bold em i inf it ital italic strong sub sup",
		hidden: "annotation annotation-xml script style",
		foreign: "maction math menclose merror mfenced mfrac mi mn mo mover mpadded mphantom mprescripts mroot mrow " +
			"ms mspace msqrt mstyle mtable mtd mtext mtr munder munderover none semantics",
		scripts: "mmultiscripts msub msubsup msup",
	} {
		for name := range strings.FieldsSeq(names) {
			all[name] = r
		}
	}
	return all
}()

// wordy are the known elements whose names may as well stand in angle brackets in a text. "<title> of <book>" in an
// abstract is text, unless the text has the end tag. Names such as jats:title, which have a prefix, are no words,
// whatever follows.
var wordy = func() map[string]bool {
	all := map[string]bool{}
	for name := range strings.FieldsSeq(
		"abstract annotation big bold break caption center cite code del figure font " +
			"inf ins it ital italic label list mark monospace none overline para pre roman ruby section semantics " +
			"small " +
			"strike style subtitle table title underline var") {
		all[name] = true
	}
	return all
}()

// prefixes are the usual prefixes of the namespaces of JATS, MathML, HTML and Elsevier's and Springer's documents.
// A name with another prefix, such as a:b, is an unknown element.
var prefixes = map[string]bool{
	"jats": true, "mml": true, "m": true, "math": true, "html": true, "xhtml": true, "ce": true,
}

// formats are the elements of titles that mean the same as others.
var formats = map[string]string{"bold": "b", "inf": "sub", "it": "i", "ital": "i", "italic": "i"}

// scriptsOf are the tags around the children behind the base, in turn. <msubsup>x 1 2</msubsup> becomes
// x<sub>1</sub><sup>2</sup>; mmultiscripts has any number of pairs.
var scriptsOf = map[string][]string{
	"msub": {"sub"}, "msup": {"sup"}, "msubsup": {"sub", "sup"}, "mmultiscripts": {"sub", "sup"},
}

// element is a tag of a stored text. It is a value and refers to the text, so that reading a tag allocates a name
// with capitals at most.
type element struct {
	name     string // in small letters, with its prefix
	local    string // without
	role     role
	end      bool // </name>
	prefixed bool // the name has a usual prefix
	closed   bool // <name/>
	valued   bool // it has an attribute with a value
	bare     bool // it has a word that is no attribute with a value
	size     int  // bytes from '<' through '>'
}

// maxTag bounds the bytes of a tag. MathML may repeat a whole formula in an attribute. A longer tag is text.
// Without a bound a text of many "<" would take the square of its length.
const maxTag = 4096

// scanElement reads the tag at the beginning of s. Its size is 0 if there is none. A tag has to be well formed as
// XML or as common HTML: blanks between attributes, no "<" inside. <a< b> is text.
func scanElement(s string) (e element) {
	s = s[:min(len(s), maxTag)]
	i := 1
	if e.end = i < len(s) && s[i] == '/'; e.end {
		i++
	}
	start := i
	for i < len(s) && (alnum(s[i]) || i > start && strings.IndexByte("-_.:", s[i]) >= 0) {
		i++
	}
	e.name = strings.ToLower(s[start:i])
	prefix, local, found := strings.Cut(e.name, ":")
	if !found {
		prefix, local = "", e.name
	}
	if local == "" || !letter(e.name[0]) || !letter(local[0]) || strings.IndexByte(local, ':') >= 0 {
		return element{}
	}
	e.local, e.role, e.prefixed = local, elements[local], prefixes[prefix]
	if e.role == unknown && e.prefixed {
		e.role = plain
	}
	for i < len(s) {
		switch c := s[i]; {
		case c == '>':
			e.closed, e.size = s[i-1] == '/', i+1
			return e
		case c == '/', blank(c):
			i++
		case !blank(s[i-1]) && s[i-1] != '/':
			return element{}
		default:
			size, valued := scanPair(s[i:])
			if size == 0 {
				return element{}
			}
			e.valued, e.bare = e.valued || valued, e.bare || !valued
			i += size
		}
	}
	return element{}
}

// scanPair reads an attribute, with or without a value, and returns its size, 0 if there is none. It accepts a="1",
// a='1', a=1 and a.
func scanPair(s string) (size int, valued bool) {
	i := 0
	for i < len(s) && !blank(s[i]) && strings.IndexByte(`=>/"'<`, s[i]) < 0 {
		i++
	}
	if i == 0 || i == len(s) || s[i] != '=' {
		return i, false
	}
	if i++; i == len(s) {
		return 0, false
	}
	if quote := s[i]; quote == '"' || quote == '\'' {
		n := strings.IndexByte(s[i+1:], quote)
		if n < 0 {
			return 0, false
		}
		return i + n + 2, true
	}
	start := i
	for i < len(s) && !blank(s[i]) && strings.IndexByte(`>"'<`, s[i]) < 0 {
		i++
	}
	if i == start {
		return 0, false
	}
	return i, true
}

// letter reports letters of ASCII.
func letter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

// blank reports white space of ASCII.
func blank(c byte) bool { return c == ' ' || c >= '\t' && c <= '\r' }

// isElement decides whether a tag is an element or text, such as "x <y and z> 3". End tags are elements. So are
// tags with an attribute that has a value, tags that close themselves, and known names: with a usual prefix, or if
// they are no words. All other tags are elements if the text has their end tag. The doubt is about texts such as
// p<0.05, a<b and c>d: an end tag, or a value in quotes, is nothing that people write by accident.
func (r *reader) isElement(e element) bool {
	switch {
	case e.end, e.valued:
		return true
	case !e.bare && (e.closed || e.role != unknown && (e.prefixed || !wordy[e.local])):
		return true
	}
	return r.hasEnd(e.name)
}

// hasEnd reports whether the text has an end tag of a name. It finds all end tags of the text at its first call, so
// that many doubtful tags do not search the text each.
func (r *reader) hasEnd(name string) bool {
	if r.ends == nil {
		r.ends = map[string]bool{}
		for at, rest := strings.Index(r.text, "</"), r.text; at >= 0; at = strings.Index(rest, "</") {
			rest = rest[at:]
			if e := scanElement(rest); e.end {
				r.ends[e.name] = true
			}
			rest = rest[2:]
		}
	}
	return r.ends[name]
}
