// Package backup makes a file a copy of an embedded store: whole, checked and durable, or not at all.
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

// Options are how a backup is made.
type Options struct {
	// Store is the path of the store's file.
	Store string
	// Copy writes the copy; after bolt.ErrYielded it is called again.
	Copy func(context.Context, bolt.Destination) error
	// Progress is called with the bytes of a copy that begins, and returns what is called with the bytes of each write.
	Progress func(all int64) (written func(n int))
	// Checking is called when everything is written, and the copy is examined.
	Checking func()
}

// attempts is how often a copy begins anew. Each time the store's mapping is larger than before, so that even during
// an import few are needed.
const attempts = 20

// Write makes a copy of a store and returns what bolt.Check finds in it. It writes beside the file, syncs and checks
// the copy, and renames it: a file of that name stays as it is until the new one is known to be sound.
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
			err = fmt.Errorf("%w, %d times: try again when less is written", err, attempts)
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

// check returns the reason why a file cannot become the copy of a store, or nil. A copy in the place of the store,
// or of another one, would lose what a server that has it open writes from then on.
func check(file, store string) error {
	if file == "" {
		return errors.New("no file is named for the copy")
	}
	at, err := os.Stat(file)
	if err != nil {
		return nil // there is none yet; what else is wrong, creating the copy says
	}
	if !at.Mode().IsRegular() {
		return fmt.Errorf("%s: %w: it is no regular file", file, fs.ErrExist)
	}
	if of, err := os.Stat(store); err == nil && os.SameFile(at, of) {
		return fmt.Errorf("%s: %w: it is the store itself, not a place for its copy", file, fs.ErrExist)
	}
	if err := bolt.CheckFree(file); err != nil {
		return fmt.Errorf("%w: name another file for the copy", err)
	}
	return nil
}

// write makes a file a copy, whatever it had before.
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
	if refused != nil { // err has only what followed from it
		return 0, refused
	}
	return size, err
}

// progressWriter reports what it writes; with a refusal it writes nothing.
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

// examine checks a copy. Damage is an error: it would replace a backup that may be sound.
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
