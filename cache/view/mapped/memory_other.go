//go:build !linux || !(amd64 || arm64)

package mapped

import (
	"errors"
	"os"
)

// memory fails: on this system slices stay in memory.
func (f *Files) memory(*os.File, int64, int) ([]byte, error) { return nil, errors.ErrUnsupported }

// stampOf fails: no file is mapped.
func stampOf(*os.File) (stamp, error) { return stamp{}, errors.ErrUnsupported }
