package dump

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// Source is one file of a dump.
type Source struct {
	Name        string   // the file's name as the caller gave it, for people
	Size        int64    // of the file on disk, in bytes
	Collections []string // the file's one collection, or all collections in an archive's prelude

	files    fs.FS
	file     string // name in files
	format   format
	database string // the database to read from an archive
	only     string // the collection to read from an archive; if empty, all
}

// takeFunc receives a document or a *BadDocument. If it returns an error, reading ends.
type takeFunc func(Document, error) error

// errStopped ends reading when the caller leaves the loop.
// It never reaches the caller.
var errStopped = errors.New("stopped")

// Documents reads the file and yields each document with its place. After a *BadDocument, which concerns one
// document, the loop may go on; any other error is the last. count, if not nil, is called with the bytes read from
// disk.
// Each call opens the file anew and reads it from the beginning, so Load can read twice.
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

// Document is one document of a dump. Raw belongs to the receiver.
type Document struct {
	Collection string
	Raw        bson.Raw
	Place      Place
}

// bad returns the BadDocument of this document.
func (d Document) bad(err error) error {
	return &BadDocument{d.Collection, fault{d.Place, err}}
}

// Place is the position in a dump at which a document begins.
type Place struct {
	File   string // as the caller named it
	Line   int    // from 1; 0 if the file has no lines
	Offset int64  // in bytes from the beginning, after decompression
}

// String formats the place as editors and compilers do, with the line if there is one.
func (p Place) String() string {
	if p.Line > 0 {
		return fmt.Sprintf("%s: line %d", p.File, p.Line)
	}
	return fmt.Sprintf("%s: byte %d", p.File, p.Offset)
}

// fault is an error at a place. It is embedded in both kinds, so that both are written alike: "FILE: line 3:
// REASON".
type fault struct {
	Place Place
	Err   error
}

func (f *fault) Error() string { return f.Place.String() + ": " + f.Err.Error() }

func (f *fault) Unwrap() error { return f.Err }

// BadDocument is the error for one document that cannot be stored. The rest of the file can be read.
type BadDocument struct {
	Collection string
	fault
}

// BrokenFile is the error for damage that makes the rest of a file unreadable.
type BrokenFile struct{ fault }

// newBrokenFile returns a reader's error with its place; for a file that ends too early, it says so.
func newBrokenFile(p Place, err error) *BrokenFile {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = fmt.Errorf("the file is cut off: %w", io.ErrUnexpectedEOF)
	}
	return &BrokenFile{fault{p, err}}
}
