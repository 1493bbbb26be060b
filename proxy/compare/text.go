package compare

import (
	"bytes"
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/net/html"
)

// token is a part of a text: a line, or of HTML a tag or a word.
type token struct {
	text   uint32   // its number in the vocabulary; of a start tag, that of the tag without attributes
	whole  uint32   // … with attributes
	within *element // of HTML; nil at the top
}

// element is an element of HTML. Its tokens share it: a path of their own would take more memory than the text.
type element struct {
	name   string
	around *element
}

// path returns the names of the element and those around it, up to deepest.
func (e *element) path() string {
	var names []string
	for ; e != nil && len(names) < deepest; e = e.around {
		names = append(names, e.name)
	}
	slices.Reverse(names)
	return strings.Join(names, ">")
}

// vocabulary numbers the different texts of tokens, so that comparing two takes the same time however long they
// are. Both texts share one, so that equal words have equal numbers.
type vocabulary struct {
	numbers map[string]uint32
	texts   []string
}

func (v *vocabulary) number(text string) uint32 {
	n, known := v.numbers[text]
	if !known {
		n = uint32(len(v.texts))
		v.numbers[text] = n
		v.texts = append(v.texts, text)
	}
	return n
}

// joined returns the text of tokens, or the beginning of a long one.
func (v *vocabulary) joined(all []token) string {
	var b strings.Builder
	for i, t := range all {
		if i > 0 {
			b.WriteByte(' ')
		}
		if b.WriteString(v.texts[t.whole]); b.Len() > mostMatched {
			break
		}
	}
	return b.String()
}

// tag matches a tag, which makes a text in JSON count as HTML.
var tag = regexp.MustCompile(`<[A-Za-z/!]`)

// voids are the elements without an end.
var voids = strings.Fields("area base br col embed hr img input link meta source track wbr")

// html compares two texts of HTML by tokens.
func (a *answers) html(path, old, new string) {
	v := &vocabulary{numbers: map[string]uint32{}}
	was, fits := a.tokens(path, v, old)
	is, fit := a.tokens(path, v, new)
	switch {
	case a.work.over:
	case fits && fit:
		a.text(Words, path, v, was, is)
	default:
		a.skip(path, "", "")
	}
}

// lines compares two texts by lines. It is for what is neither JSON nor HTML, such as BibTeX and CSV.
func (a *answers) lines(old, new []byte) {
	v := &vocabulary{numbers: map[string]uint32{}}
	split := func(text []byte) (all []token) {
		for line := range bytes.Lines(text) {
			if len(all) > mostTokens || !a.spend("", workToSplit+workToRead*len(line)) {
				break
			}
			text := v.number(string(bytes.TrimRight(line, "\r\n")))
			all = append(all, token{text: text, whole: text})
		}
		return all
	}
	was, is := split(old), split(new)
	switch {
	case a.work.over:
	case max(len(was), len(is)) > mostTokens:
		a.skip("", "", "")
	default:
		a.text(Text, "", v, was, is)
	}
}

// tokens returns the tokens of HTML, and whether they are few and short enough to be compared. White space,
// comments, the order of attributes and how characters are written do not matter. An element's name is shortened,
// since a hostile side may send one of megabytes. End tags that close nothing are tokens, too.
func (a *answers) tokens(path string, v *vocabulary, source string) (all []token, fit bool) {
	if !a.spend(path, workToRead*len(source)) {
		return nil, false
	}
	var open *element // the innermost one
	z := html.NewTokenizer(strings.NewReader(source))
	z.SetMaxBuf(mostTag)
	add := func(text, whole string) bool {
		one := token{text: v.number(text), within: open}
		if one.whole = one.text; whole != text {
			one.whole = v.number(whole)
		}
		all = append(all, one)
		return len(all) <= mostTokens && a.spend(path, workToSplit)
	}
	for z.Next() != html.ErrorToken {
		switch t := z.Token(); t.Type {
		case html.TextToken:
			for word := range strings.FieldsFuncSeq(t.Data, isSpace) {
				if word = escaped(word); !add(word, word) {
					return nil, false
				}
			}
		case html.StartTagToken, html.SelfClosingTagToken:
			slices.SortFunc(t.Attr, func(a, b html.Attribute) int { return strings.Compare(a.Key, b.Key) })
			t.Type = html.StartTagToken
			if !add("<"+t.Data+">", t.String()) {
				return nil, false
			}
			if name := shorten(t.Data); !slices.Contains(voids, name) {
				open = &element{name, open}
			}
		case html.EndTagToken:
			if !add(t.String(), t.String()) {
				return nil, false
			}
			open = open.closed(shorten(t.Data))
		}
	}
	return all, z.Err() == io.EOF
}

