package result

import (
	"bytes"
	"context"
	"encoding/binary"
	"hash/crc32"
	"sync"

	"github.com/klauspost/compress/flate"
)

// A gzip body can be joined from blocks compressed separately: a deflate block may end
// at a byte boundary and need not refer to earlier data, and the checksum of the whole
// follows from those of its parts. Every client sees one ordinary member. Other codings
// can only be joined as several members or frames, and some clients stop after the
// first. Hence only gzip is joined.

// deflaters pools compressors: each has some hundred kB of tables.
type deflaters struct{ pool sync.Pool }

// deflate compresses a block that ends at a byte boundary and is not marked as the last.
func (d *deflaters) deflate(plain []byte) ([]byte, error) {
	var out bytes.Buffer
	out.Grow(len(plain)/4 + 64)
	w, ok := d.pool.Get().(*flate.Writer)
	if ok {
		w.Reset(&out)
	} else {
		var err error
		if w, err = flate.NewWriter(&out, flate.DefaultCompression); err != nil {
			return nil, err
		}
	}
	if _, err := w.Write(plain); err != nil {
		return nil, err
	}
	if err := w.Flush(); err != nil {
		return nil, err
	}
	d.pool.Put(w)
	return bytes.Clone(out.Bytes()), nil
}

// Block is a part of a body, compressed separately.
type Block struct {
	data []byte
	sum  uint32 // CRC-32 of the plain bytes
	size uint32 // of the plain bytes; a block is below 4 GB
}

// NewBlock compresses a part of a body without keeping it.
func (c *Cache) NewBlock(plain []byte) (Block, error) {
	data, err := c.deflaters.deflate(plain)
	return Block{data, crc32.ChecksumIEEE(plain), uint32(len(plain))}, err
}

// Block returns the block of that name. It is compressed once while it is kept. The name
// determines every byte that plain returns. Errors are those of Get.
func (c *Cache) Block(ctx context.Context, name string, plain func() []byte) (Block, error) {
	// No answer has an empty View, so its key never equals that of a block.
	a, _, err := c.find(ctx, Key{Query: name, block: true}, func(context.Context) (*Answer, error) {
		b, err := c.NewBlock(plain())
		return &Answer{Body: b.data, sum: b.sum, size: b.size}, err
	})
	if err != nil {
		return Block{}, err
	}
	return Block{a.Body, a.sum, a.size}, nil
}

// Joint joins blocks to one gzip body: the caller sends what Head, Add for each block,
// and Tail return. The zero value is ready.
type Joint struct{ sum, size uint32 }

// Head returns the member's header: deflate, no name, no time, unknown system.
func (*Joint) Head() []byte { return []byte{0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff} }

// Add returns the bytes of the next block. The caller must not change them.
func (j *Joint) Add(b Block) []byte {
	j.sum = combine(j.sum, b.sum, b.size)
	j.size += b.size
	return b.data
}

// Tail returns the end of the body: an empty last block, the checksum and the size modulo 2³².
func (j *Joint) Tail() []byte {
	out := []byte{0x03, 0x00}
	out = binary.LittleEndian.AppendUint32(out, j.sum)
	return binary.LittleEndian.AppendUint32(out, j.size)
}

// combine returns the CRC-32 of two joined parts from the CRC-32 of each and the length
// of the second. A checksum is a remainder modulo a polynomial over the two-element
// field, so appending n bytes multiplies it by x to the power of 8n.
func combine(first, second, n uint32) uint32 {
	factor, power := uint32(1<<31), uint32(1<<23) // 1 and x⁸: the highest bit is x⁰
	for ; n > 0; n >>= 1 {
		if n&1 != 0 {
			factor = multiply(factor, power)
		}
		power = multiply(power, power)
	}
	return multiply(factor, first) ^ second
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
