package dump

import (
	"context"
	"errors"
	"fmt"
	"io"
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

// reader takes documents off a file. After io.EOF or an error that is no
// *BadDocument it is not asked again.
type reader interface{ next() (Document, error) }

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
		r, err := s.reader(in)
		if err != nil {
			yield(Document{}, err)
			return
		}
		for {
			doc, err := r.next()
			if err == io.EOF {
				return
			}
			if ctx.Err() != nil {
				doc, err = Document{}, ctx.Err()
			}
			_, passable := errors.AsType[*BadDocument](err)
			if !yield(doc, err) || err != nil && !passable {
				return
			}
		}
	}
}

// reader returns the reader for the file's format.
func (s *Source) reader(in *stream) (reader, error) {
	switch s.format {
	case archiveFormat:
		return newArchiveReader(in, s.database, s.only)
	case bsonFormat:
		return &bsonReader{in, s.Collections[0]}, nil
	default:
		return newJSONReader(in, s.Collections[0]), nil
	}
}
