package fold

import (
	"strings"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"vitrine/rules/markup"
)

// maxWord bounds the bytes of a word. What is longer is cut in indexes and terms alike.
const maxWord = 64

// Folder finds the words of many texts without allocating for each. The zero Folder is
// ready for use. It is for one goroutine at a time.
type Folder struct {
	terms bool   // find what to look up, not what to index
	text  []byte // decomposed
	parts []byte // the folded parts of the compound at hand, one after the other
	cuts  []cut  // where parts end; the last one is open
	whole []byte // several parts as one word
	last  []byte // the word yielded last
	run   []rune // characters of a script without blanks

	yield func(word []byte)
}

// cut is where a part of a compound ends, at a hyphen or at an apostrophe.
type cut struct {
	at     int
	hyphen bool
}

// Each yields the words that Words returns, but may repeat some. A word holds until yield
// returns.
func (f *Folder) Each(text string, yield func(word []byte)) {
	f.yield = yield
	if strings.ContainsAny(text, "<&") {
		text = markup.Text(markup.Title(text))
	}
	for i := range len(text) {
		if text[i] >= utf8.RuneSelf {
			f.text = norm.NFKD.AppendString(f.text[:0], text)
			f.scan(f.text)
			return
		}
	}
	f.text = append(f.text[:0], text...)
	f.scan(f.text)
}

// scan takes a decomposed text apart.
func (f *Folder) scan(text []byte) {
	for i := 0; i < len(text); {
		r, n, class := rune(text[i]), 1, separator
		if r < utf8.RuneSelf {
			class = ascii[r]
		} else {
			r, n = utf8.DecodeRune(text[i:])
			class = classOf(r)
		}
		i += n
		if class != character && len(f.run) > 0 && class != ignored {
			f.endRun()
		}
		switch class {
		case letter:
			f.parts = appendFolded(f.parts, f.partStart(), r)
		case mark:
			if len(f.parts) > f.partStart() {
				f.parts = utf8.AppendRune(f.parts, r)
			}
		case hyphen, apostrophe:
			f.cut(class == hyphen)
		case character:
			f.endCompound()
			f.run = append(f.run, r)
		case separator:
			f.endCompound()
		}
	}
	f.endRun()
	f.endCompound()
}

// partStart returns where the open part of the compound begins.
func (f *Folder) partStart() int {
	if len(f.cuts) == 0 {
		return 0
	}
	return f.cuts[len(f.cuts)-1].at
}

// cut ends a part of the compound. Two hyphens or a hyphen at its beginning end it all.
func (f *Folder) cut(hyphen bool) {
	if len(f.parts) == f.partStart() {
		f.endCompound()
		return
	}
	f.cuts = append(f.cuts, cut{len(f.parts), hyphen})
}

// endCompound yields the words of the compound at hand.
func (f *Folder) endCompound() {
	if len(f.parts) == 0 {
		return
	}
	if len(f.parts) > f.partStart() {
		f.cuts = append(f.cuts, cut{len(f.parts), true})
	}
	f.cuts[len(f.cuts)-1].hyphen = true
	from, hyphens := 0, 0 // of the cuts that belong to the part between two hyphens
	for i, c := range f.cuts {
		if !c.hyphen {
			continue
		}
		hyphens++
		if i > from && !f.terms {
			for k := from; k <= i; k++ {
				f.join(k, k+1)
			}
		}
		f.join(from, i+1)
		from = i + 1
	}
	if hyphens > 1 && !f.terms {
		f.join(0, len(f.cuts))
	}
	f.parts, f.cuts = f.parts[:0], f.cuts[:0]
}

// join yields parts as one word.
func (f *Folder) join(from, to int) {
	f.whole = f.whole[:0]
	at := 0
	if from > 0 {
		at = f.cuts[from-1].at
	}
	for _, c := range f.cuts[from:to] {
		part := f.parts[at:c.at]
		for endsInVowel(f.whole) && len(part) > 0 && part[0] == 'e' {
			part = part[1:]
		}
		f.whole = append(f.whole, part...)
		at = c.at
		if len(f.whole) > maxWord {
			break
		}
	}
	f.emit(f.whole)
}

// endRun yields the characters of a script without blanks, and each pair of them. What is
// looked up are the pairs, or the one character that there is.
func (f *Folder) endRun() {
	for i, r := range f.run {
		if !f.terms || len(f.run) == 1 {
			f.emit(utf8.AppendRune(f.whole[:0], r))
		}
		if i+1 < len(f.run) {
			f.emit(utf8.AppendRune(utf8.AppendRune(f.whole[:0], r), f.run[i+1]))
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
	if f.terms {
		f.last = append(f.last[:0], word...)
	}
	f.yield(word)
}