// escaped returns a word in which no "<" begins what looks like a tag.
func escaped(word string) string {
	if strings.HasPrefix(word, "<") {
		return "&lt;" + word[1:]
	}
	return word
}

// isSpace reports whether HTML collapses a character. A no-break space stays.
func isSpace(r rune) bool { return strings.ContainsRune(" \t\r\n\f", r) }

// closed returns the innermost open element after the end of one with a name. An end tag closes the elements
// inside, as browsers do for a missing </p>. The search is bounded, so that a text of stray end tags does not take
// the square of its length.
func (e *element) closed(name string) *element {
	for at, n := e, 0; at != nil && n < unended; at, n = at.around, n+1 {
		if at.name == name {
			return at.around
		}
	}
	return e
}

const (
	deepest   = 8   // how many elements a path has at most
	unended   = 100 // how many elements without an end another one's end may close
	lookahead = 200 // how many tokens a difference may have before text resumes
	resumes   = 3   // how many equal tokens end a difference

	mostAligned = 4096 // how many pairs of tokens a stretch has that is aligned once more
)

// text compares tokens. If it does not find where the texts agree again, their rest is one difference.
func (a *answers) text(kind Kind, path string, v *vocabulary, old, new []token) {
	for len(old)+len(new) > 0 && !a.work.over {
		if len(old) > 0 && len(new) > 0 && old[0].text == new[0].text {
			if old[0].whole != new[0].whole {
				a.attributes(path, v, old[0], new[0])
			}
			old, new = old[1:], new[1:]
			continue
		}
		i, j, places := resume(old, new)
		if !a.spend(path, workToMatch*places) {
			return
		}
		a.aligned(kind, path, v, old[:i], new[:j])
		old, new = old[i:], new[j:]
	}
}

// aligned reports a stretch in which two texts differ. Short ones are aligned once more, by their longest common
// subsequence, so that a tag around words that stay is a difference of its own, and the words are none. Lines are,
// too.
func (a *answers) aligned(kind Kind, path string, v *vocabulary, old, new []token) {
	if len(old) > 0 && len(new) > 0 && len(old)*len(new) <= mostAligned {
		if common := commonest(old, new); len(common) > 0 && a.spend(path, workToMatch*len(old)*len(new)) {
			i, j := 0, 0
			for _, at := range common {
				a.stretch(kind, path, v, old[i:at[0]], new[j:at[1]])
				if o, n := old[at[0]], new[at[1]]; o.whole != n.whole {
					a.attributes(path, v, o, n)
				}
				i, j = at[0]+1, at[1]+1
			}
			a.stretch(kind, path, v, old[i:], new[j:])
			return
		}
	}
	a.stretch(kind, path, v, old, new)
}

// stretch reports tokens that only one text has, or that differ.
func (a *answers) stretch(kind Kind, path string, v *vocabulary, old, new []token) {
	if len(old)+len(new) == 0 {
		return
	}
	if kind == Words && v.tagsOnly(old) && v.tagsOnly(new) {
		kind = Tag
	}
	first := slices.Concat(old[:min(len(old), 1)], new[:min(len(new), 1)])[0]
	at := first.within
	if name := v.texts[first.text]; kind == Tag && !strings.HasPrefix(name, "</") {
		at = &element{name: shorten(strings.Trim(name, "<>")), around: at}
	}
	a.report(kind, below(path, at.path()), v.joined(old), v.joined(new))
}

