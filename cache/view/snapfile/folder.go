package snapfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
)

// Path returns the path of a view's file in a folder.
func Path(dir, view string) string { return filepath.Join(dir, view+".snapshot") }

// writable are the permissions with which other users could put files into a folder, and so change what Vitrine
// serves.
const writable = 0o022

// Prepare makes the folder, with access for its owner only, if it does not exist, and removes unfinished files of
// killed processes. It refuses a folder that others may write to.
func Prepare(dir string) error {
	err := os.MkdirAll(dir, 0o700)
	if err == nil {
		err = CheckFolder(dir)
	}
	if err != nil {
		return fmt.Errorf("folder of snapshot files: %w", err)
	}
	removeAbandoned(dir)
	return nil
}

// CheckFolder returns why a folder cannot have snapshot files, or nil, as for one that does not exist yet.
func CheckFolder(dir string) error {
	info, err := os.Stat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case !info.IsDir():
		return fmt.Errorf("%s is no folder", dir)
	}
	if mode := info.Mode(); mode&writable != 0 && runtime.GOOS != "windows" {
		// on Windows modes do not show permissions
		return fmt.Errorf("other users may write to %s (%v): "+
			"configure a new folder below it, or remove the permission (chmod go-w)", dir, mode)
	}
	return nil
}
