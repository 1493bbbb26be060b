package similar

import "unicode/utf8"

const (
	symbols    = 256
	rareSymbol = symbols - 1 // stands for every character outside the alphabet
)

// alphabet gives a corpus's characters their symbols, in order of appearance until
// it is full: what is frequent appears early.
type alphabet struct {
	size   int
	ascii  [utf8.RuneSelf]byte // rareSymbol where there is none
	others map[rune]byte
}

func newAlphabet() *alphabet {
	a := &alphabet{others: make(map[rune]byte)}
	for r := range a.ascii {
		a.ascii[r] = rareSymbol
	}
	return a
}

// symbol returns a character's symbol.
func (a *alphabet) symbol(r rune) byte {
	if r < utf8.RuneSelf {
		return a.ascii[r]
	}
	if s, ok := a.others[r]; ok {
		return s
	}
	return rareSymbol
}

// take returns a character's symbol, a new one if it has none and one is left.
func (a *alphabet) take(r rune) byte {
	s := a.symbol(r)
	if s != rareSymbol || a.size == rareSymbol {
		return s
	}
	s = byte(a.size)
	a.size++
	if r < utf8.RuneSelf {
		a.ascii[r] = s
	} else {
		a.others[r] = s
	}
	return s
}
