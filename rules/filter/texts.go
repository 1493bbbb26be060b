package filter

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/rules/raw"
)

// meaning says how to interpret texts in a comparison; see Options.Texts.
//
//	both: the text and what it converts to; asText: the text alone; asTyped: the converted value alone
type meaning int

const (
	both meaning = iota
	asText
	asTyped
)

// alternatives returns the other values that an operand at a path can mean: its texts converted to
// types, and the ObjectID with the digits of a string that is compared with the record's own _id;
// see Options.Texts and Options.HexIDs. An _id inside of $elemMatch is another field than the
// record's own.
func (p *parser) alternatives(path raw.Path, v bson.RawValue) []bson.RawValue {
	all := p.readings(v)
	if p.o.HexIDs && p.inElem == 0 && path.String() == "_id" && v.Type == bson.TypeString {
		if id, err := bson.ObjectIDFromHex(raw.Text(v)); err == nil {
			all = append(all, bson.RawValue{Type: bson.TypeObjectID, Value: id[:]})
		}
	}
	return all
}

// readings returns an operand with its texts converted to types, or nothing if that changes nothing.
func (p *parser) readings(v bson.RawValue) []bson.RawValue {
	if p.o.Texts {
		if read := convertTexts(v); !read.Equal(v) {
			return []bson.RawValue{read}
		}
	}
	return nil
}

// textual are the operators whose operands may have texts with two meanings, or are texts.
var textual = []string{
	"$eq", "$ne", "$gt", "$gte", "$lt", "$lte", "$in", "$nin", "$all", "$not", "$elemMatch", "$and", "$or", "$nor",
	"$regex", "$options", "$exists",
}

// operandOf returns the operand of an operator. It converts texts, except for the textual operators.
func (p *parser) operandOf(name string, v bson.RawValue) bson.RawValue {
	if p.o.Texts && !slices.Contains(textual, name) {
		return convertTexts(v)
	}
	return v
}

// truth returns the truth value of the operand of $exists. In a URL every operand is a text, so "0"
// and "false" have to mean no.
func (p *parser) truth(v bson.RawValue) bool {
	if p.o.Texts {
		return v.Type == bson.TypeString && !slices.Contains([]string{"", "0", "false"}, raw.Text(v))
	}
	return raw.Truth(v)
}

// convertTexts returns a value with its texts converted to numbers, booleans and null.
func convertTexts(v bson.RawValue) bson.RawValue {
	switch v.Type {
	case bson.TypeString:
		return readJSON(v)
	case bson.TypeArray, bson.TypeEmbeddedDocument:
		var b raw.Builder
		for e := range raw.All(v.Value) {
			b.Add(string(e.Key), convertTexts(e.Value()))
		}
		return b.Finish(v.Type)
	}
	return v
}

// readJSON converts a text that is a number, boolean or null in JSON, and returns other texts unchanged. "007" and
// "1." are not JSON numbers and so stay identifiers, and so do numbers that exceed a double.
//
//	"2020" → 2020, "1.5" → 1.5, "true" → true, "null" → null, "007" → "007"
func readJSON(v bson.RawValue) bson.RawValue {
	text := raw.Text(v)
	var read any
	if strings.TrimSpace(text) != text || json.Unmarshal([]byte(text), &read) != nil {
		return v
	}
	switch read := read.(type) {
	case nil:
		return null
	case bool:
		return raw.NewBool(read)
	case float64:
		if n, err := strconv.ParseInt(text, 10, 64); err == nil {
			return intValue(n, bson.TypeInt64)
		}
		return doubleValue(read)
	}
	return v
}
