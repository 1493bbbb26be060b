package listener

import (
	"bytes"
	"net/http"
)

// SetDate makes the connection send a Date header with another value than the HTTP server's, which always sets the
// current time: a forwarded response keeps its own (RFC 9110: 6.6.1). What is not as long as a date is ignored.
func (c *Conn) SetDate(date string) { c.date = date }

// Date writes the date of SetDate into a header.
func (c *Conn) Date(header []byte) {
	const name = "\r\nDate: "
	if i := bytes.Index(header, []byte(name)); len(c.date) == len(http.TimeFormat) && i >= 0 {
		copy(header[i+len(name):], c.date)
	}
}

// copied returns a copy of the first bytes of a response, with the date of SetDate, in a buffer from writeBuffers.
func (c *Conn) copied(p []byte) *[]byte {
	copied := writeBuffers.Get().(*[]byte)
	*copied = append((*copied)[:0], p...)
	c.Date(*copied)
	c.date = ""
	return copied
}
