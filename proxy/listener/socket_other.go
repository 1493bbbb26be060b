//go:build !linux

package listener

import "errors"

// openFiles returns how many files the process may open, which is unknown on this system.
func openFiles() uint64 { return 0 }

// openSocket does nothing on this system: the Conn has no socket.
func (c *Conn) openSocket() {}

// Gone reports whether the client has closed the connection, which is unknown on
// this system: work ends at its limits.
func (c *Conn) Gone() bool { return false }

// writeInTurn is not called on this system.
func (c *Conn) writeInTurn() (int64, error) { return 0, errors.ErrUnsupported }
