// Package regular reads files that an operator names. It reads only regular files of bounded size: opening a named
// pipe waits for a writer, a device may never end, and either would block a start or a reload for good.
package regular

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"

	"github.com/dustin/go-humanize"
)

// Most is how many bytes a file of settings, rules or labels, or with a secret, may have. Their parsers need some
// fifty times that in memory.
const Most = 1 << 20

// Open opens a regular file of at most most bytes. Errors do not repeat the name; errors.Is finds fs.ErrNotExist.
// The caller closes the file. It is checked twice: what the name means may change between the look and the opening.
func Open(name string, most int64) (*os.File, error) {
	// Look before opening: even opening some devices has effects.
	info, err := os.Stat(name)
	if err == nil {
		err = check(info, most)
	}
	if err != nil {
		return nil, reason(err)
	}
	// Another file may take the name meanwhile. Without O_NONBLOCK a named pipe would block here.
	f, err := os.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, reason(err)
	}
	if info, err = f.Stat(); err == nil {
		err = check(info, most)
	}
	if err != nil {
		return nil, errors.Join(reason(err), f.Close())
	}
	return f, nil
}

// Check returns the error of Open.
func Check(name string, most int64) error {
	f, err := Open(name, most)
	if err != nil {
		return err
	}
	return f.Close()
}

// Read returns the content of a regular file of at most most bytes. Errors are those of Open.
func Read(name string, most int64) ([]byte, error) {
	f, err := Open(name, most)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	// The file may grow while it is read, and files of /proc have no size.
	content, err := io.ReadAll(io.LimitReader(f, most+1))
	if err == nil && int64(len(content)) > most {
		err = tooLong(most)
	}
	return content, reason(err)
}

func check(info fs.FileInfo, most int64) error {
	switch mode := info.Mode(); {
	case mode.IsRegular() && info.Size() > most:
		return tooLong(most)
	case mode.IsRegular():
		return nil
	case mode.IsDir():
		return syscall.EISDIR
	case mode&fs.ModeNamedPipe != 0:
		return errors.New("is a named pipe; want a regular file")
	case mode&fs.ModeDevice != 0:
		return errors.New("is a device; want a regular file")
	}
	return errors.New("is not a regular file")
}

func tooLong(most int64) error {
	return fmt.Errorf("is too long: at most %s are read", humanize.IBytes(uint64(most)))
}

// reason removes operation and name from an error of package os: callers name the file in their own words. An error
// of another kind stays as it is; nil stays nil.
func reason(err error) error {
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		return p.Err
	}
	return err
}
