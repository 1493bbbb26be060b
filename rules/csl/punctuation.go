package csl

import (
	"strings"
	"unicode/utf8"
)

// collisions say what stays of two punctuation marks, if the style puts them beside each other. Pairs that are not
// listed both stay.
var collisions = map[string]string{
	"!.": "!", "!:": "!", "!!": "!",
	"?.": "?", "?:": "?", "??": "?",
	":.": ":", "::": ":", ":!": "!", ":?": "?",
	"..": ".", ",,": ",",
	";.": ";", ";:": ";", ";;": ";", ";!": "!", ";?": "?",
}

// punctuate removes punctuation and spaces that occur twice where parts meet, and moves punctuation into quotes if
// the locale has it there.
func punctuate(all *box, intoQuotes bool) {
	var before, inQuote *box // the last text, and the last one within quotes that end there
	var slot *box            // the slot of the year's suffix, if it stands since then
	depth := 0               // of the parts that such a slot can drop
	all.leaves(func(l *box) {
		switch l.leaf {
		case slotStart:
			depth++
			return
		case slotEnd:
			depth--
			slot = l
			return
		case openQuote:
			before, inQuote = nil, nil
			return
		case closeQuote:
			if inQuote == nil {
				inQuote = before
			}
			before = l
			return
		}
		switch {
		case l.text == "" || depth > 0:
			return
		case l.text == SuffixSlot:
			slot = l
			return
		}
		whole := l.text
		if inQuote != nil {
			afterQuote(inQuote, l, intoQuotes)
		} else if before != nil {
			collide(before, l)
		}
		if slot != nil && len(l.text) < len(whole) { // with a suffix, nothing collides: "n.d.", but "n.d.a."
			slot.text += slotOpen + whole[:len(whole)-len(l.text)] + slotClose
		}
		slot = nil
		if l.text != "" {
			before, inQuote = l, nil
		}
	})
}

// afterQuote treats the text right after a closing quote, whose last text is in. Punctuation of the data stays
// where it is.
func afterQuote(in, after *box, intoQuotes bool) {
	if in.text == "" || !strings.ContainsAny(after.text[:1], ".,:;!?") || after.leaf == dataLeaf {
		return
	}
	first := after.text[:1]
	if last := in.text[len(in.text)-1:]; collisions[last+first] == last {
		after.text = after.text[1:]
		return
	}
	if intoQuotes && strings.Contains(".,!?", first) {
		after.text = after.text[1:]
		moved := &box{text: first}
		collide(in, moved)
		in.text += moved.text
	}
}

// collide removes what two texts that meet have twice.
func collide(left, right *box) {
	for left.text != "" && right.text != "" {
		a, _ := utf8.DecodeLastRuneInString(left.text)
		b, size := utf8.DecodeRuneInString(right.text)
		if a == ' ' && b == ' ' {
			right.text = right.text[size:]
			continue
		}
		pair := string(a) + string(b)
		stays, ok := collisions[pair]
		if !ok {
			return
		}
		if stays == string(a) {
			right.text = right.text[size:]
		} else {
			left.text = left.text[:len(left.text)-1]
		}
	}
}
