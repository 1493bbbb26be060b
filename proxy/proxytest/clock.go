package proxytest

import (
	"sync"
	"time"
	"unsafe"
)

// Clock is a clock that a test sets, forward or back. Like those of time.Now, its times have a monotonic reading,
// which never goes back. With times from time.Date a test cannot see that a comparison uses the wrong one of the two.
type Clock struct {
	mu    sync.Mutex
	start time.Time     // what time.Now returned first
	wall  time.Time     // without a monotonic reading
	mono  time.Duration // since start
}

// NewClock returns a clock that shows a time until it is set.
func NewClock(shown time.Time) *Clock { return &Clock{start: time.Now(), wall: shown.Round(0)} }

// Now returns the time shown.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	now, reading := c.start.Add(c.wall.Sub(c.start.Round(0))), c.start.Add(c.mono)
	*monotonicOf(&now) = *monotonicOf(&reading)
	if !now.Round(0).Equal(c.wall) || now.Sub(c.start) != c.mono {
		panic("proxytest: time.Time has another layout: Clock cannot give it a wall time and a monotonic reading")
	}
	return now // in the local zone, like time.Now's: Time.In would drop the reading
}

// monotonicOf returns the monotonic reading of a time: the second word of time.Time since Go 1.9. Package time has no
// function that changes only one of the two, because only the system can set a clock.
func monotonicOf(t *time.Time) *int64 {
	return (*int64)(unsafe.Add(unsafe.Pointer(t), unsafe.Sizeof(uint64(0))))
}

// Set sets the wall clock, as an operator or NTP does. A moment passes meanwhile.
func (c *Clock) Set(shown time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.wall, c.mono = shown.Round(0), c.mono+time.Microsecond
}

// Advance lets time pass.
func (c *Clock) Advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.wall, c.mono = c.wall.Add(d), c.mono+d
}
