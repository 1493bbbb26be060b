package ejson

import (
	"encoding/binary"
	"math"
	"strconv"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// maxInt64Digits is the length of the longest int64 with its sign.
const maxInt64Digits = 20

// number reads the number at pos as the smallest fitting type.
func (p *parser) number() (bson.Type, error) {
	n, integer, ok := scanNumber(p.src[p.pos:])
	if !ok {
		p.pos += n
		return 0, p.unexpected("a digit")
	}
	digits := p.src[p.pos : p.pos+n]
	if integer && n <= maxInt64Digits {
		if i, err := strconv.ParseInt(string(digits), 10, 64); err == nil {
			p.pos += n
			return p.integer(i), nil
		}
	}
	f, err := strconv.ParseFloat(string(digits), 64)
	if err != nil {
		return 0, p.fail(p.pos, "the number is too large for a double")
	}
	p.pos += n
	p.buf = putDouble(p.buf, f)
	return bson.TypeDouble, nil
}

// integer appends i as int32 if it fits, else as int64.
func (p *parser) integer(i int64) bson.Type {
	if math.MinInt32 <= i && i <= math.MaxInt32 {
		p.buf = binary.LittleEndian.AppendUint32(p.buf, uint32(i))
		return bson.TypeInt32
	}
	p.buf = binary.LittleEndian.AppendUint64(p.buf, uint64(i))
	return bson.TypeInt64
}

// putDouble appends f as BSON has it.
func putDouble(dst []byte, f float64) []byte {
	return binary.LittleEndian.AppendUint64(dst, math.Float64bits(f))
}

// scanNumber finds the number of JSON that b starts with: its length, and whether
// it has neither fraction nor exponent. If there is none (!ok), a digit is missing
// at n.
func scanNumber(b []byte) (n int, integer, ok bool) {
	if len(b) > 0 && b[0] == '-' {
		n = 1
	}
	whole := countDigits(b[n:])
	if whole == 0 {
		return n, false, false
	}
	if b[n] == '0' {
		whole = 1 // what follows a leading zero is not part of the number
	}
	n += whole
	integer = true
	if n < len(b) && b[n] == '.' {
		integer = false
		n++
		fraction := countDigits(b[n:])
		if fraction == 0 {
			return n, false, false
		}
		n += fraction
	}
	if n < len(b) && (b[n] == 'e' || b[n] == 'E') {
		integer = false
		n++
		if n < len(b) && (b[n] == '+' || b[n] == '-') {
			n++
		}
		exponent := countDigits(b[n:])
		if exponent == 0 {
			return n, false, false
		}
		n += exponent
	}
	return n, integer, true
}

// countDigits is the number of digits that b starts with.
func countDigits(b []byte) int {
	for i, c := range b {
		if c < '0' || c > '9' {
			return i
		}
	}
	return len(b)
}
