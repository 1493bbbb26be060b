//go:build !linux

package listener

import "errors"

// openSocket does nothing on this system: the Conn has no socket.
func (c *Conn) openSocket() {}

// Gone reports whether the client has closed the connection, which is unknown on
// this system: work ends at its limits.
func (c *Conn) Gone() bool { return false }

// writeInTurn is not called on this system.
func (c *Conn) writeInTurn() (int64, error) { return 0, errors.ErrUnsupported }
