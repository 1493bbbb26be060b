package listener

import (
	"errors"
	"io"

	"github.com/valyala/fasthttp"
)

// What the HTTP server, fasthttp, does by habit, and Conn and Stream rely on. TestServer, TestServerEnds and
// TestServerBodies pin it.
//
//   - With ReduceMemoryUsage it holds no buffer while it waits for a request, and so reads a single byte:
//     awaitsRequest. It reads the rest of the head, and bodies, into larger buffers.
//   - It writes a response that is longer than its buffer in two pieces, of which the first has the whole header:
//     Conn.Join. Shorter ones take one piece.
//   - It always sets Date: Conn.SetDate replaces what it has written.
//   - It closes a connection before it returns, also an error: Conn.Close does nothing.
//   - It sends a body of UnknownSize in chunks, and after noLength closes the connection, which then ends the body.
//   - It asks HeaderReceived for the longest body of each request before it reads the body, as Options.BodyBytes says.
//   - It never reads a body that writes itself (fasthttp.BodyWriterTo): SetPieces.

// UnknownSize is the size of a stream whose length is not known when its response begins.
const UnknownSize = -1

// noLength is the content length of a response with neither a length nor chunks.
const noLength = -2

// awaitsRequest reports whether the HTTP server waits for a request, given the buffer into which it reads.
func awaitsRequest(buffer []byte) bool { return len(buffer) == 1 }

// Pieces is a body that writes itself, one piece after the other.
type Pieces interface {
	io.WriterTo
	io.Closer
}

// SetPieces makes pieces of size bytes, or UnknownSize, the body of a response. It closes them after they are sent.
func SetPieces(c *fasthttp.RequestCtx, body Pieces, size int) { SetStream(c, unread{body}, size) }

// unread is Pieces in the place of a reader.
type unread struct{ Pieces }

// Read implements io.Reader. The HTTP server calls WriteTo instead.
func (unread) Read([]byte) (int, error) { return 0, errors.ErrUnsupported }
