// Package joiner writes a citation from the pieces of a template and the values between them, and
// tidies the joints. Spaces, punctuation, brackets and tags of the template wait in a queue until
// something visible follows, because only then can the joiner decide which of them to write
// (docs/rendering.md: Leftovers). It never changes values, words and the inside of tags: a title
// that ends in "?" or "..." keeps its end.
package joiner

import (
	"bytes"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// Kind is the kind of a piece.
type Kind uint8

// The kinds of pieces.
const (
	Word  Kind = iota // HTML that is written unchanged
	Space             // a space between words
	Punct             // a mark such as "," or "..."
	Open              // an opening bracket
	Close             // a closing bracket
	Start             // a start tag
	End               // an end tag
	Break             // <br>
	Kinds             // the number of kinds
)

// A Joiner writes one citation after the other. Of several punctuation marks in a row it keeps only
// the strongest. It writes no mark at the start of a line, and none that repeats the end of a
// value. It merges spaces, and writes none before punctuation or at the inner edge of a bracket. It
// drops empty brackets and elements, and a mark at the end, except for a full stop.
type Joiner struct {
	out   []byte
	queue []joint
	open  []string // end tags of the open elements; empty if the start tag was left out
	last  rune     // last visible character in out, 0 at the start of a line
}

// joint is a waiting piece of the template.
type joint struct {
	kind Kind
	text string
}

// Reset begins another citation and reuses the memory.
func (j *Joiner) Reset() {
	j.out, j.queue, j.open, j.last = j.out[:0], j.queue[:0], j.open[:0], 0
}

// Piece adds a piece of the template. For start tags use Start.
func (j *Joiner) Piece(kind Kind, text string) {
	switch kind {
	case Word:
		j.flush(Space)
		j.out = append(j.out, text...)
		j.last = lastVisible(j.out)
	case Close:
		j.closeBracket(text)
	case End:
		j.end()
	default:
		j.push(kind, text)
	}
}

// push queues a piece until something visible follows.
func (j *Joiner) push(kind Kind, text string) {
	j.queue = append(j.queue, joint{kind, text})
}

// Value writes the HTML of a field that is not empty. A space at its beginning, and a colon after that space, are
// tidied like those of the template.
func (j *Joiner) Value(html []byte) {
	if rest, ok := bytes.CutPrefix(html, []byte(" ")); ok {
		if html, ok = bytes.CutPrefix(rest, []byte(": ")); ok {
			j.push(Punct, ":")
		}
		j.push(Space, " ")
	}
	j.flush(Space)
	j.out = append(j.out, html...)
	j.last = lastVisible(j.out)
}

// Start opens an element. An empty tag leaves the element out but keeps its content.
func (j *Joiner) Start(tag, end string) {
	j.push(Start, tag)
	j.open = append(j.open, end)
}

// end closes the innermost element, or removes it if nothing visible is in it.
func (j *Joiner) end() {
	closing := j.open[len(j.open)-1]
	j.open = j.open[:len(j.open)-1]
	if i := j.lastQueued(Start); i >= 0 {
		j.queue = slices.Delete(j.queue, i, i+1)
		return
	}
	if closing != "" {
		j.push(End, closing)
	}
}

// closeBracket writes a closing bracket, or removes the opening one if nothing visible is between them.
func (j *Joiner) closeBracket(text string) {
	if i := j.lastQueued(Open); i >= 0 {
		tags := slices.DeleteFunc(j.queue[i+1:], func(p joint) bool { return p.kind != Start && p.kind != End })
		j.queue = append(j.queue[:i], tags...)
		return
	}
	j.flush(Break)
	j.out = append(j.out, text...)
	j.last = rune(text[0])
}

// lastQueued returns the position of the last queued piece of a kind, or -1.
func (j *Joiner) lastQueued(kind Kind) int {
	for i, p := range slices.Backward(j.queue) {
		if p.kind == kind {
			return i
		}
	}
	return -1
}

// Finish ends the citation and returns it. It is valid until the next Reset.
func (j *Joiner) Finish() []byte {
	j.queue = slices.DeleteFunc(j.queue, func(p joint) bool { return p.kind == Open || p.kind == Break })
	j.flush(Break)
	return j.out
}

// flush writes out the queue. next is the kind of what follows: Space for a word, which may need a space before it;
// Break for the end of a line or bracket, where no mark may dangle.
func (j *Joiner) flush(next Kind) {
	from := 0
	for i, p := range j.queue {
		switch p.kind {
		case Open:
			j.flushRun(j.queue[from:i], Space)
			j.out = append(j.out, p.text...)
			j.last = rune(p.text[0])
			from = i + 1
		case Break:
			j.flushRun(j.queue[from:i], Break)
			if j.last != 0 {
				j.out = append(j.out, p.text...)
			}
			j.last = 0
			from = i + 1
		}
	}
	j.flushRun(j.queue[from:], next)
	j.queue = j.queue[:0]
}

// flushRun writes out a part of the queue without brackets and breaks.
func (j *Joiner) flushRun(part []joint, next Kind) {
	if len(part) == 0 {
		return
	}
	kept := j.strongestPunct(part, next)
	spaced := next == Break || j.atEdge()
	for i, p := range part {
		switch {
		case p.kind == Punct && i == kept:
			j.out = append(j.out, p.text...)
			j.last, _ = utf8.DecodeLastRuneInString(p.text)
		case p.kind == Space && !spaced && i > kept:
			j.out = append(j.out, ' ')
			spaced = true
		case p.kind == Start || p.kind == End:
			j.out = append(j.out, p.text...)
		}
	}
}

// atEdge reports whether no space may follow the output.
func (j *Joiner) atEdge() bool { return j.last == 0 || j.last == '(' || j.last == '[' }

// strongestPunct returns the position of the one punctuation mark to keep, or -1.
func (j *Joiner) strongestPunct(part []joint, next Kind) int {
	kept, best := -1, 0
	for i, p := range part {
		if p.kind == Punct && strength(p.text) > best {
			kept, best = i, strength(p.text)
		}
	}
	if kept < 0 || j.atEdge() || next == Break && best < strength(".") || repeats(j.last, part[kept].text) {
		return -1
	}
	return kept
}

// strength ranks punctuation: marks that end a sentence are stronger than those within one. A piece
// such as "?," has the strength of its strongest mark.
func strength(punct string) int {
	best := 0
	for i := range len(punct) {
		best = max(best, strings.IndexByte(",;:.?!", punct[i])+1)
	}
	return best
}

// repeats reports whether punct would double the end of a value, whose last character is last: the same mark again,
// or a full stop after a mark that ends a sentence.
func repeats(last rune, punct string) bool {
	if punct[0] == '.' {
		return strings.ContainsRune(".!?…", last)
	}
	return rune(punct[0]) == last
}

// lastVisible returns the last visible character of HTML. A character reference, or HTML that is
// only tags, counts as a character that is not punctuation.
func lastVisible(html []byte) rune {
	i := len(html)
	for i > 0 && html[i-1] == '>' {
		for i > 0 && html[i-1] != '<' {
			i--
		}
		i--
	}
	if i <= 0 {
		return utf8.RuneError
	}
	if html[i-1] == ';' && lastReference.Match(html[:i]) {
		return utf8.RuneError
	}
	r, _ := utf8.DecodeLastRune(html[:i])
	return r
}

// lastReference matches a character reference at the end of HTML.
var lastReference = regexp.MustCompile(`&[\w#]+;$`)
