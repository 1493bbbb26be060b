package notice

import "strings"

// Words have the codes of words. A nil Words has none.
type Words struct {
	exact, open map[string]string
	first       map[string]bool // the letters with which words begin, as beginning returns them
}

// NewWords returns the codes of words. These are in small letters, with one space between two. The words of a key
// that ends in " *" may be followed by anything in titles.
func NewWords(codes map[string]string) *Words {
	w := &Words{exact: map[string]string{}, open: map[string]string{}, first: map[string]bool{}}
	for words, code := range codes {
		if before, ok := strings.CutSuffix(words, "*"); ok {
			w.open[before] = code
		} else {
			w.exact[words] = code
		}
		var letters [longestLetters]byte
		w.first[string(letters[:beginning(words, &letters)])] = true
	}
	return w
}

// longestLetters is the most letters by which words that have no code are told from others without a copy.
const longestLetters = 12

// beginning writes the ASCII letters with which a text begins, as small letters, and returns their number.
func beginning(s string, letters *[longestLetters]byte) int {
	for i := range min(len(s), longestLetters) {
		c := s[i] | 0x20 // in small letters, if it is one
		if c < 'a' || c > 'z' {
			return i
		}
		letters[i] = c
	}
	return min(len(s), longestLetters)
}

// begins reports whether a text may begin with words that have a code.
func (w *Words) begins(s string) bool {
	var letters [longestLetters]byte
	return w.first[string(letters[:beginning(s, &letters)])]
}

// Named returns the code of a text, or "". It takes hyphens and low lines for spaces.
func (w *Words) Named(text string) string {
	text = strings.TrimSpace(text)
	if w == nil || len(text) > longestHead || !w.begins(text) {
		return ""
	}
	return w.exact[head(text)]
}

// longestHead is the most bytes of words that have a code.
const longestHead = 100

var spaces = strings.NewReplacer("-", " ", "_", " ", "\u00a0", " ", "\u2010", " ", "\u2011", " ")

// head returns words in the form of the keys of NewWords.
func head(words string) string {
	return strings.Trim(strings.Join(strings.Fields(spaces.Replace(strings.ToLower(words))), " "), " .")
}

// Title returns the code of a title, in plain words, that begins with words that have one: before a colon, a dash or
// a quotation mark, in brackets, or alone; or that ends with them in brackets, as Web of Science has it. Other titles
// that begin with the same words are about something else: "Correction of astigmatism", "Retraction of the eyelid".
func (w *Words) Title(title string) string {
	if w == nil || title == "" {
		return ""
	}
	if c := title[0]; w.begins(title) {
		if code := w.named(title[:end(title)]); code != "" {
			return code
		}
	} else if c == '[' || c == '(' {
		if inner, _, ok := strings.Cut(title[1:], closing[c]); ok {
			return w.named(inner)
		}
	}
	if c := title[len(title)-1]; c == ']' || c == ')' {
		i := strings.LastIndexByte(title, opening[c])
		inner, _, _ := strings.Cut(title[i+1:len(title)-1], ".")
		if code := w.named(inner); i >= 0 && (IsState(code) || strings.Contains(inner, " vol")) {
			return code
		}
	}
	return ""
}

var (
	opening = map[byte]byte{']': '[', ')': '('}
	closing = map[byte]string{'[': "]", '(': ")"}
)

var marks = []string{":", "\uff1a", "\u2014", " \u2013 ", " - ", "\u201c", "\u201e", "\u2018", "\u00ab", `"`, " '"}

// end returns the length of what stands in a title before a colon, a dash or a quotation mark.
func end(title string) int {
	n := len(title)
	for _, mark := range marks {
		if i := strings.Index(title[:n], mark); i > 0 {
			n = i
		}
	}
	return n
}

// named returns the code of words, without a preposition at their end.
func (w *Words) named(words string) string {
	if len(words) <= longestHead {
		all := head(words)
		if code := w.exact[all]; code != "" {
			return code
		}
		if i := strings.LastIndexByte(all, ' '); i > 0 && prepositions[all[i+1:]] {
			if code := w.exact[all[:i]]; code != "" {
				return code
			}
		}
	}
	start := head(strings.ToValidUTF8(words[:min(len(words), longestHead)], ""))
	longest, found := 0, ""
	for before, code := range w.open {
		if strings.HasPrefix(start, before) && len(before) > longest {
			longest, found = len(before), code
		}
	}
	return found
}

// prepositions are what may stand between the words of a title and the title of the work that a notice is about.
var prepositions = map[string]bool{
	"to": true, "of": true, "for": true, "on": true, "in": true, "zu": true, "zum": true, "zur": true,
}
