package dump

import (
	"errors"
	"fmt"
	"io"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// Document is one document of a dump. Raw belongs to the receiver.
type Document struct {
	Collection string
	Raw        bson.Raw
	Place      Place
}

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
