package filter

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/rules/raw"
)

func (n *AndNode) appendKey(dst []byte) []byte { return appendSorted(dst, '&', n.Nodes) }

func (n *OrNode) appendKey(dst []byte) []byte { return appendSorted(dst, '|', n.Nodes) }

func (n *NotNode) appendKey(dst []byte) []byte { return n.Node.appendKey(append(dst, '!')) }

func (n *Leaf) appendKey(dst []byte) []byte {
	return n.Test.appendKey(strconv.AppendQuote(dst, n.Path.String()))
}

func (n *Elem) appendKey(dst []byte) []byte {
	dst = append(strconv.AppendQuote(dst, n.Path.String()), "$elemMatch"...)
	if n.Value != nil {
		return append(n.Value.appendKey(append(dst, '<')), '>')
	}
	return append(n.Node.appendKey(append(dst, '{')), '}')
}

func (n *ExprNode) appendKey(dst []byte) []byte { return append(append(dst, "$expr"...), n.key...) }

// appendSorted appends the keys of independent conditions, in an order of their own
// and without repetition; one alone needs no sign of how it is joined.
func appendSorted(dst []byte, sign byte, nodes []Node) []byte {
	keys := make([][]byte, len(nodes))
	for i, n := range nodes {
		keys[i] = n.appendKey(nil)
	}
	slices.SortFunc(keys, bytes.Compare)
	keys = slices.CompactFunc(keys, bytes.Equal)
	if len(keys) == 1 {
		return append(dst, keys[0]...)
	}
	dst = append(dst, sign, '(')
	for i, k := range keys {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, k...)
	}
	return append(dst, ')')
}

func (c *Compare) appendKey(dst []byte) []byte {
	return appendValue(append(dst, c.Op.String()...), c.Value, false)
}

func (in *In) appendKey(dst []byte) []byte {
	dst = append(dst, "$in["...)
	for _, v := range in.Values {
		dst = append(appendValue(dst, v, false), ',')
	}
	var keys [][]byte
	for _, re := range in.Regexes {
		keys = append(keys, re.appendKey(nil))
	}
	slices.SortFunc(keys, bytes.Compare)
	return append(append(dst, bytes.Join(keys, []byte(","))...), ']')
}

func (re *Regex) appendKey(dst []byte) []byte {
	dst = strconv.AppendQuote(append(dst, '/'), re.Pattern)
	return append(append(dst, '/'), re.Options()...)
}

func (*Exists) appendKey(dst []byte) []byte { return append(dst, "$exists"...) }

func (t *Type) appendKey(dst []byte) []byte {
	return fmt.Appendf(dst, "$type %d", t.Types)
}

func (m *Mod) appendKey(dst []byte) []byte {
	return fmt.Appendf(dst, "$mod %d %d", m.Divisor, m.Remainder)
}

func (s *Size) appendKey(dst []byte) []byte { return fmt.Appendf(dst, "$size %d", s.N) }

func (b *Bits) appendKey(dst []byte) []byte {
	return fmt.Appendf(dst, "%s %d", b.Op, b.Positions)
}

// appendValue appends a text that is equal for values that compare equal, apart
// from fractions written as double and as decimal128. If exact, it distinguishes the
// number types, for $expr, which computes with them.
func appendValue(dst []byte, v bson.RawValue, exact bool) []byte {
	if !exact && raw.IsNumber(v.Type) {
		return appendNumber(dst, v)
	}
	switch v.Type {
	case bson.TypeNull:
		return append(dst, "null"...)
	case bson.TypeBoolean:
		return strconv.AppendBool(dst, raw.Truth(v))
	case bson.TypeString, bson.TypeSymbol:
		return strconv.AppendQuote(dst, raw.Text(v))
	case bson.TypeEmbeddedDocument, bson.TypeArray:
		opening, closing := byte('{'), byte('}')
		if v.Type == bson.TypeArray {
			opening, closing = '[', ']'
		}
		dst = append(dst, opening)
		r := raw.Read(v.Value)
		for e, ok := r.Next(); ok; e, ok = r.Next() {
			if v.Type == bson.TypeEmbeddedDocument {
				dst = append(strconv.AppendQuote(dst, string(e.Key)), ':')
			}
			dst = append(appendValue(dst, e.Value(), exact), ',')
		}
		return append(dst, closing)
	}
	return fmt.Appendf(dst, "#%d:%x", uint8(v.Type), v.Value)
}

// appendNumber appends whole numbers within 64 bits alike for all types.
func appendNumber(dst []byte, v bson.RawValue) []byte {
	if n, integral, ok := raw.Truncate(v); ok && integral {
		return strconv.AppendInt(dst, n, 10)
	}
	if v.Type == bson.TypeDouble {
		return strconv.AppendFloat(dst, raw.Double(v), 'g', -1, 64)
	}
	n := raw.NumberOf(v)
	switch n.Kind {
	case raw.NumberNaN:
		return append(dst, "NaN"...)
	case raw.NumberNegInf:
		return append(dst, "-Inf"...)
	case raw.NumberPosInf:
		return append(dst, "+Inf"...)
	}
	dst = append(dst, 'm')
	if n.Kind == raw.NumberNegative {
		dst = append(dst, '-')
	}
	dst = append(append(dst, n.Digits...), 'e')
	return strconv.AppendInt(dst, int64(n.Exp-len(n.Digits)), 10)
}
