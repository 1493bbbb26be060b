package dump

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"path"
)

// Source is one file of a dump.
type Source struct {
	// Name is the file's name for people, as it was given.
	Name string
	// Size is that of the file in bytes, as it is on disk.
	Size int64
	// Collections are those the file is known to hold before its documents are
	// read: a file's one, or all that an archive announces.
	Collections []string

	at       location
	format   format
	database string // of an archive
	only     string // the one collection to take of an archive; all if empty
}

// location is where a file or folder is found, and what to call it.
type location struct {
	fsys  fs.FS
	name  string
	shown string
}

// below returns the location of an entry of a folder.
func (l location) below(entry string) location {
	return location{l.fsys, path.Join(l.name, entry), path.Join(l.shown, entry)}
}

// explain puts the location's name for people into a file system's error.
func (l location) explain(err error) error {
	if at, ok := errors.AsType[*fs.PathError](err); ok {
		return fmt.Errorf("%s %s: %w", at.Op, l.shown, at.Err)
	}
	return fmt.Errorf("%s: %w", l.shown, err)
}

// takeFunc takes a document, or a *BadDocument. Its own error ends the reading.
type takeFunc func(Document, error) error

// errStopped ends a reading of which no more is wanted.
var errStopped = errors.New("stopped")

// Documents reads the file from its beginning and yields each document with its
// collection and place. A *BadDocument concerns one document, and the loop may go
// on; any other error is the last. count, if not nil, is called with the number of bytes
// read from disk.
func (s *Source) Documents(ctx context.Context, count func(n int)) iter.Seq2[Document, error] {
	return func(yield func(Document, error) bool) {
		in, err := openStream(s.at, count)
		if err != nil {
			yield(Document{}, err)
			return
		}
		defer in.Close()
		read := s.readJSON
		switch s.format {
		case archiveFormat:
			read = s.readArchive
		case bsonFormat:
			read = s.readBSON
		}
		err = read(in, func(d Document, err error) error {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if !yield(d, err) {
				return errStopped
			}
			return nil
		})
		if err != nil && err != errStopped {
			yield(Document{}, err)
		}
	}
}
