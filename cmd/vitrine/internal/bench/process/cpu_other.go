//go:build !unix

package process

import "time"

// processorTime is not known here.
func processorTime() time.Duration { return 0 }
