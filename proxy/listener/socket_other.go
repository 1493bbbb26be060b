//go:build !linux

package listener

import "errors"

// openFiles returns 0, because the limit on open files is unknown on this system.
func openFiles() uint64 { return 0 }

func (c *Conn) openSocket() {}

// minUnsent and maxUnsent are not used on this system, but to send a long response in two parts.
const minUnsent, maxUnsent = 128 << 10, 0

func (c *Conn) limitUnsent(int) {}

// Gone returns false, because this system does not tell whether the client has closed the connection. Work ends at
// its limits instead.
func (c *Conn) Gone() bool { return false }

// writeInTurn is not called on this system.
func (c *Conn) writeInTurn() (int64, error) { return 0, errors.ErrUnsupported }
