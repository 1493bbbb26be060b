package listener

import (
	"errors"
	"strconv"
	"strings"

	"github.com/valyala/fasthttp"
)

// smallBody is the size up to which the body of a request takes no more memory than its connection.
const smallBody = 32 << 10

// errNoMemory reports that too little memory is left for the body of a request.
var errNoMemory = errors.New("too little memory is left for the body of the request")

// bodyMemory is the memory that is acquired for the body of a request, in bytes.
type bodyMemory int64

// acquire acquires memory for the body of a request, most of which has not arrived: the server makes room for all of
// it before it reads. Bodies that arrive with their headers need none. It reports whether enough was free.
func (m *bodyMemory) acquire(h *Head, o Options) bool {
	if o.BodyBytes == nil {
		return true
	}
	n := bodyLength(h, int64(o.BodyBytes()))
	if n <= smallBody {
		return true
	}
	if !o.InFlight.TryAcquireBody(n) {
		return false
	}
	*m = bodyMemory(n)
	return true
}

// release returns the memory.
func (m *bodyMemory) release(to Memory) {
	if *m > 0 {
		to.ReleaseBody(int64(*m))
	}
	*m = 0
}

// bodyLength returns the length of the body that a head announces, or most, the longest that the server reads, if it
// announces none. The memory of a long head is freed by then: h is nil.
func bodyLength(h *Head, most int64) int64 {
	if h == nil {
		return most
	}
	for i := range h.Fields {
		f := &h.Fields[i]
		if !f.Is(fasthttp.HeaderContentLength) {
			continue
		}
		if n, err := strconv.ParseInt(strings.TrimSpace(f.Value), 10, 64); err == nil {
			return min(n, most)
		}
	}
	return most
}
