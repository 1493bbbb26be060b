package ejson

import (
	"encoding/binary"
	"math/bits"
	"strconv"
)

const (
	decimalBias = 6176 // of the exponent
	tenTo17     = 100_000_000_000_000_000
	// The largest coefficient is 10^34 - 1; higher and lower 64 bits of it.
	maxCoefficientHigh = 0x1ed09bead87c0
	maxCoefficientLow  = 0x378d8e63ffffffff
)

// appendDecimal writes a decimal128 as its standard's "scientific string", the form
// that keeps its digits and exponent apart from all equal numbers.
func appendDecimal(dst, b []byte) []byte {
	low, high := binary.LittleEndian.Uint64(b), binary.LittleEndian.Uint64(b[8:])
	dst = append(dst, `{"$numberDecimal":"`...)
	dst = appendDecimalText(dst, high, low)
	return append(dst, `"}`...)
}

func appendDecimalText(dst []byte, high, low uint64) []byte {
	combination := high >> 58 & 0x1f
	if combination == 0x1f {
		return append(dst, "NaN"...)
	}
	if high>>63 == 1 {
		dst = append(dst, '-')
	}
	if combination == 0x1e {
		return append(dst, "Infinity"...)
	}
	high, low, exponent := splitDecimal(high, low)
	var buf [40]byte
	return appendScientific(dst, appendCoefficient(buf[:0], high, low), exponent)
}

// splitDecimal gives the coefficient and the exponent of a finite decimal. A
// coefficient of more than 34 digits is zero by the standard; so are those that
// begin with 11 after the sign, with an exponent two bits further on.
func splitDecimal(high, low uint64) (coefficientHigh, coefficientLow uint64, exponent int) {
	if high>>61&3 == 3 {
		return 0, 0, int(high>>47&0x3fff) - decimalBias
	}
	exponent = int(high>>49&0x3fff) - decimalBias
	high &= 1<<49 - 1
	if high > maxCoefficientHigh || high == maxCoefficientHigh && low > maxCoefficientLow {
		return 0, 0, exponent
	}
	return high, low, exponent
}

// appendCoefficient writes the 113-bit integer high:low.
func appendCoefficient(dst []byte, high, low uint64) []byte {
	upper, lower := bits.Div64(high, low, tenTo17)
	if upper == 0 {
		return strconv.AppendUint(dst, lower, 10)
	}
	return appendPadded(strconv.AppendUint(dst, upper, 10), lower, 17)
}

// appendScientific writes digits·10^exponent, with an exponent only if it is
// positive or the number smaller than 10^-6.
func appendScientific(dst, digits []byte, exponent int) []byte {
	adjusted := exponent + len(digits) - 1 // of the first digit
	switch {
	case exponent > 0 || adjusted < -6:
		dst = append(dst, digits[0])
		if len(digits) > 1 {
			dst = append(append(dst, '.'), digits[1:]...)
		}
		dst = append(dst, 'E')
		if adjusted >= 0 {
			dst = append(dst, '+')
		}
		return strconv.AppendInt(dst, int64(adjusted), 10)
	case exponent == 0:
		return append(dst, digits...)
	case adjusted >= 0:
		point := len(digits) + exponent
		dst = append(append(dst, digits[:point]...), '.')
		return append(dst, digits[point:]...)
	}
	dst = append(dst, "0."...)
	for range -adjusted - 1 {
		dst = append(dst, '0')
	}
	return append(dst, digits...)
}
