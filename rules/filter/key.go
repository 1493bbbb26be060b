package filter

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/rules/raw"
)

// Every text in a key is quoted or of fixed form, so no caller can write a value that looks like
// the key of another filter.
func (n *AndNode) appendKey(dst []byte) []byte { return appendSorted(dst, '&', n.Nodes) }

func (n *OrNode) appendKey(dst []byte) []byte { return appendSorted(dst, '|', n.Nodes) }

func (n *NotNode) appendKey(dst []byte) []byte { return n.Node.appendKey(append(dst, '!')) }

func (n *Leaf) appendKey(dst []byte) []byte {
	dst = strconv.AppendQuote(dst, n.Path.String())
	switch t := n.Test.(type) {
	case *Compare:
		return appendValue(append(dst, t.Op.String()...), t.Value, false)
	case *In:
		return t.appendKey(dst)
	case *Regex:
		return t.appendKey(dst)
	}
	return fmt.Appendf(dst, "%T%v", n.Test, n.Test) // the other tests consist of numbers
}

func (n *Elem) appendKey(dst []byte) []byte {
	dst = append(strconv.AppendQuote(dst, n.Path.String()), "$elemMatch"...)
	if n.Value != nil {
		return append(n.Value.appendKey(append(dst, '<')), '>')
	}
	return append(n.Node.appendKey(append(dst, '{')), '}')
}

func (n *ExprNode) appendKey(dst []byte) []byte { return append(append(dst, "$expr"...), n.key...) }

// appendSorted appends the keys of independent conditions, sorted and without duplicates. A single
// condition has no operator, so that {$and: [{a: 1}]} and {a: 1} have one key.
func appendSorted(dst []byte, sign byte, nodes []Node) []byte {
	keys := make([][]byte, len(nodes))
	for i, n := range nodes {
		keys[i] = n.appendKey(nil)
	}
	slices.SortFunc(keys, bytes.Compare)
	keys = slices.CompactFunc(keys, bytes.Equal)
	joined := bytes.Join(keys, []byte(","))
	if len(keys) == 1 {
		return append(dst, joined...)
	}
	return append(append(append(dst, sign, '('), joined...), ')')
}

// appendKey relies on the order of Values. Regexes are in the caller's order, which does not
// matter.
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

// appendValue appends a text that is equal for values that compare equal. exact distinguishes number types, for
// $expr.
//
//	1, 1.0 and NumberDecimal("1") → the same text, unless exact
//	"1" → "1" in quotes
func appendValue(dst []byte, v bson.RawValue, exact bool) []byte {
	if !exact && raw.IsNumber(v.Type) {
		n := raw.NumberOf(v)
		return fmt.Appendf(dst, "%d.%se%d", n.Kind, n.Digits, n.Exp)
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
		for e := range raw.All(v.Value) {
			if v.Type == bson.TypeEmbeddedDocument {
				dst = append(strconv.AppendQuote(dst, string(e.Key)), ':')
			}
			dst = append(appendValue(dst, e.Value(), exact), ',')
		}
		return append(dst, closing)
	}
	return fmt.Appendf(dst, "#%d:%x", uint8(v.Type), v.Value)
}
