package dump

import (
	"bytes"
	"errors"
	"fmt"
	"hash/crc64"
	"io"
	"maps"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/origin"
	"vitrine/rules/raw"
)

// An archive of mongodump begins with the magic number and a prelude: a header,
// one document of metadata for each collection, a terminator. Then come blocks,
// those of collections dumped in parallel interleaved: a header that names the
// collection, documents, a terminator. A collection's last block has no
// documents, and its header the checksum of all of them.

// archiveMagic is what an archive begins with, as it stands in the file.
var archiveMagic = []byte{0x6d, 0xe2, 0x99, 0x81}

// archiveVersion is the only version of the format there is.
const archiveVersion = "0.1"

// namespace is a collection of one of an archive's databases.
type namespace struct{ database, collection string }

// usersDatabases returns the names of the databases that hold users' collections, sorted.
func usersDatabases(collections []namespace) []string {
	var names []string
	for _, ns := range collections {
		if !isServerDatabase(ns.database) {
			names = append(names, ns.database)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// isServerDatabase reports whether a database belongs to the server: its own
// three, and the empty name under which an archive keeps the oplog.
func isServerDatabase(name string) bool {
	return name == "" || name == "admin" || name == "config" || name == "local"
}

// readPrelude reads an archive up to its first block, and returns the collections whose
// documents must follow.
func readPrelude(in *stream) (promised []namespace, err error) {
	begin := in.place()
	magic := make([]byte, len(archiveMagic))
	if _, err := io.ReadFull(in, magic); err != nil {
		return nil, broken(begin, err)
	}
	if !bytes.Equal(magic, archiveMagic) {
		return nil, broken(begin, errors.New("not an archive of mongodump"))
	}
	var header struct {
		Version string `bson:"version"`
	}
	if err := in.decode(&header); err != nil {
		return nil, err
	}
	if header.Version != archiveVersion {
		return nil, broken(begin, fmt.Errorf("archive version %q is not known, only %q", header.Version, archiveVersion))
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
		if !derived(meta.Type, meta.Metadata) {
			promised = append(promised, namespace{meta.Database, meta.Collection})
		}
	}
}

// derived reports whether a collection has no documents of its own in an
// archive: a view, or a time series, whose documents come as system.buckets.
// In archives of older tools only its options show that it is a view.
func derived(kind, metadata string) bool {
	return kind == "view" || kind == "timeseries" || bytes.Contains([]byte(metadata), []byte(`"viewOn"`))
}

// decode reads one of the archive's own documents, of which there must be another, into v.
// The end of the file and a terminator are errors that wrap io.ErrUnexpectedEOF and
// errTerminator.
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
	return broken(place, err)
}

// archiveReader reads the documents of one of an archive's databases.
type archiveReader struct {
	*stream
	database string
	only     string // the one collection to take; all if empty
	promised []namespace
	sums     map[namespace]*checksum
	block    *checksum // of the namespace whose block is being read; nil between blocks
	current  namespace
}

// checksum is a namespace's running CRC-64 and whether its end has come.
type checksum struct {
	sum   uint64
	ended bool
}

// newArchiveReader reads the prelude; documents are next.
func newArchiveReader(in *stream, database, only string) (*archiveReader, error) {
	promised, err := readPrelude(in)
	return &archiveReader{stream: in, database: database, only: only, promised: promised, sums: map[namespace]*checksum{}}, err
}

// next implements reader. Documents of other databases and reserved collections
// count towards the checksums and are passed over.
func (r *archiveReader) next() (Document, error) {
	for {
		if r.block == nil {
			if err := r.openBlock(); err != nil {
				return Document{}, err
			}
		}
		doc, place, err := r.frame()
		switch {
		case err == errTerminator:
			r.block = nil
			continue
		case err == io.EOF:
			return Document{}, broken(place, io.ErrUnexpectedEOF)
		case err != nil:
			return Document{}, err
		case r.block.ended:
			return Document{}, broken(place, fmt.Errorf("a document of %s behind its end", r.current.collection))
		}
		r.block.sum = crc64.Update(r.block.sum, crcTable, doc)
		if r.wants(r.current) {
			return wellFormed(Document{r.current.collection, doc, place})
		}
	}
}

// crcTable is of the polynomial that mongodump uses.
var crcTable = crc64.MakeTable(crc64.ECMA)

// wants reports whether a namespace's documents are to be read.
func (r *archiveReader) wants(ns namespace) bool {
	return ns.database == r.database && (r.only == "" || r.only == ns.collection) && origin.CheckCollection(ns.collection) == nil
}

// openBlock reads a block's header. At the end of the archive it returns io.EOF,
// if every collection has come to its end.
func (r *archiveReader) openBlock() error {
	place := r.place()
	if _, err := r.Peek(1); err == io.EOF {
		return r.finish(place)
	}
	var header struct {
		Database   string `bson:"db"`
		Collection string `bson:"collection"`
		EOF        bool   `bson:"EOF"`
		CRC        int64  `bson:"CRC"`
	}
	err := r.decode(&header)
	if errors.Is(err, errTerminator) {
		return broken(place, errors.New("a block without header"))
	}
	if err != nil {
		return err
	}
	if header.Collection == "" {
		return broken(place, errors.New("a block's header names no collection"))
	}
	r.current = namespace{header.Database, header.Collection}
	sum := r.sums[r.current]
	if sum == nil {
		sum = &checksum{}
		r.sums[r.current] = sum
	}
	if sum.ended {
		return broken(place, fmt.Errorf("a block of %s behind its end", header.Collection))
	}
	if header.EOF && int64(sum.sum) != header.CRC {
		return broken(place, fmt.Errorf("checksum of %s is %016x, the archive says %016x",
			header.Collection, sum.sum, uint64(header.CRC)))
	}
	sum.ended = header.EOF
	r.block = sum
	return nil
}

// finish returns io.EOF at the end of a whole archive, and an error if the archive was cut
// off between two blocks.
func (r *archiveReader) finish(end Place) error {
	for _, ns := range slices.AppendSeq(slices.Clip(r.promised), maps.Keys(r.sums)) {
		if sum := r.sums[ns]; sum == nil || !sum.ended {
			return broken(end, fmt.Errorf("the file is cut off: documents of %s are missing", ns.collection))
		}
	}
	return io.EOF
}
