package dump

import (
	"bytes"
	"errors"
	"fmt"
	"hash/crc64"
	"io"
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/origin"
	"vitrine/rules/raw"
)

// The way of an archive: Open reads the prelude (readPrelude) to list collections. Each reading of the documents
// reads the prelude again, then block by block: a header (readHeader), its documents (readBlock), until the file
// ends and wholeArchive compares what was promised with what came.

// An archive of mongodump begins with the magic number and a prelude: a header, metadata of each collection, and a
// terminator. Then come blocks, those of collections dumped in parallel interleaved: a header that names the
// collection, documents, and a terminator. A collection's last block has only a header, with the checksum of all.

// archiveMagic begins each archive, before the first document: 0x8199e26d, the least significant byte first.
var archiveMagic = []byte{0x6d, 0xe2, 0x99, 0x81}

// archiveVersion is the only version of the format.
const archiveVersion = "0.1"

// namespace is a collection of one of an archive's databases.
// It is the key under which checksums are kept.
type namespace struct{ database, collection string }

// readPrelude reads an archive up to its first block. It returns the collections whose documents must follow. The
// order of the prelude has no meaning. A collection without documents has no block but a last one, so readArchive
// can tell it from one that was cut off.
func readPrelude(in *stream) (promised []namespace, err error) {
	begin := in.place()
	magic := make([]byte, len(archiveMagic))
	if _, err := io.ReadFull(in, magic); err != nil {
		return nil, newBrokenFile(begin, err)
	}
	if !bytes.Equal(magic, archiveMagic) {
		return nil, newBrokenFile(begin, errors.New("not an archive of mongodump"))
	}
	var header struct {
		Version string `bson:"version"`
	}
	if err := in.decode(&header); err != nil {
		return nil, err
	}
	if header.Version != archiveVersion {
		return nil, newBrokenFile(begin,
			fmt.Errorf("archive version %q is unknown, want %q", header.Version, archiveVersion))
	}
	for {
		var meta struct {
			Database   string `bson:"db"`
			Collection string `bson:"collection"`
			Metadata   string `bson:"metadata"`
			Type       string `bson:"type"`
		}
		err := in.decode(&meta)
		if errors.Is(err, errTerminator) {
			return promised, nil
		}
		if err != nil {
			return nil, err
		}
		// Views have no documents, and those of a time series come as system.buckets. In archives of
		// older tools only the options show that a collection is a view.
		if meta.Type != "view" && meta.Type != "timeseries" && !strings.Contains(meta.Metadata, `"viewOn"`) {
			promised = append(promised, namespace{meta.Database, meta.Collection})
		}
	}
}

// decode reads the next document of the archive's own into v. The error is errTerminator at a terminator, and wraps
// io.ErrUnexpectedEOF at the end of the file.
// v has the few fields that this package needs; others are ignored, as newer tools may add some.
func (s *stream) decode(v any) error {
	doc, place, err := s.frame()
	if err == nil {
		err = raw.Check(doc)
	}
	if err == nil {
		err = bson.Unmarshal(doc, v)
	}
	if _, known := errors.AsType[*BrokenFile](err); err == nil || known {
		return err
	}
	return newBrokenFile(place, err)
}

// crcTable is the polynomial with which mongodump computes its checksums.
var crcTable = crc64.MakeTable(crc64.ECMA)

// checksum is a namespace's running CRC-64, and whether its last block was read.
type checksum struct {
	sum   uint64
	ended bool
}

// readArchive reads the documents of one of an archive's databases. Of all else it only checks the checksums. It
// reads the blocks of other databases, too, because the checksum of a collection shows damage only at its last
// block, and because blocks have no length by which to skip them.
func (s *Source) readArchive(in *stream, take takeFunc) error {
	promised, err := readPrelude(in)
	sums := map[namespace]*checksum{}
	for _, ns := range promised {
		sums[ns] = &checksum{}
	}
	for err == nil {
		place := in.place()
		if _, end := in.Peek(1); end == io.EOF {
			return wholeArchive(place, sums)
		}
		var ns namespace
		if ns, err = readHeader(in, sums); err == nil {
			err = s.readBlock(in, ns, sums[ns], take)
		}
	}
	return err
}

// readHeader reads the header of a block and returns its collection. At a collection's last header it compares the
// checksum of all its documents. It adds collections that the prelude does not name, as the oplog, to sums.
func readHeader(in *stream, sums map[namespace]*checksum) (ns namespace, err error) {
	place := in.place()
	var header struct {
		Database   string `bson:"db"`
		Collection string `bson:"collection"`
		EOF        bool   `bson:"EOF"`
		CRC        int64  `bson:"CRC"`
	}
	err = in.decode(&header)
	ns = namespace{header.Database, header.Collection}
	sum := sums[ns]
	if sum == nil {
		sum = &checksum{}
		sums[ns] = sum
	}
	switch {
	case errors.Is(err, errTerminator):
		return ns, newBrokenFile(place, errors.New("a block without header"))
	case err != nil:
		return ns, err
	case ns.collection == "":
		return ns, newBrokenFile(place, errors.New("a block's header names no collection"))
	case sum.ended:
		return ns, newBrokenFile(place, fmt.Errorf("a block of %s after its last block", ns.collection))
	case header.EOF && int64(sum.sum) != header.CRC:
		return ns, newBrokenFile(place,
			fmt.Errorf("checksum of %s is %016x, the archive says %016x", ns.collection, sum.sum, uint64(header.CRC)))
	}
	sum.ended = header.EOF
	return ns, nil
}

// readBlock reads the documents of a block up to its terminator, and gives those that are wanted to take. The
// checksum covers the bytes as they are in the file, so a malformed document is counted before it is checked.
func (s *Source) readBlock(in *stream, ns namespace, sum *checksum, take takeFunc) error {
	wanted := ns.database == s.database && (s.only == "" || s.only == ns.collection) &&
		origin.CheckCollection(ns.collection) == nil
	for {
		doc, place, err := in.frame()
		switch {
		case err == errTerminator:
			return nil
		case err == io.EOF:
			return newBrokenFile(place, err)
		case err != nil:
			return err
		case sum.ended:
			return newBrokenFile(place, fmt.Errorf("a document of %s after its last block", ns.collection))
		}
		sum.sum = crc64.Update(sum.sum, crcTable, doc)
		if !wanted {
			continue
		}
		if err := take(checkDocument(Document{ns.collection, doc, place})); err != nil {
			return err
		}
	}
}

// wholeArchive returns an error if the file ends between two blocks.
// A file that is cut between two blocks is well formed: only the promise of the prelude shows what is missing. The
// error names the first collection by name, so that it is the same at each run.
func wholeArchive(end Place, sums map[namespace]*checksum) error {
	var missing []string
	for ns, sum := range sums {
		if !sum.ended {
			missing = append(missing, ns.collection)
		}
	}
	if missing == nil {
		return nil
	}
	return newBrokenFile(end, fmt.Errorf("the file is cut off: documents of %s are missing", slices.Min(missing)))
}
