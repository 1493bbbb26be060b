//go:build !(linux || darwin || freebsd || netbsd || openbsd || dragonfly)

package snapfile

import (
	"errors"
	"os"
)

// acquire is not supported: unfinished files are removed when they are old.
func acquire(string) (*os.File, error) { return nil, errors.ErrUnsupported }
