package api

import (
	"math"
	"strconv"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/view/index"
	"vitrine/rules/display"
	"vitrine/rules/ejson"
	"vitrine/rules/raw"
)

// The fragments of an activity. The rows of all lists are joined from them. No text is in two of them, so that memory
// holds long citations once. A fragment is JSON that follows the beginning of a row, {"id":"…", or a value that
// follows a key.
//
// The longest row, the row of all-activities, is one fragment, with a comma before it, so that runs of rows are sent
// without copying. The other lists use its parts.
const (
	fragTable  = "table"    // ,{…} for all-activities
	fragID     = "id"       // {"id":"…"
	fragWeb    = "web"      // the web citation as a JSON string; empty if there is none
	fragIcon   = "icon"     // ,"icon":"…" or nothing
	fragMiddle = "all"      // ,"quarter":"…","links":"","search-text":
	fragPrint  = "print"    // the print citation, like the web one
	fragRest   = "all.rest" // ,"start":…,…}
	fragList   = "list"     // ,"type":"…","subtype":"…","year":…}
	fragHTML   = "html"     // ,"year":…,"departments":[…],"link":…}
	fragFull   = "full"     // ,{…} for full=1: the record
)

// activityFragments declares the fragments, with parts in the order of a row. The order of Parts is that of the
// bytes: the index writes them one after the other, so that the whole of fragTable is contiguous memory and each
// named part is a slice of it.
func activityFragments() []index.Fragment {
	return []index.Fragment{
		{Name: fragTable, Parts: []index.Fragment{
			{Encode: literal(",")},
			{Name: fragID, Encode: appendRowID},
			{Encode: literal(`,"activity":`)},
			{Name: fragWeb, Encode: renderedText("web")},
			{Encode: unlessRendered("web", `""`)},
			{Name: fragIcon, Encode: func(dst []byte, row bson.Raw) []byte {
				return appendRendered(dst, row, "icon", "")
			}},
			{Encode: unlessRendered("icon", `,"icon":""`)},
			{Name: fragMiddle, Encode: appendAllMiddle},
			{Name: fragPrint, Encode: renderedText("print")},
			{Encode: unlessRendered("print", `""`)},
			{Name: fragRest, Encode: appendAllRest},
		}},
		{Name: fragList, Encode: appendListRest},
		{Name: fragHTML, Encode: appendHTMLRest},
		{Name: fragFull, Bulky: true, Encode: func(dst []byte, row bson.Raw) []byte {
			return display.AppendRecord(append(dst, ','), row)
		}},
	}
}

// literal returns an encoder that writes the same text for every row.
func literal(text string) func([]byte, bson.Raw) []byte {
	return func(dst []byte, _ bson.Raw) []byte { return append(dst, text...) }
}

// unlessRendered returns an encoder that writes a text for the rows that lack a rendered field. It stands behind
// the fragment of the field, which is then empty, so that the row has a value in either case.
func unlessRendered(field, text string) func([]byte, bson.Raw) []byte {
	return func(dst []byte, row bson.Raw) []byte {
		if _, ok := rendered(row, field); ok {
			return dst
		}
		return append(dst, text...)
	}
}

// appendRowID appends the beginning of a row. It leaves the object open; the last fragment of a row closes it.
func appendRowID(dst []byte, row bson.Raw) []byte {
	return ejson.AppendID(ejson.AppendKey(append(dst, '{'), "id"), fieldOf(row, "_id"))
}

// rendered returns a string field of the rendered document, without copying it. A rendered field of another type
// counts as missing: materialize writes strings only, and a foreign record must not put other JSON where clients
// expect text.
func rendered(row bson.Raw, field string) (bson.RawValue, bool) {
	v := fieldOf(row, "rendered", field)
	return v, v.Type == bson.TypeString
}

// fieldOf returns the value at a path through documents, or the zero value. A start reads some thirty fields of each
// row, and the driver takes half as long again.
func fieldOf(row bson.Raw, path ...string) bson.RawValue {
	e := raw.Element{Type: bson.TypeEmbeddedDocument, Data: row}
	for _, name := range path {
		if e.Type != bson.TypeEmbeddedDocument {
			return bson.RawValue{}
		}
		e, _ = raw.Lookup(e.Data, name)
	}
	return e.Value()
}

// renderedText returns an encoder that writes a rendered field as a JSON string, or nothing if the row lacks it.
func renderedText(field string) func([]byte, bson.Raw) []byte {
	return func(dst []byte, row bson.Raw) []byte {
		if v, ok := rendered(row, field); ok {
			return ejson.Append(dst, v)
		}
		return dst
	}
}

// appendMember appends a member: v if shown is true, or else the JSON text otherwise, or nothing if that is empty.
func appendMember(dst []byte, key string, v bson.RawValue, shown bool, otherwise string) []byte {
	switch {
	case shown:
		return ejson.Append(ejson.AppendKey(dst, key), v)
	case otherwise != "":
		return append(ejson.AppendKey(dst, key), otherwise...)
	}
	return dst
}

// appendRendered is appendMember for a rendered field.
func appendRendered(dst []byte, row bson.Raw, field, otherwise string) []byte {
	v, ok := rendered(row, field)
	return appendMember(dst, field, v, ok, otherwise)
}

// appendStored is appendMember for a stored path. Missing and null values are not shown.
func appendStored(dst []byte, row bson.Raw, otherwise, key string, path ...string) []byte {
	v := display.Stored(path[0], fieldOf(row, path...))
	return appendMember(dst, key, v, !raw.IsNone(v), otherwise)
}

// appendArray is appendMember for a stored array. Any other value becomes []. A field that a record lacks is an
// empty list for clients, never null.
func appendArray(dst []byte, row bson.Raw, key, field string) []byte {
	v := fieldOf(row, field)
	return appendMember(dst, key, v, v.Type == bson.TypeArray, "[]")
}

// appendYear is appendMember for the year, as an integer. A year stored as a string stays one. A form or an import
// may store 2024 as the double 2024.0, which would otherwise be written as 2024.0.
func appendYear(dst []byte, row bson.Raw, otherwise string) []byte {
	v := fieldOf(row, "year")
	if f, ok := v.DoubleOK(); ok && isInteger(f) {
		return strconv.AppendInt(ejson.AppendKey(dst, "year"), int64(f), 10)
	}
	return appendMember(dst, "year", v, !raw.IsNone(v), otherwise)
}

// isInteger reports whether a double is an integer that a double holds exactly. From 2⁵³ on a double skips
// integers, so its digits would claim more than it holds.
func isInteger(f float64) bool { return f == math.Trunc(f) && math.Abs(f) < 1<<53 }

// renderedColumns are the columns that come from the rendered document of an activity.
var renderedColumns = []string{"web", "print", "icon", "type", "subtype", "authors", "title", "departments"}

// renderedValue returns an activity's value for one of renderedColumns. Departments that are not rendered are the
// stored units, as in /api/html.
func renderedValue(doc bson.Raw, name string) bson.RawValue {
	v := doc.Lookup("rendered", name)
	if raw.IsNone(v) && name == "departments" {
		v = doc.Lookup("units")
	}
	return v
}
