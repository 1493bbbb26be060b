package dump

import (
	"context"
	"errors"
	"io/fs"
	"iter"
)

// Source is one file of a dump.
type Source struct {
	// Name is the file's name as the caller gave it, for people.
	Name string
	// Size is the size of the file on disk, in bytes.
	Size int64
	// Collections are the file's one collection, or all collections in an archive's prelude.
	Collections []string

	files    fs.FS
	file     string // name in files
	format   format
	database string // the database to read from an archive
	only     string // the collection to read from an archive; if empty, all
}

// takeFunc receives a document or a *BadDocument. If it returns an error, reading ends.
type takeFunc func(Document, error) error

// errStopped ends reading when the caller leaves the loop.
var errStopped = errors.New("stopped")

// Documents reads the file and yields each document with its place. After a *BadDocument, which concerns one document,
// the loop may go on; any other error is the last. count, if not nil, is called with the bytes read from disk.
func (s *Source) Documents(ctx context.Context, count func(n int)) iter.Seq2[Document, error] {
	return func(yield func(Document, error) bool) {
		read := s.readJSON
		switch s.format {
		case archiveFormat:
			read = s.readArchive
		case bsonFormat:
			read = s.readBSON
		}
		in, err := s.open(ctx, count)
		if err == nil {
			defer in.file.Close()
			err = read(in, func(d Document, err error) error {
				if ctx.Err() != nil {
					return ctx.Err()
				}
				if !yield(d, err) {
					return errStopped
				}
				return nil
			})
		}
		if err != nil && err != errStopped {
			yield(Document{}, err)
		}
	}
}
