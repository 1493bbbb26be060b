//go:build !(linux || darwin || freebsd || netbsd || openbsd || dragonfly)

package snapfile

import (
	"errors"
	"os"
)

// lockFile is not supported: unfinished files are removed when they are old.
func lockFile(string) (*os.File, error) { return nil, errors.ErrUnsupported }
