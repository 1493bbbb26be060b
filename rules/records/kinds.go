package records

import (
	"strings"

	"vitrine/rules/markup"
)

// Kind has the codes of a record's type and subtype.
type Kind struct{ Type, Subtype string }

// String returns the codes as pages and files write them: "publication/article".
func (k Kind) String() string {
	if k.Subtype == "" {
		return k.Type
	}
	return k.Type + "/" + k.Subtype
}

const (
	// mostKinds bounds the unknown kinds that get a number of their own.
	mostKinds = 2000
	// mostCode is how many bytes of a code are kept.
	mostCode = 100

	unseen   = 0 // the number of no kind: the record was not read
	overflow = 1 // the number of all kinds beyond mostKinds
)

// Kinds numbers the kinds of records, so that two bytes a record are enough to count them. The zero Kinds is ready
// for use. It is for one goroutine.
type Kinds struct {
	numbers map[Kind]uint16
	kinds   []Kind
	room    int // how many further kinds get a number
}

// Expect gives numbers to the known kinds. Unknown kinds, however many, then leave them theirs.
func (k *Kinds) Expect(known Codes) {
	if k.numbers == nil {
		k.numbers, k.kinds, k.room = map[Kind]uint16{}, make([]Kind, overflow+1), mostKinds
	}
	for _, typ := range known.Types {
		k.add(Kind{Type: typ})
		for _, subtype := range known.Subtypes[typ] {
			k.add(Kind{typ, subtype})
		}
		for subtype := range known.Works {
			k.add(Kind{typ, subtype})
		}
	}
}

// Number returns the number of a kind, which is never 0. It copies the texts that it keeps.
func (k *Kinds) Number(typ, subtype string) uint16 {
	if k.numbers == nil {
		k.Expect(Codes{})
	}
	kind := Kind{markup.CutText(typ, mostCode), markup.CutText(subtype, mostCode)}
	if n, ok := k.numbers[kind]; ok {
		return n
	}
	if k.room == 0 {
		return overflow
	}
	k.room--
	return k.add(Kind{strings.Clone(kind.Type), strings.Clone(kind.Subtype)})
}

// add gives a number to a kind, unless it has one or there is no number left.
func (k *Kinds) add(kind Kind) uint16 {
	if n, ok := k.numbers[kind]; ok {
		return n
	}
	const most = 1<<16 - 1
	if len(k.kinds) > most {
		return overflow
	}
	n := uint16(len(k.kinds))
	k.numbers[kind], k.kinds = n, append(k.kinds, kind)
	return n
}
