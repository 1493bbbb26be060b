package dump_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/binary"
	"errors"
	"hash/crc64"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/origin/dump"
)

// files are the files of a dump by name.
type files map[string][]byte

// fsys returns the files as a file system.
func (f files) fsys() fstest.MapFS {
	m := fstest.MapFS{}
	for name, data := range f {
		m[name] = &fstest.MapFile{Data: data}
	}
	return m
}

// doc encodes a document.
func doc(t testing.TB, d any) []byte {
	t.Helper()
	raw, err := bson.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// numbered returns one document for each number, as a BSON file holds them.
func numbered(t testing.TB, ids ...int) []byte {
	var out []byte
	for _, id := range ids {
		out = append(out, doc(t, bson.D{{Key: "_id", Value: id}})...)
	}
	return out
}

// zipped compresses with the standard library rather than with the library of the package's reader.
func zipped(t testing.TB, data []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write(data); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// archive writes the format of mongodump --archive.
type archive struct {
	t    testing.TB
	out  []byte
	sums map[[2]string]uint64
}

var ecma = crc64.MakeTable(crc64.ECMA)

// newArchive writes the prelude for collections given as "database.collection". "=type" behind a
// name marks views and the like.
func newArchive(t testing.TB, collections ...string) *archive {
	a := &archive{t: t, out: []byte{0x6d, 0xe2, 0x99, 0x81}, sums: map[[2]string]uint64{}}
	a.out = append(a.out, doc(t, bson.D{
		{Key: "concurrent_collections", Value: int32(4)}, {Key: "version", Value: "0.1"},
		{Key: "server_version", Value: "7.0.2"}, {Key: "tool_version", Value: "100.9.4"},
	})...)
	for _, c := range collections {
		name, kind, _ := strings.Cut(c, "=")
		database, collection, _ := strings.Cut(name, ".")
		a.out = append(a.out, doc(t, bson.D{
			{Key: "db", Value: database}, {Key: "collection", Value: collection},
			{Key: "metadata", Value: `{"indexes":[]}`}, {Key: "size", Value: int32(0)}, {Key: "type", Value: kind},
		})...)
	}
	a.terminate()
	return a
}

func (a *archive) terminate() { a.out = append(a.out, 0xff, 0xff, 0xff, 0xff) }

// header opens a block.
func (a *archive) header(database, collection string, eof bool, crc uint64) {
	a.out = append(a.out, doc(a.t, bson.D{
		{Key: "db", Value: database}, {Key: "collection", Value: collection},
		{Key: "EOF", Value: eof}, {Key: "CRC", Value: int64(crc)},
	})...)
}

// block writes a block of encoded documents.
func (a *archive) block(database, collection string, docs []byte) *archive {
	ns := [2]string{database, collection}
	a.sums[ns] = crc64.Update(a.sums[ns], ecma, docs)
	a.header(database, collection, false, 0)
	a.out = append(a.out, docs...)
	a.terminate()
	return a
}

// end writes the end of a collection.
func (a *archive) end(database, collection string) *archive {
	a.header(database, collection, true, a.sums[[2]string{database, collection}])
	a.terminate()
	return a
}

// institute is a small archive of two interleaved collections and an empty one.
func institute(t testing.TB) []byte {
	return newArchive(t, "osiris.activities", "osiris.persons", "osiris.journals").
		block("osiris", "activities", numbered(t, 1, 2)).
		block("osiris", "persons", numbered(t, 1)).
		block("osiris", "activities", numbered(t, 3)).
		end("osiris", "journals").
		end("osiris", "activities").
		block("osiris", "persons", numbered(t, 2)).
		end("osiris", "persons").out
}

// readAll opens the files and returns each document as "collection{…}" in relaxed Extended JSON and each
// bad one as "bad: message", in order, and the error that ended the reading.
func readAll(f files, o dump.Options) (got []string, err error) {
	d, err := dump.OpenFS(f.fsys(), ".", o)
	if err != nil {
		return nil, err
	}
	for i := range d.Sources {
		for doc, err := range d.Sources[i].Documents(context.Background(), nil) {
			var bad *dump.BadDocument
			switch {
			case errors.As(err, &bad):
				got = append(got, "bad: "+err.Error())
			case err != nil:
				return got, err
			default:
				text, err := bson.MarshalExtJSON(doc.Raw, false, false)
				if err != nil {
					return got, err
				}
				got = append(got, doc.Collection+string(text))
			}
		}
	}
	return got, d.Close()
}

// shared returns a folder of the data beside the repository, or skips the test.
func shared(t testing.TB, folder string) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			break
		} else if parent := filepath.Dir(dir); parent != dir {
			dir = parent
		} else {
			t.Fatal("no go.mod above the test")
		}
	}
	path := filepath.Join(filepath.Dir(dir), "shared", folder)
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		t.Skipf("no folder shared/%s beside the repository", folder)
	}
	return path
}

// withLength puts a document's length before its elements and a zero byte after them.
func withLength(elements string) []byte {
	out := binary.LittleEndian.AppendUint32(nil, uint32(len(elements)+5))
	return append(append(out, elements...), 0)
}
