package dump

import (
	"errors"
	"fmt"
	"io"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/rules/raw"
)

// maxFrame is the greatest length that is no damage: an oplog entry wraps a document and so exceeds
// raw.MaxDocument.
const maxFrame = raw.MaxDocument + 16<<10

// errTerminator reports four bytes of 0xff in place of a document: the end of an archive's block.
var errTerminator = errors.New("terminator")

// frame returns the next BSON document and its place. It checks only the document's length. It fails with io.EOF at
// the end of the stream, with errTerminator, or with a *BrokenFile.
func (s *stream) frame() (bson.Raw, Place, error) {
	place := s.place()
	var head [4]byte
	_, err := io.ReadFull(s, head[:])
	if err == io.EOF {
		return nil, place, io.EOF
	}
	if err != nil {
		return nil, place, newBrokenFile(place, err)
	}
	size := raw.Length(head[:])
	switch {
	case size == -1:
		return nil, place, errTerminator
	case size < raw.MinDocument:
		return nil, place, newBrokenFile(place, fmt.Errorf("%w: length %d", errNotDocument, size))
	case size > maxFrame:
		return nil, place, newBrokenFile(place, raw.TooLarge(int64(size)))
	}
	// The length comes from the file, and a damaged one may claim 16 MiB: allocate the rest only as it comes.
	doc := make(bson.Raw, min(size, maxUnchecked))
	copy(doc, head[:])
	if _, err = io.ReadFull(s, doc[len(head):]); err == nil && size > maxUnchecked {
		var rest []byte
		rest, err = io.ReadAll(io.LimitReader(s, int64(size-maxUnchecked)))
		if doc = append(doc, rest...); err == nil && len(doc) < int(size) {
			err = io.ErrUnexpectedEOF
		}
	}
	if err != nil {
		return nil, place, newBrokenFile(place, err)
	}
	return doc, place, nil
}

// maxUnchecked is how many bytes frame allocates on the word of an unchecked length; beyond that, it allocates only
// what it reads.
const maxUnchecked = 256 << 10

// readBSON reads a BSON file, which is a sequence of documents.
// The file has no header and no checksum: damage to a length shows only where the next document should begin.
func (s *Source) readBSON(in *stream, take takeFunc) error {
	for {
		doc, place, err := in.frame()
		switch {
		case err == io.EOF:
			return nil
		case err == errTerminator:
			return newBrokenFile(place, fmt.Errorf("%w: length -1", errNotDocument))
		case err == nil:
			err = take(checkDocument(Document{s.Collections[0], doc, place}))
		}
		if err != nil {
			return err
		}
	}
}

// checkDocument returns the document, or a *BadDocument if its BSON is malformed.
// It validates the whole document, because the store and the driver trust what they get.
func checkDocument(d Document) (Document, error) {
	if err := raw.Check(d.Raw); err != nil {
		return Document{}, d.bad(err)
	}
	return d, nil
}

// errNotDocument is the reason of a BrokenFile whose next bytes cannot be the length of a document.
var errNotDocument = errors.New("no BSON document begins here")
