package similar

import "unicode/utf8"

const (
	symbols    = 256
	rareSymbol = symbols - 1 // of every character outside the alphabet
)

// alphabet assigns symbols to a corpus's characters, in order of appearance until it is
// full: frequent characters appear early.
type alphabet struct {
	size   int
	ascii  [utf8.RuneSelf]byte // rareSymbol for none
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

// assign returns a character's symbol, a new one if it has none and one is left.
func (a *alphabet) assign(r rune) byte {
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
