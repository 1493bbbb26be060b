package response

import (
	"strconv"
	"strings"

	"vitrine/cache/result"
)

// An answer in memory has a tag of its bytes, which stays the same in a new generation if the bytes do
// (cache/result/etag.go). A streamed one must have its tag before its bytes exist.

// streamTag returns the tag of an answer never in memory as a whole: a hash of the key, which determines the bytes.
func streamTag(k *result.Key) string {
	by := k.View + "\x00" + k.Epoch + "\x00" + strconv.FormatUint(k.Generation, 36) + " " +
		strconv.FormatInt(k.Published, 36) + "\x00" + k.Query
	return result.Tag(by, k.Coding)
}

// unchanged reports whether the caller already has the answer with a tag (RFC 9110: 13.2.2).
func (f *fields) unchanged(etag string) bool {
	if f.hasNoneMatch {
		return matches(f.noneMatch, etag)
	}
	return f.unmodified
}

// matches reports whether If-None-Match is "*" or contains a tag, compared weakly (RFC 9110, 13.1.2).
func matches(header, etag string) bool {
	if strings.TrimSpace(header) == "*" {
		return true
	}
	for item := range strings.SplitSeq(header, ",") { // our tags contain no comma
		if strings.TrimPrefix(strings.TrimSpace(item), "W/") == etag {
			return true
		}
	}
	return false
}
