package result

import (
	"strconv"

	"github.com/cespare/xxhash/v2"
)

// overhead is about what an entry costs beside its body, in bytes: the answer, its tag,
// and what the cache notes of it.
const overhead = 512

// Answer is a computed response. It is immutable and shared.
type Answer struct {
	Body        []byte
	ETag        string // strong, quoted, of the body in its coding; empty where TooLarge
	ContentType string
	Coding      Coding // how Body is coded
	Count       int    // records the answer speaks of
	Ignored     string // what of the question it does not depend on, as it is told; empty: nothing
	// TooLarge says that the body is not worth keeping; Body is nil and whoever
	// asked makes it while sending. Remembering this saves the next attempt.
	TooLarge bool

	sum, size uint32 // of a block, see there
	holders   int    // guarded by InFlight
}

// NewAnswer returns a plain answer with the strong tag of its body. It keeps body.
func NewAnswer(body []byte, contentType string, count int) *Answer {
	return &Answer{
		Body:        body,
		ETag:        tag(xxhash.Sum64(body), Identity),
		ContentType: contentType,
		Count:       count,
	}
}

// Tag returns a strong entity tag for content that is never held as a whole,
// from a text that determines every byte of it.
func Tag(determinedBy string, c Coding) string {
	return tag(xxhash.Sum64String(determinedBy), c)
}

// tag quotes a sum; codings have tags of their own because a strong tag promises the same bytes.
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

// in returns the answer in a coding; itself where it is shorter than least, or
// compressing gains nothing.
func (a *Answer) in(c Coding, least int) (*Answer, error) {
	if a.TooLarge || len(a.Body) < least {
		return a, nil
	}
	body, err := compress(a.Body, c)
	if err != nil {
		return nil, err
	}
	if len(body) >= len(a.Body) {
		return a, nil
	}
	return &Answer{Body: body, ETag: tag(xxhash.Sum64(a.Body), c), ContentType: a.ContentType, Coding: c, Count: a.Count, Ignored: a.Ignored}, nil
}

// cost is what the answer takes of the budget, in bytes.
func (a *Answer) cost() int64 { return int64(cap(a.Body)) + overhead }
