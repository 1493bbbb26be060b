package snapfile

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// tempPattern matches unfinished files, and the files of package mapped in the moment before they lose their name. Those
// with lockedSuffix have a lock as long as their writer lives. Older programs take none, and have no such names.
const (
	tempPattern  = ".vitrine-*" + tempSuffix
	tempSuffix   = ".tmp"
	lockedSuffix = ".locked" + tempSuffix
)

// abandoned is the age from which an unfinished file must come from a killed process, where no lock says so.
const abandoned = time.Hour

// errLocked reports that another process, or another writer in this one, has the lock on a file.
var errLocked = errors.New("the file is locked")

// tempFile is a file that gets its final name when it is complete.
type tempFile struct {
	file *os.File
	name string   // its name now
	lock *os.File // holds the lock until it is closed; nil if there are no locks
}

// createTemp makes an unfinished file in a folder, which only the owner can read. It gets lockedSuffix once it is locked:
// so no other process ever finds a file with that suffix and without a lock whose writer lives.
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

// release ends the lock. The caller calls it when the file has its final name or is removed.
func (u *tempFile) release() {
	if u.lock != nil {
		_ = u.lock.Close() // nothing was written by it
	}
}

// removeAbandoned removes the unfinished files of killed processes from a folder: the kernel has released their locks.
// Files that a living process writes stay, also those of processes that write without a lock, for an hour. It ignores
// errors: another process may remove the same files, and what stays costs only space.
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
