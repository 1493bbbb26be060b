package listener

import "time"

// deadline is the deadline of the network connection. Setting it costs time in each request, so a connection keeps
// its deadline if the next would be only a little later. The HTTP server has no time limits of its own, because it
// would read the clock for each.
type deadline struct {
	at    time.Time
	slack time.Duration
}

// slackShare is the part of its duration by which a deadline may expire early.
const slackShare = 16

// moves reports whether the connection must set a deadline, and if so records it as set.
func (d *deadline) moves(to time.Time) bool {
	if later := to.Sub(d.at); later >= 0 && later < d.slack {
		return false
	}
	*d = deadline{to, time.Until(to) / slackShare}
	return true
}

// writeChecks is how often, within Options.Write, a write is interrupted to check whether the client reads.
const writeChecks = 8

// limitReading sets the deadline of the next read. A first byte has firstByteGrace once the listener has closed.
func (c *Conn) limitReading() error {
	if !c.started.Load() && c.listener.closed.Load() {
		c.readBy = time.Now().Add(firstByteGrace)
	}
	if !c.reading.moves(c.readBy) {
		return nil
	}
	return c.Conn.SetReadDeadline(c.readBy)
}

// nextCheck returns when to interrupt a write to check whether the client reads.
func (c *Conn) nextCheck(now time.Time) time.Time {
	next := now.Add(c.listener.options.Write / writeChecks)
	if c.until.Before(next) {
		return c.until
	}
	return next
}

// stalled reports whether a client that last read a byte at the time last has exceeded its limit.
func (c *Conn) stalled(last, now time.Time) bool {
	if !now.Before(c.until) {
		return true
	}
	patience := c.listener.options.Write
	if c.listener.options.InFlight.Short() {
		patience /= 4
	}
	return now.Sub(last) >= patience
}
