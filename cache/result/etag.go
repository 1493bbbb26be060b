package result

import (
	"strconv"

	"github.com/cespare/xxhash/v2"
)

// Tag returns a strong entity tag for content that is never in memory as a whole, from
// a text that determines every byte of the content.
func Tag(determinedBy string, c Coding) string {
	return tag(xxhash.Sum64String(determinedBy), c)
}

// tag quotes a sum. Each coding has its own tag because a strong tag promises equal bytes.
func tag(sum uint64, c Coding) string {
	b := make([]byte, 0, 24)
	b = append(b, '"')
	b = strconv.AppendUint(b, sum, 16)
	if c != Identity {
		b = append(b, '-')
		b = append(b, c...)
	}
	return string(append(b, '"'))
}
