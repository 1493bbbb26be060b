// Package backup copies an embedded store to a file: the copy is complete, checked and durable, or there is none.
package backup

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/dustin/go-humanize"

	"vitrine/cache/origin/bolt"
)

// Options describe a backup. All fields are required.
type Options struct {
	// Store is the path of the store's file.
	Store string
	// Copy writes the copy. It is called again after bolt.ErrYielded.
	Copy func(context.Context, bolt.Destination) error
	// Progress is called with the size of a copy when it begins. It returns a function that is called with the
	// number of bytes of each write.
	Progress func(all int64) (written func(n int))
	// Checking is called when the copy is written, before it is examined.
	Checking func()
}

// attempts is how often a copy may begin. After each attempt the store's mapping is larger, so that even during an
// import few attempts are needed.
const attempts = 20

// Write copies a store to a file. It returns the parts that bolt.Check finds in the copy, and its size in bytes. It
// writes a temporary file beside the file, syncs and examines it, and renames it, so that an earlier file stays as
// it is until the copy is known to be sound.
func Write(ctx context.Context, file string, o Options) (parts []bolt.Part, size int64, err error) {
	if err := check(file, o.Store); err != nil {
		return nil, 0, err
	}
	out, err := os.CreateTemp(filepath.Dir(file), filepath.Base(file)+".*.part") // readable only by its owner
	if err != nil {
		return nil, 0, err
	}
	defer func() {
		_ = out.Close() // it may be closed
		if err != nil {
			err = errors.Join(err, os.Remove(out.Name()))
		}
	}()
	for i := range attempts {
		if size, err = write(ctx, out, o); !errors.Is(err, bolt.ErrYielded) {
			break
		} else if i == attempts-1 {
			err = fmt.Errorf("%w, %d times: try again when fewer records are written", err, attempts)
		}
	}
	if err == nil {
		err = errors.Join(out.Sync(), out.Close())
	}
	if err != nil {
		return nil, 0, err
	}
	o.Checking()
	if parts, err = examine(ctx, out.Name()); err != nil {
		return nil, 0, err
	}
	if err = check(file, o.Store); err != nil { // a server may have opened the file meanwhile
		return nil, 0, err
	}
	if err = os.Rename(out.Name(), file); err != nil {
		return nil, 0, err
	}
	// A rename is durable with its folder. File systems that cannot sync a folder do not need it.
	if dir, err := os.Open(filepath.Dir(file)); err == nil {
		_ = dir.Sync()
		_ = dir.Close()
	}
	return parts, size, nil
}

// check returns an error if a file must not be replaced by a copy of a store: if it is this store, or one that a
// server has open, everything that the server writes from then on would be lost.
func check(file, store string) error {
	if file == "" {
		return errors.New("no file is named for the copy")
	}
	at, err := os.Stat(file)
	if err != nil {
		return nil // there is no file yet, or creating the copy returns the error
	}
	if !at.Mode().IsRegular() {
		return fmt.Errorf("%s: %w: it is not a regular file", file, fs.ErrExist)
	}
	if of, err := os.Stat(store); err == nil && os.SameFile(at, of) {
		return fmt.Errorf("%s: %w: it is the store itself, not a place for its copy", file, fs.ErrExist)
	}
	if err := bolt.CheckFree(file); err != nil {
		return fmt.Errorf("%w: name another file for the copy", err)
	}
	return nil
}

// write replaces the content of a file by a copy, and returns the size of the copy.
func write(ctx context.Context, out *os.File, o Options) (size int64, err error) {
	if _, err := out.Seek(0, io.SeekStart); err != nil {
		return 0, err
	}
	if err := out.Truncate(0); err != nil {
		return 0, err
	}
	var refused error
	err = o.Copy(ctx, func(_ context.Context, bytes int64) io.Writer {
		size = bytes
		if free, known := freeSpace(filepath.Dir(out.Name())); known && free < uint64(bytes) {
			refused = fmt.Errorf("the copy has %s, and there are only %s free in %s", humanize.Bytes(uint64(bytes)),
				humanize.Bytes(free), filepath.Dir(out.Name()))
		}
		return &progressWriter{out, refused, o.Progress(bytes)}
	})
	if refused != nil { // err is only a consequence
		return 0, refused
	}
	return size, err
}

// progressWriter reports the bytes that it writes. If refused is set, it writes nothing and returns that error.
type progressWriter struct {
	to      io.Writer
	refused error
	written func(n int)
}

// Write implements io.Writer.
func (c *progressWriter) Write(p []byte) (int, error) {
	if c.refused != nil {
		return 0, c.refused
	}
	n, err := c.to.Write(p)
	c.written(n)
	return n, err
}

// examine checks a copy, and returns its parts. Damage is an error, because a damaged copy must not replace an
// earlier one that may be sound.
func examine(ctx context.Context, name string) ([]bolt.Part, error) {
	parts, err := bolt.Check(ctx, name)
	if err != nil {
		return nil, fmt.Errorf("the copy is damaged: %w", err)
	}
	var damage []error
	for _, p := range parts {
		switch {
		case p.Unreadable != "":
			damage = append(damage, fmt.Errorf("%s cannot be read: %s", p.Name, p.Unreadable))
		case !p.Sound():
			damage = append(damage, fmt.Errorf("%s: %d of %d are damaged", p.Name, p.Damaged, p.Records))
		}
	}
	if damage != nil {
		return nil, fmt.Errorf(
			"the copy is damaged, as the store may be, and is not kept; vitrine check says what to do: %w",
			errors.Join(damage...))
	}
	return parts, nil
}
