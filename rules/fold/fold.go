package fold

import (
	"unicode"
	"unicode/utf8"
)

// Words returns the words under which an index finds a text, folded, each once. Those of
// a compound are its parts and the whole without hyphens and apostrophes. Inline markup
// of titles and character references count as what the reader sees.
func Words(text string) []string {
	var u unique
	var f Folder
	f.Each(text, u.add)
	return u.words
}

// Terms returns the words to look up for a text that a reader has typed. The last one
// stands for all words that begin with it, because the reader may still be typing. If the
// text ends in a blank, the last term is empty: every word begins with it.
func Terms(text string) []string {
	var u unique
	f := Folder{terms: true}
	f.Each(text, u.add)
	if len(u.words) == 0 {
		return nil
	}
	if last, _ := utf8.DecodeLastRuneInString(text); unicode.IsSpace(last) {
		return append(u.words, "")
	}
	if last := string(f.last); last != u.words[len(u.words)-1] { // it was typed before, too
		u.words = append(u.words, last)
	}
	return u.words
}

// unique collects words, each once.
type unique struct {
	words []string
	seen  map[string]bool
}

func (u *unique) add(word []byte) {
	if u.seen[string(word)] {
		return
	}
	if u.seen == nil {
		u.seen = make(map[string]bool)
	}
	u.seen[string(word)] = true
	u.words = append(u.words, string(word))
}
