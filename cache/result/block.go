package result

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"hash/crc32"

	"github.com/klauspost/compress/flate"
)

// A gzip body can be joined from blocks compressed separately: a deflate block may end
// at a byte boundary and need not refer to earlier data, and the checksum of the whole
// follows from those of its parts. Every client sees one ordinary member. Other codings
// can only be joined as several members or frames, and some clients stop after the
// first. Hence only gzip is joined.

// Block is a part of a body, compressed separately: an Answer whose Body ends at a byte
// boundary and is not marked as the last. Its size is below 4 GB.
type Block = *Answer

// NewBlock compresses a part of a body without keeping it.
func (c *Cache) NewBlock(plain []byte) (Block, error) {
	var out bytes.Buffer
	out.Grow(len(plain)/4 + 64)
	w, ok := c.deflaters.Get().(*flate.Writer)
	if !ok {
		var err error
		if w, err = flate.NewWriter(nil, flate.DefaultCompression); err != nil {
			return nil, err
		}
	}
	w.Reset(&out)
	_, err := w.Write(plain)
	if err = cmp.Or(err, w.Flush()); err != nil {
		return nil, err
	}
	c.deflaters.Put(w)
	size := uint32(len(plain))
	return &Answer{Body: bytes.Clone(out.Bytes()), crc: crc32.ChecksumIEEE(plain), size: size, shift: shift(size)}, nil
}

// Block returns the block of that name. It is not compressed again while it is kept. The name
// determines every byte that plain returns.
func (c *Cache) Block(name string, plain func() []byte) (Block, error) {
	key := Key{Query: name, kind: blocks}
	if b, ok := c.lookup(key); ok {
		return b, nil
	}
	c.stats.loads.Add(1)
	b, err := c.NewBlock(plain())
	if err == nil && c.beginLoad() {
		defer c.loads.Done()
		c.store(key, b)
	}
	return b, err
}

// Joint joins blocks to one gzip body: the caller sends what Head, Add for each block,
// and Tail return. The zero value is ready.
type Joint struct{ crc, size uint32 } // of the plain bytes so far

// Head returns the member's header: deflate, no name, no time, unknown system.
func (*Joint) Head() []byte { return []byte{0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff} }

// Add returns the bytes of the next block. The caller must not change them.
func (j *Joint) Add(b Block) []byte {
	j.crc = multiply(b.shift, j.crc) ^ b.crc
	j.size += b.size
	return b.Body
}

// Tail returns the end of the body: an empty last block, the checksum and the size modulo 2³².
func (j *Joint) Tail() []byte {
	out := []byte{0x03, 0x00}
	out = binary.LittleEndian.AppendUint32(out, j.crc)
	return binary.LittleEndian.AppendUint32(out, j.size)
}

// shift returns by what the CRC-32 of a text is multiplied when n bytes are appended, to which
// their own is then added: a checksum is a remainder modulo a polynomial over the two-element
// field, so that each byte multiplies it by x⁸.
func shift(n uint32) uint32 {
	factor, power := uint32(1<<31), uint32(1<<23) // 1 and x⁸: the highest bit is x⁰
	for ; n > 0; n >>= 1 {
		if n&1 != 0 {
			factor = multiply(factor, power)
		}
		power = multiply(power, power)
	}
	return factor
}

// multiply returns the product of two polynomials modulo that of CRC-32.
func multiply(a, b uint32) (product uint32) {
	for ; a != 0; a <<= 1 {
		if a&(1<<31) != 0 {
			product ^= b
		}
		carry := b & 1
		b >>= 1
		if carry != 0 {
			b ^= crc32.IEEE
		}
	}
	return product
}
