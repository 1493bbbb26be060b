package ejson

import (
	"bytes"
	"cmp"
	"slices"
)

// maxPairwise is the number of keys up to which comparing each with each is faster
// than sorting them.
const maxPairwise = 64

// keyRef is a key of an object that is still open.
type keyRef struct {
	sum uint32 // of length, first and last byte: keys that differ here differ
	buf uint32 // where it starts in the parser's buf
	src uint32 // where it starts in the text
}

// key reads the key at pos, ends it as BSON does and notes it.
func (p *parser) key() error {
	at, start := p.pos, len(p.buf)
	if err := p.text(); err != nil {
		return err
	}
	key := p.buf[start:]
	if bytes.IndexByte(key, 0) >= 0 {
		return p.fail(at, "a key must not contain \\u0000")
	}
	ref := keyRef{buf: uint32(start), src: uint32(at)}
	if n := len(key); n > 0 {
		ref.sum = uint32(n)<<16 | uint32(key[0])<<8 | uint32(key[n-1])
	}
	p.buf = append(p.buf, 0)
	p.keys = append(p.keys, ref)
	return nil
}

// unique reports a key that occurs twice among those of one object. It may reorder
// them. The cost stays n·log n however many keys a hostile text brings.
func (p *parser) unique(keys []keyRef) error {
	if len(keys) > maxPairwise {
		return p.uniqueSorted(keys)
	}
	for i := 1; i < len(keys); i++ {
		for j := range i {
			if keys[i].sum == keys[j].sum && bytes.Equal(p.keyBytes(keys[i]), p.keyBytes(keys[j])) {
				return p.repeated(keys[i])
			}
		}
	}
	return nil
}

// uniqueSorted is unique for many keys.
func (p *parser) uniqueSorted(keys []keyRef) error {
	slices.SortFunc(keys, func(a, b keyRef) int {
		if a.sum != b.sum {
			return cmp.Compare(a.sum, b.sum)
		}
		return cmp.Or(bytes.Compare(p.keyBytes(a), p.keyBytes(b)), cmp.Compare(a.src, b.src))
	})
	for i := 1; i < len(keys); i++ {
		if keys[i].sum == keys[i-1].sum && bytes.Equal(p.keyBytes(keys[i]), p.keyBytes(keys[i-1])) {
			return p.repeated(keys[i])
		}
	}
	return nil
}

func (p *parser) repeated(k keyRef) error {
	return p.fail(int(k.src), "key %.64q is there twice", p.keyBytes(k))
}

// keyBytes is the key without the NUL that ends it.
func (p *parser) keyBytes(k keyRef) []byte {
	rest := p.buf[k.buf:]
	return rest[:bytes.IndexByte(rest, 0)]
}
