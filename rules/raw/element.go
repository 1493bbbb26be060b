package raw

import (
	"bytes"
	"iter"
	"unsafe"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// Element is one element of a BSON document or array; its slices point into the document.
type Element struct {
	Key  []byte
	Type bson.Type
	Data []byte
}

// Value returns the element's value.
func (e Element) Value() bson.RawValue { return bson.RawValue{Type: e.Type, Value: e.Data} }

// Reader iterates over a document or array. What follows a malformed element counts as missing.
type Reader struct{ rest []byte }

// Read starts reading the elements of an encoded document or array.
func Read(doc []byte) Reader { return Reader{rest: Body(doc)} }

// Body returns the bytes between a document's length and its final zero, or nil if the document is malformed.
func Body(doc []byte) []byte {
	n := prefixed(doc, 0, MinDocument)
	if n < 0 {
		return nil
	}
	return doc[4 : n-1]
}

// Next returns the next element. It returns false at the end or at a malformed element; of the latter it returns the
// name if that is readable.
func (r *Reader) Next() (Element, bool) {
	b := r.rest
	if len(b) < 2 {
		return Element{}, false
	}
	end := bytes.IndexByte(b[1:], 0)
	if end < 0 {
		return Element{}, false
	}
	value := b[end+2:]
	n := Size(bson.Type(b[0]), value)
	if n < 0 {
		return Element{Key: b[1 : end+1]}, false
	}
	r.rest = value[n:]
	return Element{Key: b[1 : end+1], Type: bson.Type(b[0]), Data: value[:n:n]}, true
}

// Faulty reports whether Next stopped before the document's end.
func (r *Reader) Faulty() bool { return len(r.rest) > 0 }

// All yields the elements of an encoded document or array, as a Reader does.
func All(doc []byte) iter.Seq[Element] {
	return func(yield func(Element) bool) {
		r := Read(doc)
		for e, ok := r.Next(); ok && yield(e); e, ok = r.Next() {
		}
	}
}

// Lookup returns the first element with a name. With Reader.Next a filter would take a third longer.
func Lookup(doc []byte, name string) (Element, bool) {
	for b := Body(doc); len(b) >= 2; {
		var end int
		found := len(b) > len(name)+1 && b[len(name)+1] == 0 && string(b[1:len(name)+1]) == name
		if found {
			end = len(name)
		} else if end = bytes.IndexByte(b[1:], 0); end < 0 {
			break
		}
		value := b[end+2:]
		n := Size(bson.Type(b[0]), value)
		if n < 0 {
			break
		}
		if found {
			return Element{Key: b[1 : end+1], Type: bson.Type(b[0]), Data: value[:n:n]}, true
		}
		b = value[n:]
	}
	return Element{}, false
}

// Size returns how many bytes of b a value of type t takes, or -1 if b is too short, a length is wrong, or the type
// is unknown. It does not check the elements of documents.
func Size(t bson.Type, b []byte) int {
	n := -1
	switch t {
	case bson.TypeDouble, bson.TypeDateTime, bson.TypeTimestamp, bson.TypeInt64:
		n = 8
	case bson.TypeInt32:
		n = 4
	case bson.TypeString, bson.TypeJavaScript, bson.TypeSymbol:
		return terminated(b, prefixed(b, 4, 1))
	case bson.TypeEmbeddedDocument, bson.TypeArray:
		return terminated(b, prefixed(b, 0, MinDocument))
	case bson.TypeBoolean:
		n = 1
	case bson.TypeNull, bson.TypeUndefined, bson.TypeMinKey, bson.TypeMaxKey:
		n = 0
	case bson.TypeObjectID:
		n = 12
	case bson.TypeBinary:
		n = prefixed(b, 5, 0)
	case bson.TypeDecimal128:
		n = 16
	case bson.TypeRegex:
		if i := bytes.IndexByte(b, 0); i >= 0 {
			if j := bytes.IndexByte(b[i+1:], 0); j >= 0 {
				n = i + j + 2
			}
		}
	case bson.TypeDBPointer:
		if n = terminated(b, prefixed(b, 4, 1)); n > 0 {
			n += 12
		}
	case bson.TypeCodeWithScope:
		return scopedSize(b)
	}
	if n > len(b) {
		return -1
	}
	return n
}

// terminated returns n, a result of prefixed, if b[n-1] is a zero byte, and -1 otherwise.
func terminated(b []byte, n int) int {
	if n < 1 || b[n-1] != 0 {
		return -1
	}
	return n
}

// scopedSize is Size for code with scope: its length, a string and a document.
func scopedSize(b []byte) int {
	n := prefixed(b, 0, 4+5+MinDocument)
	if n < 0 {
		return -1
	}
	code := Size(bson.TypeString, b[4:n])
	if code < 0 || Size(bson.TypeEmbeddedDocument, b[4+code:n]) != n-4-code {
		return -1
	}
	return n
}

// prefixed returns extra plus the length at the start of b. It returns -1 if the length is missing or less than
// least, or the sum exceeds b.
func prefixed(b []byte, extra, least int) int {
	if len(b) < 4 {
		return -1
	}
	n := int(Length(b))
	if n < least || n+extra > len(b) {
		return -1
	}
	return n + extra
}

// Text returns the content of a string, symbol or code value without copying. It is valid as long as the value is.
// The text of a malformed value is empty.
func Text(v bson.RawValue) string {
	return String(textBytes(v.Value))
}

// String returns bytes of a document as a string without copying them: documents are never written to.
func String(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }

// textBytes returns the content of a length-prefixed, zero-terminated string.
func textBytes(b []byte) []byte {
	n := prefixed(b, 4, 1)
	if n < 0 {
		return nil
	}
	return b[4 : n-1]
}

// RegexParts returns pattern and options of a regular expression value.
func RegexParts(b []byte) (pattern, options []byte) {
	pattern, rest, _ := bytes.Cut(b, []byte{0})
	options, _, _ = bytes.Cut(rest, []byte{0})
	return pattern, options
}

// ScopedParts returns the code and the scope of a code with scope value.
func ScopedParts(b []byte) (code, scope []byte) {
	if len(b) < 8 {
		return nil, nil
	}
	n := prefixed(b[4:], 4, 1)
	if n < 0 {
		return nil, nil
	}
	return textBytes(b[4:]), b[4+n:]
}

// Get returns the value under a name in a document, or the zero RawValue.
func Get(doc []byte, name string) bson.RawValue {
	e, _ := Lookup(doc, name)
	return e.Value()
}

// StringField returns the string under a name in a document, or "".
func StringField(doc bson.Raw, name string) string {
	s, _ := Get(doc, name).StringValueOK()
	return s
}

// IsText reports whether a type holds text that regular expressions can match.
func IsText(t bson.Type) bool { return t == bson.TypeString || t == bson.TypeSymbol }
