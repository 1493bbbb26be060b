package systemd

import (
	"time"

	"golang.org/x/sys/unix"
)

// monotonic returns the time of the clock by which systemd orders messages, CLOCK_MONOTONIC. Go's own has no readable
// zero.
func monotonic() time.Duration {
	var now unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &now); err != nil {
		return 0
	}
	return time.Duration(now.Nano())
}
