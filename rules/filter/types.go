package filter

import (
	"strconv"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/rules/raw"
)

// typeNames are the aliases that $type accepts. "number" is missing here, because it names four
// types.
var typeNames = map[string]bson.Type{
	"double":              bson.TypeDouble,
	"string":              bson.TypeString,
	"object":              bson.TypeEmbeddedDocument,
	"array":               bson.TypeArray,
	"binData":             bson.TypeBinary,
	"undefined":           bson.TypeUndefined,
	"objectId":            bson.TypeObjectID,
	"bool":                bson.TypeBoolean,
	"date":                bson.TypeDateTime,
	"null":                bson.TypeNull,
	"regex":               bson.TypeRegex,
	"dbPointer":           bson.TypeDBPointer,
	"javascript":          bson.TypeJavaScript,
	"symbol":              bson.TypeSymbol,
	"javascriptWithScope": bson.TypeCodeWithScope,
	"int":                 bson.TypeInt32,
	"timestamp":           bson.TypeTimestamp,
	"long":                bson.TypeInt64,
	"decimal":             bson.TypeDecimal128,
	"minKey":              bson.TypeMinKey,
	"maxKey":              bson.TypeMaxKey,
}

// typeName returns the alias of a value's type, for $type and for errors. It searches the few names
// rather than keep a second table.
func typeName(v bson.RawValue) string {
	for name, typ := range typeNames {
		if typ == v.Type {
			return name
		}
	}
	return "missing"
}

// typesOf returns the types of a code or an alias in $type, or the reason for refusing it.
// MongoDB's own codes are those of BSON, apart from MinKey.
func typesOf(v bson.RawValue) (types []bson.Type, reason string) {
	if v.Type == bson.TypeString {
		name := raw.Text(v)
		if name == "number" {
			return []bson.Type{bson.TypeDouble, bson.TypeInt32, bson.TypeInt64, bson.TypeDecimal128}, ""
		}
		t, ok := typeNames[name]
		if !ok {
			return nil, "unknown type name " + strconv.Quote(name)
		}
		return []bson.Type{t}, ""
	}
	if !raw.IsNumber(v.Type) {
		return nil, "a type is given by its number or its name"
	}
	code, integral, ok := raw.Truncate(v)
	switch {
	case !ok || !integral:
	case code == 0:
		return nil, "type 0 does not exist; use $exists: false"
	case code >= -1 && code <= 19 || code == 127: // MinKey, 0xff as a byte, is -1
		return []bson.Type{bson.Type(code)}, ""
	}
	return nil, "unknown type number"
}
