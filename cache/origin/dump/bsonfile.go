package dump

import (
	"errors"
	"fmt"
	"io"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/rules/raw"
)

// maxFrame is how long a document may claim to be before its length is taken for
// damage. A server's own collections exceed sound.MaxDocument by what an oplog entry
// wraps around a document.
const maxFrame = raw.MaxDocument + 16<<10

// frames cuts a stream into BSON documents by their lengths, without looking into them.
type frames struct {
	file   string
	in     io.Reader
	offset int64
}

// errTerminator marks four bytes of 0xff where a document could begin, which is
// how an archive ends a block.
var errTerminator = errors.New("terminator")

// next returns the next document and the place where it began. It fails with
// io.EOF at the end of the stream, with errTerminator, or with a *BrokenFile.
func (f *frames) next() (bson.Raw, Place, error) {
	place := Place{File: f.file, Offset: f.offset}
	var head [4]byte
	n, err := io.ReadFull(f.in, head[:])
	f.offset += int64(n)
	if err == io.EOF {
		return nil, place, io.EOF
	}
	if err != nil {
		return nil, place, broken(place, err)
	}
	size := raw.Length(head[:])
	switch {
	case size == -1:
		return nil, place, errTerminator
	case size < raw.MinDocument:
		return nil, place, broken(place, fmt.Errorf("%w: length %d", errNotDocument, size))
	case size > maxFrame:
		return nil, place, broken(place, raw.TooLarge(int64(size)))
	}
	doc, err := f.body(append(make(bson.Raw, 0, min(int(size), trusted)), head[:]...), int(size))
	if err != nil {
		return nil, place, broken(place, err)
	}
	return doc, place, nil
}

// trusted is how many bytes are allocated on the word of a length alone; beyond,
// memory follows what is really there.
const trusted = 256 << 10

// body reads the rest of a document of which doc is the beginning.
func (f *frames) body(doc bson.Raw, size int) (bson.Raw, error) {
	for len(doc) < size {
		if len(doc) == cap(doc) {
			doc = slices.Grow(doc, min(len(doc), size-len(doc)))
		}
		n, err := io.ReadFull(f.in, doc[len(doc):min(cap(doc), size)])
		doc = doc[:len(doc)+n]
		f.offset += int64(n)
		if err != nil {
			return nil, err
		}
	}
	return doc, nil
}

// bsonReader reads a BSON file: documents, one behind the other.
type bsonReader struct {
	frames
	collection string
}

// next implements reader.
func (r *bsonReader) next() (Document, error) {
	doc, place, err := r.frames.next()
	if err == errTerminator {
		err = broken(place, fmt.Errorf("%w: length -1", errNotDocument))
	}
	if err != nil {
		return Document{}, err
	}
	if err := raw.Check(doc); err != nil {
		return Document{}, &BadDocument{Collection: r.collection, Place: place, Err: err}
	}
	return Document{Collection: r.collection, Raw: doc, Place: place}, nil
}

// errNotDocument reports a length that no document can have.
var errNotDocument = errors.New("no BSON document begins here")
