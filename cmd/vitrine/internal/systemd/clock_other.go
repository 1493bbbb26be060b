//go:build !linux

package systemd

import "time"

// monotonic returns zero: there is no systemd on this system.
func monotonic() time.Duration { return 0 }