// commonest returns the indexes of the longest common subsequence of two short texts.
func commonest(old, new []token) (common [][2]int) {
	length := make([][]uint16, len(old)+1)
	for i := range length {
		length[i] = make([]uint16, len(new)+1)
	}
	for i := len(old) - 1; i >= 0; i-- {
		for j := len(new) - 1; j >= 0; j-- {
			if old[i].text == new[j].text {
				length[i][j] = length[i+1][j+1] + 1
			} else {
				length[i][j] = max(length[i+1][j], length[i][j+1])
			}
		}
	}
	for i, j := 0, 0; i < len(old) && j < len(new); {
		switch {
		case old[i].text == new[j].text:
			common = append(common, [2]int{i, j})
			i, j = i+1, j+1
		case length[i+1][j] >= length[i][j+1]:
			i++
		default:
			j++
		}
	}
	return common
}

// below returns a path with elements of HTML behind it.
func below(path, elements string) string { return strings.TrimSpace(path + " " + elements) }

// tagsOnly reports whether all tokens are tags. Words begin with no "<": they have it escaped.
func (v *vocabulary) tagsOnly(all []token) bool {
	return !slices.ContainsFunc(all, func(t token) bool { return !strings.HasPrefix(v.texts[t.text], "<") })
}

// attributes reports the attributes in which two tags of the same element differ, each as a difference of its own, so
// that a rule for one covers neither others nor the words beside it.
func (a *answers) attributes(path string, v *vocabulary, old, new token) {
	was, is := attributesOf(v.texts[old.whole]), attributesOf(v.texts[new.whole])
	name := strings.Trim(v.texts[old.text], "<>")
	at := (&element{name: shorten(name), around: old.within}).path()
	names := slices.Sorted(maps.Keys(was))
	for _, key := range slices.Sorted(maps.Keys(is)) {
		if _, both := was[key]; !both {
			names = append(names, key)
		}
	}
	for _, key := range names {
		o, there := was[key]
		n, here := is[key]
		if there == here && o == n {
			continue
		}
		if key == "datetime" {
			a.times = [2]string{o, n}
		}
		if there != here && o == n { // an empty one and none
			o, n = presence(there), presence(here)
		}
		a.report(Attribute, below(path, at)+"@"+shorten(key), o, n)
	}
}

// presence is the value of an empty attribute in a difference from none.
func presence(there bool) string {
	if there {
		return `""`
	}
	return ""
}

// attributesOf returns the attributes of a tag. Of several with one name the first counts.
func attributesOf(tag string) map[string]string {
	z := html.NewTokenizer(strings.NewReader(tag))
	z.Next()
	all := map[string]string{}
	for _, one := range z.Token().Attr {
		if _, known := all[one.Key]; !known {
			all[one.Key] = one.Val
		}
	}
	return all
}

// resume returns the numbers of tokens after which two texts agree again, and at how many places it has compared
// them: no more than half of lookahead for each token that it passes. It tries the shortest differences first: d is
// the number of tokens passed in both texts together.
func resume(old, new []token) (toOld, toNew, places int) {
	for d := 1; d <= min(lookahead, len(old)+len(new)); d++ {
		for i := max(0, d-len(new)); i <= min(d, len(old)); i++ {
			if places++; agree(old[i:], new[d-i:]) {
				return i, d - i, places
			}
		}
	}
	return len(old), len(new), places
}

// agree reports whether texts begin with the same tokens, or both end.
func agree(old, new []token) bool {
	n := min(resumes, max(len(old), len(new)))
	if n > min(len(old), len(new)) {
		return false
	}
	for i := range n {
		if old[i].text != new[i].text {
			return false
		}
	}
	return true
}
