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

// An archive of mongodump begins with the magic number and a prelude: a header, metadata of each collection, and a
// terminator. Then come blocks, those of collections dumped in parallel interleaved: a header that names the
// collection, documents, and a terminator. A collection's last block has only a header, with the checksum of all.

var archiveMagic = []byte{0x6d, 0xe2, 0x99, 0x81}

const archiveVersion = "0.1"

// namespace is a collection of one of an archive's databases.
type namespace struct{ database, collection string }

// readPrelude reads an archive up to its first block. It returns the collections whose documents must follow.
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

var crcTable = crc64.MakeTable(crc64.ECMA)

// checksum is a namespace's running CRC-64, and whether its last block was read.
type checksum struct {
	sum   uint64
	ended bool
}

// readArchive reads the documents of one of an archive's databases. Of all else it only checks the checksums.
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
