package fold

import (
	"bytes"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"vitrine/rules/markup"
)

// Terms returns the words to look up for a text that a reader has typed, without duplicates. The last one stands for
// all words that begin with it, because the reader may still be typing. If the text ends in a space, the last term is
// empty: every word begins with it. Terms reads markup and character references, because readers also paste titles as
// records have them.
func Terms(text string) (terms []string) {
	var words []string
	f := Folder{terms: true}
	f.Each(markup.Plain(text), func(word []byte) { words = append(words, string(word)) })
	if end, _ := utf8.DecodeLastRuneInString(text); unicode.IsSpace(end) && len(words) > 0 {
		words = append(words, "")
	}
	for i, word := range words {
		last := i == len(words)-1
		if !slices.Contains(terms, word) || last && word != terms[len(terms)-1] {
			terms = append(terms, word)
		}
	}
	return terms
}

// maxWord bounds the bytes of a word. Indexes and terms cut longer words in the same way.
const maxWord = 64

// Folder finds the words of many texts, in one goroutine at a time. The zero Folder is ready for use.
type Folder struct {
	terms  bool   // find the words to look up, not the words to index
	folded []byte // the folded text, with a space between words and a hyphen between parts of a compound
	word   []byte // the joined parts of a compound
}

// Each yields the folded words under which an index finds a plain text, such as that of markup.Plain; some may come
// twice. For a compound it yields the parts and the whole without hyphens and apostrophes. A word is valid until
// yield returns.
func (f *Folder) Each(text string, yield func(word []byte)) {
	text = strings.ToValidUTF8(text, " ") // package norm does not decompose text after an invalid byte
	f.fold(norm.NFKD.String(text))
	for word := range bytes.FieldsSeq(norm.NFKD.Bytes(f.folded)) { // removes the text between two marks
		first, _ := utf8.DecodeRune(word)
		switch {
		case classOf(first) == character:
			f.eachPair(word, yield)
		case bytes.IndexByte(word, '-') >= 0:
			f.eachPart(word, yield)
		default:
			yield(bounded(word))
		}
	}
}

// fold folds a decomposed text into f.folded.
func (f *Folder) fold(text string) {
	folded, before := f.folded[:0], separator // before is the class of the last character that was not ignored
	for _, r := range text {
		class := classOf(r)
		if class == ignored {
			continue
		}
		if (class == character) != (before == character) {
			folded = append(folded, ' ')
		}
		before = class
		switch {
		case class == letter:
			folded = appendFolded(folded, r)
		case class == character, class == mark && inPart(folded):
			folded = utf8.AppendRune(folded, r)
		case class == joiner && inPart(folded):
			folded = append(folded, '-')
		case class != mark: // a second joiner in a row also ends the word
			folded = append(folded, ' ')
		}
	}
	f.folded = folded
}

// inPart reports whether a folded text ends within a part of a compound.
func inPart(folded []byte) bool {
	return len(folded) > 0 && folded[len(folded)-1] != ' ' && folded[len(folded)-1] != '-'
}

// eachPart yields the parts of a compound and, for an index, the whole compound.
func (f *Folder) eachPart(compound []byte, yield func(word []byte)) {
	f.word = f.word[:0]
	for part := range bytes.SplitSeq(bytes.TrimSuffix(compound, []byte("-")), []byte("-")) {
		yield(bounded(part))
		for _, r := range string(part) {
			f.word = appendFolded(f.word, r)
		}
	}
	if !f.terms {
		yield(bounded(f.word))
	}
}

// eachPair yields the pairs of characters in a text of a script without spaces. For an index, or for a single
// character, it also yields the characters.
func (f *Folder) eachPair(characters []byte, yield func(word []byte)) {
	for single := true; len(characters) > 0; single = false {
		_, n := utf8.DecodeRune(characters)
		_, next := utf8.DecodeRune(characters[n:])
		if !f.terms || single && next == 0 {
			yield(characters[:n])
		}
		if next > 0 {
			yield(characters[:n+next])
		}
		characters = characters[n:]
	}
}

func bounded(word []byte) []byte {
	if len(word) <= maxWord {
		return word
	}
	return bytes.ToValidUTF8(word[:maxWord], nil) // drops a character that was cut in half
}

// Key returns the sort key of a plain text: its folded words, as Terms has them, each followed by a space, or ""
// without words.
func Key(text string) string {
	most := len(text) + 16 // large enough for most texts
	f, key := Folder{terms: true, folded: make([]byte, 0, most)}, make([]byte, 0, most)
	f.Each(text, func(word []byte) { key = append(append(key, word...), ' ') })
	return string(key)
}

// class is the role of a character of a decomposed text in its words.
type class uint8

const (
	separator class = iota
	letter          // or a digit
	mark            // belongs to the previous letter
	joiner          // a hyphen or apostrophe between parts of a compound
	character       // belongs to a script without spaces between words
	ignored         // invisible, or an accent
)

// joiners are the hyphens and apostrophes beyond ASCII.
const joiners = "\u2010\u2012\u2013\u2212\u2018\u2019\u201b\u02b9\u02bb\u02bc\u02bd\u02be\u02bf"

// accented are the scripts whose words are looked up without their marks, and Inherited, which contains the marks of
// Latin, Greek and others. unspaced are the scripts without spaces between words.
var (
	accented = []*unicode.RangeTable{unicode.Inherited, unicode.Cyrillic, unicode.Hebrew, unicode.Arabic}
	unspaced = []*unicode.RangeTable{
		unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar,
	}
)

func classOf(r rune) class {
	if r < utf8.RuneSelf {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9':
			return letter
		case r == '-', r == '\'', r == '`':
			return joiner
		}
		return separator
	}
	isMark := unicode.Is(unicode.M, r)
	switch {
	case strings.ContainsRune(joiners, r):
		return joiner
	case r == '\u0640', unicode.Is(unicode.Cf, r), isMark && unicode.In(r, accented...):
		// U+0640 lengthens Arabic words
		return ignored
	case r == 'ー', r >= '\u0e00' && unicode.In(r, unspaced...) && (isMark || unicode.IsLetter(r)):
		return character
	case isMark:
		return mark
	case unicode.IsLetter(r), unicode.IsNumber(r):
		return letter
	}
	return separator
}

// latin has the Latin letters that do not decompose, in lower case.
var latin = map[rune]string{
	'ß': "ss", 'æ': "ae", 'œ': "oe", 'ø': "o", 'ł': "l", 'đ': "d", 'ð': "d", 'þ': "th", 'ħ': "h", 'ı': "i", 'ŋ': "n",
	'ŧ': "t",
}

// Latin spells a Latin letter that does not decompose in small ASCII letters, ss for ß, or returns "".
func Latin(r rune) string { return latin[unicode.ToLower(r)] }

// appendFolded appends a letter to the word part at the end of dst. It drops an e after a, o or u.
func appendFolded(dst []byte, r rune) []byte {
	switch r = unicode.ToLower(r); {
	case r == 'e' && len(dst) > 0 && strings.IndexByte("aou", dst[len(dst)-1]) >= 0:
		return dst
	case r < utf8.RuneSelf:
		return append(dst, byte(r))
	case r == 'ς':
		r = 'σ'
	}
	if letters := Latin(r); letters != "" {
		return append(dst, strings.TrimSuffix(letters, "e")...) // the letter follows a or o
	}
	return utf8.AppendRune(dst, r)
}
