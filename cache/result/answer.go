package result

import (
	"time"

	"github.com/cespare/xxhash/v2"
)

// overhead is roughly the size of an entry without its body: the answer, its tag and the cache's own record of it.
const overhead = 512

// Answer is a computed response. It is immutable and shared.
type Answer struct {
	Body        []byte
	ETag        string // strong, quoted tag of the body in its coding; empty if there is no body
	ContentType string
	Coding      Coding    // coding of Body
	Links       string    // the value of its Link header, or empty
	Ignored     string    // parts of the request that the answer ignores, as reported to the client
	Made        time.Time // when its rows had been read; zero if it has none
	// TooLarge says that the plain body is too large to keep, which saves another attempt. Body is then the
	// compressed one, or nil, and the caller makes the plain one while sending.
	TooLarge       bool
	Incompressible bool // the body is too large even when compressed

	holders  int       // number of holders; guarded by inFlight
	kept     bool      // in the budget for large kept answers; guarded by inFlight
	counted  bool      // in flight; guarded by inFlight
	inFlight *InFlight // set by the first Retain
}

// NewAnswer returns an uncompressed answer with the strong tag of its body. It keeps body.
func NewAnswer(body []byte, contentType string) *Answer {
	return &Answer{
		Body:        body,
		ETag:        tag(xxhash.Sum64(body), Identity),
		ContentType: contentType,
	}
}

// minCompressed is the size from which a body is compressed. A smaller one fits in one packet anyway.
const minCompressed = 1024

// in returns the plain answer in a coding, or a itself if it is small or would not become smaller.
func (a *Answer) in(c Coding) (*Answer, error) {
	if c == a.Coding || a.TooLarge || len(a.Body) < minCompressed {
		return a, nil
	}
	body, err := compress(a.Body, c)
	if err != nil {
		return nil, err
	}
	if len(body) >= len(a.Body) {
		return a, nil
	}
	return &Answer{
		Body: body, ETag: tag(xxhash.Sum64(a.Body), c), ContentType: a.ContentType, Coding: c,
		Links: a.Links, Ignored: a.Ignored, Made: a.Made,
	}, nil
}

func (a *Answer) cost() int64 { return int64(cap(a.Body)+len(a.Links)) + overhead }
