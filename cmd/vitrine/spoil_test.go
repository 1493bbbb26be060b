package main

import (
	"context"
	"encoding/binary"
	"fmt"
	"io/fs"
	"math"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"vitrine/cache/origin/dump"
)

// wrong is a value that no field expects, encoded as in a document.
type wrong struct {
	name  string
	value bsoncore.Value
}

// wrongValues returns values of every type and its limits, and one that cannot be decoded.
func wrongValues() []wrong {
	var all []wrong
	add := func(name string, kind bsoncore.Type, data []byte) {
		all = append(all, wrong{name, bsoncore.Value{Type: kind, Data: data}})
	}
	text := func(name, s string) { add(name, bsoncore.TypeString, bsoncore.AppendString(nil, s)) }
	number := func(f float64) { add(fmt.Sprint("double ", f), bsoncore.TypeDouble, bsoncore.AppendDouble(nil, f)) }
	array := func(name string, values ...bsoncore.Value) {
		add(name, bsoncore.TypeArray, bsoncore.BuildArray(nil, values...))
	}
	document := func(name string, doc bsoncore.Document) { add(name, bsoncore.TypeEmbeddedDocument, doc) }
	x := bsoncore.Value{Type: bsoncore.TypeString, Data: bsoncore.AppendString(nil, "x")}

	text("empty text", "")
	text("text", "x")
	text("invalid UTF-8", "a\xff\xc0\xaf\xed\xa0\x80z")
	text("control characters", "a\x00b\x1b[31m\u2028\u202e")
	text("markup", "<script>alert(1)</script><img src=x onerror=alert(1)>&\"'")
	text("number as text", "0012")
	text("date as text", "2024-02-31T25:61:61Z")
	text("long text", strings.Repeat("länge ", 2_000))
	number(math.NaN())
	number(math.Inf(1))
	number(math.Inf(-1))
	number(math.Copysign(0, -1))
	number(1e308)
	number(2024.5)
	for _, n := range []int64{math.MinInt64, -1, 0, math.MaxInt64} {
		add(fmt.Sprint("int ", n), bsoncore.TypeInt64, bsoncore.AppendInt64(nil, n))
		add(fmt.Sprint("date ", n), bsoncore.TypeDateTime, bsoncore.AppendDateTime(nil, n))
	}
	add("int32", bsoncore.TypeInt32, bsoncore.AppendInt32(nil, math.MinInt32))
	add("true", bsoncore.TypeBoolean, []byte{1})
	add("null", bsoncore.TypeNull, nil)
	add("undefined", bsoncore.TypeUndefined, nil)
	add("min key", bsoncore.TypeMinKey, nil)
	add("max key", bsoncore.TypeMaxKey, nil)
	add("decimal NaN", bsoncore.TypeDecimal128, bsoncore.AppendDecimal128(nil, 0x7c00000000000000, 0))
	add("decimal infinity", bsoncore.TypeDecimal128, bsoncore.AppendDecimal128(nil, 0xf800000000000000, 0))
	add("decimal", bsoncore.TypeDecimal128, bsoncore.AppendDecimal128(nil, 0x5fffffffffffffff, math.MaxUint64))
	add("object id", bsoncore.TypeObjectID, make([]byte, 12))
	add("binary", bsoncore.TypeBinary, bsoncore.AppendBinary(nil, 4, []byte{1, 2, 3}))
	add("regex", bsoncore.TypeRegex, bsoncore.AppendRegex(nil, "(", "zz"))
	add("code", bsoncore.TypeJavaScript, bsoncore.AppendJavaScript(nil, "while(1);"))
	add("code with scope", bsoncore.TypeCodeWithScope,
		bsoncore.AppendCodeWithScope(nil, "f", bsoncore.NewDocumentBuilder().Build()))
	add("symbol", bsoncore.TypeSymbol, bsoncore.AppendSymbol(nil, "s"))
	add("pointer", bsoncore.TypeDBPointer, bsoncore.AppendDBPointer(nil, "db.c", [12]byte{}))
	add("timestamp", bsoncore.TypeTimestamp, bsoncore.AppendTimestamp(nil, math.MaxUint32, math.MaxUint32))
	array("empty array")
	array("array in array", bsoncore.Value{Type: bsoncore.TypeArray, Data: bsoncore.BuildArray(nil, x)}, x)
	array("mixed array", x, bsoncore.Value{Type: bsoncore.TypeNull},
		bsoncore.Value{Type: bsoncore.TypeEmbeddedDocument, Data: bsoncore.NewDocumentBuilder().Build()})
	many := make([]bsoncore.Value, 500)
	for i := range many {
		many[i] = x
	}
	array("long array", many...)
	document("empty document", bsoncore.NewDocumentBuilder().Build())
	document("odd keys", odd())
	document("ten deep", nested(10))
	document("as deep as can be", nested(197))
	document("a thousand deep", nested(1000))
	broken := nested(3)
	binary.LittleEndian.PutUint32(broken[7:], 1<<20) // the inner document's length
	document("broken", broken)
	return all
}

