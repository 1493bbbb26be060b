package raw

import (
	"encoding/binary"
	"unsafe"
)

// Bytes returns numbers as bytes, which Numbers reads on any machine.
func Bytes[N uint32 | uint64](numbers []N) []byte {
	b, _ := binary.Append(nil, binary.LittleEndian, numbers) // fails only for types without a fixed size
	return b
}

// Numbers returns the numbers that Bytes wrote.
func Numbers[N uint32 | uint64](b []byte) []N {
	numbers := make([]N, len(b)/int(unsafe.Sizeof(N(0))))
	_, _ = binary.Decode(b, binary.LittleEndian, numbers) // fails only if b is too short
	return numbers
}
