package snapfile

import (
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// Path is where a view's file is in a folder.
func Path(dir, view string) string { return filepath.Join(dir, view+".snapshot") }

// abandoned is how old a file that is being written is when nobody writes it any more.
const abandoned = time.Hour

// Prepare makes the folder, for its owner alone, if it is not there, and removes what
// killed processes have left half written.
func Prepare(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("folder of snapshot files: %w", err)
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
