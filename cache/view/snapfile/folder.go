package snapfile

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"time"
)

// Path is where a view's file is in a folder.
func Path(dir, view string) string { return filepath.Join(dir, view+".snapshot") }

// abandoned is the age from which an unfinished file is that of a killed process.
const abandoned = time.Hour

// writable are the permissions with which other users could put files into a folder, and so
// change what is served.
const writable = 0o022

// Prepare makes the folder, for its owner alone, if it does not exist, and removes unfinished
// files of killed processes. It refuses a folder that others may write to.
func Prepare(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("folder of snapshot files: %w", err)
	}
	info, err := os.Stat(dir)
	if err != nil {
		return fmt.Errorf("folder of snapshot files: %w", err)
	}
	if mode := info.Mode(); mode&writable != 0 && runtime.GOOS != "windows" { // where modes say nothing
		return fmt.Errorf("folder of snapshot files: others than its owner may write to %s (%v): "+
			"name a folder below it, which is then made, or take the permission away (chmod go-w)", dir, mode)
	}
	left, err := filepath.Glob(filepath.Join(dir, tempPattern))
	if err != nil {
		return fmt.Errorf("folder of snapshot files: %w", err)
	}
	for _, name := range left {
		if info, err := os.Stat(name); err == nil && time.Since(info.ModTime()) > abandoned {
			_ = os.Remove(name) // or another process has
		}
	}
	return nil
}
