package listener

import (
	"bytes"
	"errors"
	"strconv"

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
func (m *bodyMemory) acquire(header []byte, o Options) bool {
	n := bodyLength(header, int64(o.BodyBytes))
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

// bodyLength returns the length of the body that a header announces, or most, the longest that the server reads, if
// it announces none. A long header is no longer there, and announces none.
func bodyLength(header []byte, most int64) int64 {
	for line := range bytes.Lines(header) {
		name, value, _ := bytes.Cut(line, []byte{':'})
		if bytes.EqualFold(name, []byte(fasthttp.HeaderContentLength)) {
			if n, err := strconv.ParseInt(string(bytes.TrimSpace(value)), 10, 64); err == nil {
				return min(n, most)
			}
		}
	}
	return most
}
