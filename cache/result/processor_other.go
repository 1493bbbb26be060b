//go:build !unix

package result

import "time"

// processorTime returns 0, because package syscall has none for this system.
func processorTime() time.Duration { return 0 }