// unreadable are the wrong values that make a whole record unusable.
var unreadable = map[string]bool{"a thousand deep": true, "broken": true}

// odd returns a document with unusual keys.
func odd() bsoncore.Document {
	b := bsoncore.NewDocumentBuilder()
	for _, key := range []string{"", ".", "a.b", "$gt", "$date", "\xff", "a", "a", strings.Repeat("k", 5000),
		"__proto__"} {
		b.AppendString(key, "x")
	}
	return b.Build()
}

func nested(depth int) bsoncore.Document {
	doc := bsoncore.NewDocumentBuilder().Build()
	for range depth {
		doc = bsoncore.NewDocumentBuilder().AppendDocument("a", doc).Build()
	}
	return doc
}

// demoCollections reads the documents of the demo, or of dumps at paths.
func demoCollections(t testing.TB, from fs.FS, dir string) map[string][]bson.Raw {
	t.Helper()
	d, err := dump.OpenFS(from, dir, dump.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	all := map[string][]bson.Raw{}
	for _, source := range d.Sources {
		for doc, err := range source.Documents(context.Background(), func(int) {}) {
			if err != nil {
				t.Fatal(err)
			}
			all[doc.Collection] = append(all[doc.Collection], doc.Raw)
		}
	}
	return all
}

// specimen returns a record with every field that any of the documents has.
func specimen(docs []bson.Raw) bsoncore.Document {
	var fields []bsoncore.Element
	at := map[string]int{}
	for _, doc := range docs {
		elements, _ := bsoncore.Document(doc).Elements()
		for _, e := range elements {
			i, known := at[e.Key()]
			if !known {
				at[e.Key()] = len(fields)
				fields = append(fields, e)
			} else if len(e) > len(fields[i]) && len(e) < 2000 {
				fields[i] = e // the longer one, which has more to spoil
			}
		}
	}
	return joined(fields)
}

func joined(elements []bsoncore.Element) bsoncore.Document {
	start, dst := bsoncore.AppendDocumentStart(nil)
	for _, e := range elements {
		dst = append(dst, e...)
	}
	dst, _ = bsoncore.AppendDocumentEnd(dst, start)
	return dst
}

// fieldsOf lists the paths of a document's fields, as deep as records go, and only the first
// element of each array.
func fieldsOf(doc bsoncore.Document, depth int) [][]string {
	var paths [][]string
	elements, _ := doc.Elements()
	for i, e := range elements {
		paths = append(paths, []string{e.Key()})
		v := e.Value()
		if inner := v.Data; depth > 1 && (v.Type == bsoncore.TypeEmbeddedDocument || v.Type == bsoncore.TypeArray) {
			for _, below := range fieldsOf(inner, depth-1) {
				if v.Type == bsoncore.TypeArray && below[0] != "0" {
					continue
				}
				paths = append(paths, append([]string{elements[i].Key()}, below...))
			}
		}
	}
	return paths
}

// spoiled returns the document with another value at a path.
func spoiled(doc bsoncore.Document, path []string, v bsoncore.Value) bsoncore.Document {
	elements, _ := doc.Elements()
	for i, e := range elements {
		if e.Key() != path[0] {
			continue
		}
		with := v
		if len(path) > 1 {
			with = e.Value()
			with.Data = spoiled(with.Data, path[1:], v)
		}
		elements[i] = bsoncore.AppendValueElement(nil, e.Key(), with)
	}
	return joined(elements)
}

// with returns the document with another text in one of its fields.
func with(doc bsoncore.Document, field, value string) bsoncore.Document {
	return spoiled(doc, []string{field},
		bsoncore.Value{Type: bsoncore.TypeString, Data: bsoncore.AppendString(nil, value)})
}

// renamed returns the document with a new _id, and new names for references from other records.
func renamed(doc bsoncore.Document, name string) bsoncore.Document {
	for _, key := range []string{"_id", "id", "username"} {
		doc = with(doc, key, name)
	}
	return doc
}
