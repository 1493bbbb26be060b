package ejson

import (
	"math"
	"strconv"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"
)

// number reads the number at pos as the smallest type that can hold it.
//
//	1 → int32, 4294967296 → int64, 1e3 → double, 1e400 → an error
func (p *parser) number() bson.Type {
	n, integer, ok := scanNumber(p.src[p.pos:])
	if !ok {
		p.pos += n
		p.unexpected("a digit")
	}
	digits := string(p.src[p.pos : p.pos+n])
	if integer {
		if i, err := strconv.ParseInt(digits, 10, 64); err == nil {
			p.pos += n
			if math.MinInt32 <= i && i <= math.MaxInt32 {
				p.buf = bsoncore.AppendInt32(p.buf, int32(i))
				return bson.TypeInt32
			}
			p.buf = bsoncore.AppendInt64(p.buf, i)
			return bson.TypeInt64
		}
	}
	f, err := strconv.ParseFloat(digits, 64)
	if err != nil {
		p.fail(p.pos, "the number is too large for a double")
	}
	p.pos += n
	p.buf = bsoncore.AppendDouble(p.buf, f)
	return bson.TypeDouble
}

// scanNumber returns the length of the JSON number at the start of b, and whether it has neither
// fraction nor exponent. If ok is false, a digit is missing at n. strconv accepts more than JSON:
// "+1", "0x10", "1_000", "Inf".
func scanNumber(b []byte) (n int, integer, ok bool) {
	skip := func(any string) bool {
		found := n < len(b) && strings.IndexByte(any, b[n]) >= 0
		if found {
			n++
		}
		return found
	}
	digits := func() bool {
		start := n
		for n < len(b) && '0' <= b[n] && b[n] <= '9' {
			n++
		}
		return n > start
	}
	skip("-")
	if !skip("0") && !digits() { // a leading zero ends the integral part
		return n, false, false
	}
	integer = true
	if skip(".") {
		if integer = false; !digits() {
			return n, false, false
		}
	}
	if skip("eE") {
		integer = false
		skip("+-")
		if !digits() {
			return n, false, false
		}
	}
	return n, integer, true
}
