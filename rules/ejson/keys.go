package ejson

import (
	"bytes"
	"cmp"
	"slices"
)

// keyRef is a key of an object that is still open. It has offsets rather than slices: buf moves
// when it grows, and twelve bytes a key keep memory linear in the text.
type keyRef struct {
	sum uint32 // length, first and last byte of the key: if sums differ, the keys differ
	buf uint32 // offset in the parser's buf
	src uint32 // offset in the text
}

// key reads the key at pos and its colon, and appends the key with a final zero. BSON ends a key
// with a zero, so a key cannot contain one.
func (p *parser) key() {
	if p.pos >= len(p.src) || p.src[p.pos] != '"' {
		p.unexpected("a key in double quotes")
	}
	at, start := p.pos, len(p.buf)
	p.text()
	key := p.buf[start:]
	if bytes.IndexByte(key, 0) >= 0 {
		p.fail(at, "a key must not contain \\u0000")
	}
	ref := keyRef{buf: uint32(start), src: uint32(at)}
	if n := len(key); n > 0 {
		ref.sum = uint32(n)<<16 | uint32(key[0])<<8 | uint32(key[n-1])
	}
	p.buf = append(p.buf, 0)
	p.keys = append(p.keys, ref)
	if p.token() != ':' {
		p.unexpected("':'")
	}
	p.pos++
}

// unique fails if a key occurs twice in one object. Sorting keeps the cost of hostile texts at
// n·log n. Most keys differ in their sums, which compares them without a look at their bytes. The
// error names the later of the two.
func (p *parser) unique(keys []keyRef) {
	compare := func(a, b keyRef) int {
		if a.sum != b.sum {
			return cmp.Compare(a.sum, b.sum)
		}
		return bytes.Compare(p.keyBytes(a), p.keyBytes(b))
	}
	slices.SortFunc(keys, func(a, b keyRef) int { return cmp.Or(compare(a, b), cmp.Compare(a.src, b.src)) })
	for i := 1; i < len(keys); i++ {
		if again := keys[i]; compare(keys[i-1], again) == 0 {
			p.fail(int(again.src), "key %.64q is there twice", p.keyBytes(again))
		}
	}
}

// keyBytes returns the key without its final zero.
func (p *parser) keyBytes(k keyRef) []byte {
	rest := p.buf[k.buf:]
	return rest[:bytes.IndexByte(rest, 0)]
}
