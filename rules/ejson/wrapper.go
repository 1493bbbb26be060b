package ejson

import (
	"errors"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// plain is the type that says: the object is no wrapper.
const plain = bson.TypeEmbeddedDocument

// object reads the object at pos, as the value it stands for if it is a wrapper.
func (p *parser) object(depth int) (bson.Type, error) {
	at, start := p.pos, len(p.buf)
	n, err := p.document(depth)
	if err != nil {
		return 0, err
	}
	const firstKey = 4 + 1 // after the length and the type of the first element
	if n == 0 || n > 2 || p.buf[start+firstKey] != '$' {
		return plain, nil
	}
	return p.unwrap(at, start, n)
}

// unwrap replaces the document of one or two elements that buf has from start on by
// the value it stands for. It is written behind the document first, so that it may
// be made from the document's bytes, and then moved to its place.
func (p *parser) unwrap(at, start, n int) (bson.Type, error) {
	elements, _ := body(p.buf[start:])
	e, rest, _ := next(elements)
	end := len(p.buf)
	var t bson.Type
	var err error
	if n == 1 {
		p.buf, t, err = p.appendSingle(p.buf, e)
	} else {
		second, _, _ := next(rest)
		e, second = leading(e, second)
		p.buf, t, err = p.appendPair(p.buf, e, second)
	}
	if err != nil {
		return 0, p.fail(at, "%s: %v", e.key, err)
	}
	if t == plain {
		return plain, nil
	}
	p.buf = p.buf[:start+copy(p.buf[start:], p.buf[end:])]
	return t, nil
}

// appendSingle appends the value that an object with the one element e stands for,
// and returns its type: plain, and nothing appended, if e's key is no wrapper's.
func (p *parser) appendSingle(dst []byte, e element) ([]byte, bson.Type, error) {
	switch string(e.key) {
	case "$oid":
		return unwrapObjectID(dst, e.value)
	case "$date":
		return unwrapDate(dst, e.value)
	case "$numberInt":
		return unwrapInt32(dst, e.value)
	case "$numberLong":
		return unwrapInt64(dst, e.value)
	case "$numberDouble":
		return unwrapDouble(dst, e.value)
	case "$numberDecimal":
		return unwrapDecimal(dst, e.value)
	case "$binary":
		return unwrapBinary(dst, e.value)
	case "$uuid":
		return unwrapUUID(dst, e.value)
	case "$regularExpression":
		return unwrapRegex(dst, e.value)
	case "$timestamp":
		return unwrapTimestamp(dst, e.value)
	case "$dbPointer":
		return unwrapDBPointer(dst, e.value)
	case "$symbol":
		return unwrapString(dst, e.value, bson.TypeSymbol)
	case "$code":
		return unwrapString(dst, e.value, bson.TypeJavaScript)
	case "$minKey":
		return unwrapKey(dst, e.value, bson.TypeMinKey)
	case "$maxKey":
		return unwrapKey(dst, e.value, bson.TypeMaxKey)
	case "$undefined":
		return unwrapUndefined(dst, e.value)
	case "$regex":
		if p.opts.RegexValues && e.t == bson.TypeString {
			return putRegex(dst, e.value, value{})
		}
	}
	return dst, plain, nil
}

// appendPair is appendSingle for an object of two elements.
func (p *parser) appendPair(dst []byte, e, second element) ([]byte, bson.Type, error) {
	switch string(e.key) {
	case "$binary":
		if string(second.key) == "$type" {
			return putBinary(dst, e.value, second.value)
		}
	case "$code":
		if string(second.key) == "$scope" {
			return unwrapCode(dst, e.value, second.value)
		}
	case "$regex":
		if p.opts.RegexValues && string(second.key) == "$options" &&
			e.t == bson.TypeString && second.t == bson.TypeString {
			return putRegex(dst, e.value, second.value)
		}
	}
	return dst, plain, nil
}

// leading puts the element first that names the type, of those wrappers that have
// two.
func leading(a, b element) (first, second element) {
	switch string(a.key) {
	case "$type", "$scope", "$options":
		return b, a
	}
	return a, b
}

// members are the values under the two keys that a document consists of, in the
// order of the keys asked for.
func members(v value, key1, key2 string) (v1, v2 value, err error) {
	if v.t == bson.TypeEmbeddedDocument {
		elements, _ := body(v.b)
		a, rest, _ := next(elements)
		b, rest, _ := next(rest)
		switch {
		case len(rest) > 0:
		case string(a.key) == key1 && string(b.key) == key2:
			return a.value, b.value, nil
		case string(a.key) == key2 && string(b.key) == key1:
			return b.value, a.value, nil
		}
	}
	return value{}, value{}, errors.New("wants an object of " + key1 + " and " + key2)
}
