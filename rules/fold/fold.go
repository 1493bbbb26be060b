package fold

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"vitrine/rules/markup"
)

// Words returns the words under which an index finds a text, folded, each once. Those of
// a compound are its parts and the whole without hyphens and apostrophes. Inline markup
// of titles and character references count as what the reader sees.
func Words(text string) []string {
	words, _ := unique(&Folder{}, text)
	return words
}

// Terms returns the words to look up for a text that a reader has typed. The last one
// stands for all words that begin with it, because the reader may still be typing. If the
// text ends in a blank, the last term is empty: every word begins with it.
func Terms(text string) []string {
	words, last := unique(&Folder{terms: true}, text)
	if len(words) == 0 {
		return nil
	}
	if end, _ := utf8.DecodeLastRuneInString(text); unicode.IsSpace(end) {
		last = ""
	}
	if last != words[len(words)-1] { // it is empty, or was typed before, too
		words = append(words, last)
	}
	return words
}

// unique returns the words of a text, each once, and the last one.
func unique(f *Folder, text string) (words []string, last string) {
	seen := make(map[string]bool)
	f.Each(text, func(word []byte) {
		if last = string(word); !seen[last] {
			seen[last] = true
			words = append(words, last)
		}
	})
	return words, last
}

// maxWord bounds the bytes of a word. What is longer is cut in indexes and terms alike.
const maxWord = 64

// Folder finds the words of many texts without allocating for each. The zero Folder is
// ready for use. It is for one goroutine at a time.
type Folder struct {
	terms bool   // find what to look up, not what to index
	text  []byte // decomposed
	parts []byte // the folded parts of the compound at hand, one after the other
	cuts  []int  // where they end, but for the last one
	word  []byte // parts as one word, or characters of run
	run   []rune // characters of a script without blanks

	yield func(word []byte)
}

// Each yields the words that Words returns, but may repeat some. A word holds until yield
// returns.
func (f *Folder) Each(text string, yield func(word []byte)) {
	f.yield = yield
	if strings.ContainsAny(text, "<&") {
		text = markup.Text(markup.Title(text))
	}
	if !utf8.ValidString(text) { // package norm leaves what follows an invalid byte as it is
		text = strings.ToValidUTF8(text, " ")
	}
	f.text = norm.NFKD.AppendString(f.text[:0], text)
	for i := 0; i < len(f.text); {
		r, n, class := rune(f.text[i]), 1, separator
		if r < utf8.RuneSelf {
			class = ascii[r]
		} else {
			r, n = utf8.DecodeRune(f.text[i:])
			class = classOf(r)
		}
		i += n
		if class != ignored {
			f.next(r, class)
		}
	}
	f.next(0, separator)
}

// Key returns what sorts a text by its words: those of Terms, folded, each followed by a blank;
// empty for a text without words.
func Key(text string) string {
	var key []byte
	f := Folder{terms: true}
	f.Each(text, func(word []byte) { key = append(append(key, word...), ' ') })
	return string(key)
}

// next adds a character to what is at hand, or yields that first.
func (f *Folder) next(r rune, class class) {
	if class != character && len(f.run) > 0 {
		f.endRun()
	}
	part := f.parts[f.partStart():]
	switch {
	case class == letter:
		f.parts = appendFolded(f.parts, part, r)
	case class == mark && len(part) > 0:
		f.parts = utf8.AppendRune(f.parts, r)
	case class == joiner && len(part) > 0:
		f.cuts = append(f.cuts, len(f.parts))
	case class != mark && len(f.parts) > 0: // two joiners, too
		f.endCompound()
	}
	if class == character {
		f.run = append(f.run, r)
	}
}

// partStart returns where the last part of the compound begins.
func (f *Folder) partStart() int {
	if len(f.cuts) == 0 {
		return 0
	}
	return f.cuts[len(f.cuts)-1]
}

// endCompound yields the parts of the compound at hand and, for an index, the whole.
func (f *Folder) endCompound() {
	if f.partStart() < len(f.parts) {
		f.cuts = append(f.cuts, len(f.parts))
	}
	f.word = f.word[:0]
	from := 0
	for _, to := range f.cuts {
		part := f.parts[from:to]
		f.emit(part)
		for endsInVowel(f.word) && len(part) > 0 && part[0] == 'e' {
			part = part[1:]
		}
		f.word = append(f.word, part...)
		from = to
	}
	if len(f.cuts) > 1 && !f.terms {
		f.emit(f.word)
	}
	f.parts, f.cuts = f.parts[:0], f.cuts[:0]
}

// endRun yields the pairs of characters at hand and, for an index or if there is but one,
// the characters.
func (f *Folder) endRun() {
	for i, r := range f.run {
		f.word = utf8.AppendRune(f.word[:0], r)
		if !f.terms || len(f.run) == 1 {
			f.emit(f.word)
		}
		if i+1 < len(f.run) {
			f.word = utf8.AppendRune(f.word, f.run[i+1])
			f.emit(f.word)
		}
	}
	f.run = f.run[:0]
}

// emit yields a word of bounded length.
func (f *Folder) emit(word []byte) {
	if !norm.NFKD.IsNormal(word) { // what stood between two marks is gone
		word = norm.NFKD.Bytes(word)
	}
	if len(word) > maxWord {
		end := maxWord
		for !utf8.RuneStart(word[end]) {
			end--
		}
		word = word[:end]
	}
	f.yield(word)
}
