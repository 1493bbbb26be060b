package csl

// quoteMarks are a locale's quotation marks: of quotes, and of quotes within quotes.
type quoteMarks [2]struct{ open, close string }

// quoteMarks returns the locale's quotation marks.
func (l *Locale) quoteMarks() (q quoteMarks) {
	for i, terms := range [...][2]string{{"open-quote", "close-quote"}, {"open-inner-quote", "close-inner-quote"}} {
		q[i].open, q[i].close = l.text(terms[0], "long", false), l.text(terms[1], "long", false)
	}
	return q
}

// quote puts quotation marks into quoted boxes. Quotes within quotes have the other marks. outer is the index of
// the marks around b, or -1.
func quote(b *box, outer int, marks *quoteMarks) {
	if b.leaf != inner {
		return
	}
	own := outer
	if b.quoted {
		switch {
		case outer >= 0:
			own = 1 - outer
		case b.single:
			own = 1
		default:
			own = 0
		}
	}
	for _, kid := range b.kids {
		quote(kid, own, marks)
	}
	if !b.quoted {
		return
	}
	kids := make([]*box, 0, len(b.kids)+2)
	kids = append(append(kids, &box{leaf: openQuote, text: marks[own].open}), b.kids...)
	b.kids = append(kids, &box{leaf: closeQuote, text: marks[own].close})
}
