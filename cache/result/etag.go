package result

import (
	"strconv"

	"github.com/cespare/xxhash/v2"
)

// Tag returns a strong entity tag for content that is never in memory whole. determinedBy determines every byte of
// it.
func Tag(determinedBy string, c Coding) string {
	return tag(xxhash.Sum64String(determinedBy), c)
}

// tag quotes a sum. Each coding has its own tag because a strong tag promises equal bytes.
func tag(sum uint64, c Coding) string {
	text := `"` + strconv.FormatUint(sum, 16)
	if c != Identity {
		text += "-" + string(c)
	}
	return text + `"`
}
