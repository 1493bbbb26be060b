package snapfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Unfinished files, and the files of package mapped before it removes their names, are named as lockedPattern says
// from the beginning, so that a process killed at any time leaves no file of which others could not tell that it has
// ended. tempPattern also matches the files of older programs, which did not lock them from the beginning.
const (
	tempPattern   = ".vitrine-*.tmp"
	lockedPattern = ".vitrine-*" + lockedSuffix
	lockedSuffix  = ".locked.tmp"
)

// abandoned is the age from which an unfinished file without a lock is considered left by a killed process.
const abandoned = time.Hour

// errLocked reports that another process, or another writer in this one, has the lock on a file.
var errLocked = errors.New("the file is locked")

// tempFile is a file that gets its final name when it is complete.
type tempFile struct {
	file *os.File
	name string   // its name now
	lock *os.File // holds the lock until it is closed; nil if there are no locks
}

// createTemp creates and locks an unfinished file in a folder. Only its owner can read it. Between the two steps
// another process may take it for abandoned: then createTemp creates a new one.
func createTemp(dir string) (*tempFile, error) {
	for {
		temp, err := os.CreateTemp(dir, lockedPattern)
		if err != nil {
			return nil, err
		}
		u := &tempFile{file: temp, name: temp.Name()}
		err = u.acquire()
		if err == nil || errors.Is(err, errors.ErrUnsupported) { // without locks other processes judge it by its age
			return u, nil
		}
		_ = os.Remove(u.name)
		_ = temp.Close() // nothing was written
		u.release()
		if !errors.Is(err, errLocked) && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
}

// acquire locks the file. The error wraps errLocked or fs.ErrNotExist if another process removes or has removed it.
func (u *tempFile) acquire() (err error) {
	if u.lock, err = lockFile(u.name); err == nil {
		_, err = os.Lstat(u.name)
	}
	return err
}

// release releases the lock. The caller calls it when the file has its final name or is removed.
func (u *tempFile) release() {
	if u.lock != nil {
		_ = u.lock.Close() // nothing was written by it
	}
}

// removeAbandoned removes the unfinished files of killed processes from a folder: the kernel has released their
// locks. It keeps files that a living process writes; without locks it keeps all files for an hour. It ignores
// errors, because another process may remove the same files, and a file that stays costs only space.
func removeAbandoned(dir string) {
	all, _ := os.ReadDir(dir) // not Glob, because the folder's name may look like a pattern
	for _, entry := range all {
		if matched, _ := filepath.Match(tempPattern, entry.Name()); !matched {
			continue
		}
		name := filepath.Join(dir, entry.Name())
		var lock *os.File
		err := errors.ErrUnsupported
		if strings.HasSuffix(name, lockedSuffix) {
			lock, err = lockFile(name)
		}
		switch {
		case err == nil: // if its writer has just given it its final name, there is nothing to remove
			_ = os.Remove(name)
			_ = lock.Close()
		case errors.Is(err, errors.ErrUnsupported):
			if info, err := os.Stat(name); err == nil && time.Since(info.ModTime()) > abandoned {
				_ = os.Remove(name)
			}
		}
	}
}
