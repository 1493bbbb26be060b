package listener

import "time"

// writeChecks is how often, within Options.Write, a write is interrupted to see whether
// the client reads.
const writeChecks = 8

// SetWriteDeadline implements net.Conn. The server sets one for each answer.
func (c *Conn) SetWriteDeadline(t time.Time) error {
	c.until = t
	return nil
}

// SetReadDeadline implements net.Conn. The server sets one for the first byte, perhaps
// after the listener has closed.
func (c *Conn) SetReadDeadline(t time.Time) error {
	if !c.started.Load() && c.listener.closed.Load() {
		t = time.Now().Add(firstByteGrace)
	}
	return c.Conn.SetReadDeadline(t)
}

// nextCheck is when a write is interrupted to see whether the client reads.
func (c *Conn) nextCheck(now time.Time) time.Time {
	if c.listener.options.Write <= 0 {
		return c.until
	}
	next := now.Add(c.listener.options.Write / writeChecks)
	if !c.until.IsZero() && c.until.Before(next) {
		return c.until
	}
	return next
}

// stalled reports whether a client that last read a byte then has had its time.
func (c *Conn) stalled(last, now time.Time) bool {
	if !c.until.IsZero() && !now.Before(c.until) {
		return true
	}
	patience := c.listener.options.Write
	if c.listener.options.InFlight.Short() {
		patience /= 4
	}
	return now.Sub(last) >= patience
}
