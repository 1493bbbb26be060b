package filter

import "vitrine/rules/raw"
import "go.mongodb.org/mongo-driver/v2/bson"

// BitsOp is the operator of a Bits test.
type BitsOp uint8

// The bitwise operators.
const (
	AllSet BitsOp = iota
	AnySet
	AllClear
	AnyClear
)

// String returns the operator as MongoDB writes it.
func (o BitsOp) String() string {
	return [...]string{"$bitsAllSet", "$bitsAnySet", "$bitsAllClear", "$bitsAnyClear"}[o]
}

// Bits looks at bits of integral numbers and binary data. Bit 0 is the lowest of
// a number or of the first byte; numbers are extended by their sign, binary data by
// zeros.
type Bits struct {
	Op        BitsOp
	Positions []uint32 // sorted, distinct
}

// Match implements Test.
func (b *Bits) Match(v raw.Value) (bool, error) {
	if v.Raw.Type == bson.TypeBinary {
		data := binaryData(v.Raw.Value)
		return b.holds(func(i uint32) bool {
			at := int(i / 8)
			return at < len(data) && data[at]>>(i%8)&1 == 1
		}), nil
	}
	n, integral, ok := raw.Truncate(v.Raw)
	if !ok || !integral {
		return false, nil
	}
	return b.holds(func(i uint32) bool { return n>>min(i, 63)&1 == 1 }), nil
}

// holds applies the operator to a source of bits.
func (b *Bits) holds(set func(uint32) bool) bool {
	every := b.Op == AllSet || b.Op == AllClear
	want := b.Op == AllSet || b.Op == AnySet
	for _, i := range b.Positions {
		if (set(i) == want) != every {
			return !every
		}
	}
	return every
}

// binaryData returns the content of binary data.
func binaryData(b []byte) []byte {
	if len(b) < 5 {
		return nil
	}
	return b[5:]
}
