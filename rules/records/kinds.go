package records

import (
	"strings"

	"vitrine/rules/markup"
)

const (
	// mostKinds bounds the kinds that Kinds has numbers for beside the known ones.
	mostKinds = 2000
	// mostCode is how many bytes of a code are kept.
	mostCode = 100

	unseen = 0 // the number of no kind: the record was not read
	beyond = 1 // the number of all kinds beyond mostKinds
)

// Kinds numbers the kinds of records, so that two bytes a record are enough to count them. The zero Kinds is ready
// for use. It is for one goroutine.
type Kinds struct {
	numbers map[Kind]uint16
	kinds   []Kind
	room    int // how many further kinds get a number
}

// Expect gives numbers to the known kinds, so that they have some after any number of others.
func (t *Kinds) Expect(known Known) {
	if t.numbers == nil {
		t.numbers, t.kinds, t.room = map[Kind]uint16{}, make([]Kind, beyond+1), mostKinds
	}
	for _, typ := range known.Types {
		t.add(Kind{Type: typ})
		for _, subtype := range known.Subtypes[typ] {
			t.add(Kind{typ, subtype})
		}
		for subtype := range known.Works {
			t.add(Kind{typ, subtype})
		}
	}
}

// Number returns the number of a kind, which is never 0. It keeps no text of its caller.
func (t *Kinds) Number(typ, subtype string) uint16 {
	if t.numbers == nil {
		t.Expect(Known{})
	}
	kind := Kind{markup.CutText(typ, mostCode), markup.CutText(subtype, mostCode)}
	if n, ok := t.numbers[kind]; ok {
		return n
	}
	if t.room == 0 {
		return beyond
	}
	t.room--
	return t.add(Kind{strings.Clone(kind.Type), strings.Clone(kind.Subtype)})
}

// add gives a number to a kind, unless it has one or there is no number left.
func (t *Kinds) add(kind Kind) uint16 {
	if n, ok := t.numbers[kind]; ok {
		return n
	}
	const most = 1<<16 - 1
	if len(t.kinds) > most {
		return beyond
	}
	n := uint16(len(t.kinds))
	t.numbers[kind], t.kinds = n, append(t.kinds, kind)
	return n
}
