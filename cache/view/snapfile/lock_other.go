//go:build !(linux || darwin || freebsd || netbsd || openbsd || dragonfly)

package snapfile

import (
	"errors"
	"os"
)

// lockFile is not supported: removeAbandoned removes unfinished files when they are old.
func lockFile(string) (*os.File, error) { return nil, errors.ErrUnsupported }
