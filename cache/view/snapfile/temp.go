package snapfile

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// tempPattern matches unfinished files, and the files of package mapped before it removes their names. Files with
// lockedSuffix are locked as long as their writer lives. Older programs take no locks and do not use the suffix.
const (
	tempPattern  = ".vitrine-*" + tempSuffix
	tempSuffix   = ".tmp"
	lockedSuffix = ".locked" + tempSuffix
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

// createTemp creates an unfinished file in a folder. Only its owner can read it. createTemp locks the file before it
// adds lockedSuffix: so a file with that suffix is locked as long as its writer lives.
func createTemp(dir string) (*tempFile, error) {
	temp, err := os.CreateTemp(dir, tempPattern)
	if err != nil {
		return nil, err
	}
	u := &tempFile{file: temp, name: temp.Name()}
	if u.lock, err = lockFile(u.name); errors.Is(err, errors.ErrUnsupported) {
		return u, nil // other processes judge it by its age
	}
	if err == nil {
		locked := strings.TrimSuffix(u.name, tempSuffix) + lockedSuffix
		if err = os.Rename(u.name, locked); err == nil {
			u.name = locked
			return u, nil
		}
	}
	err = errors.Join(err, temp.Close(), os.Remove(u.name))
	u.release()
	return nil, err
}

// release releases the lock. The caller calls it when the file has its final name or is removed.
func (u *tempFile) release() {
	if u.lock != nil {
		_ = u.lock.Close() // nothing was written by it
	}
}

// removeAbandoned removes the unfinished files of killed processes from a folder: the kernel has released their locks.
// It keeps files that a living process writes; without locks it keeps all files for an hour. It ignores errors, because
// another process may remove the same files, and a file that stays costs only space.
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
