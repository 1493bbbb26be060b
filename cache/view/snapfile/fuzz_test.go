package snapfile

import (
	"bytes"
	"errors"
	"io"
	"iter"
	"slices"
	"testing"

	"github.com/klauspost/compress/zstd"
	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/origin"
)

// FuzzRead: the reader accepts or refuses any bytes, and what it accepts can be written and read
// again. The test also compresses the bytes, without and with the end mark, so that it reaches the
// reader behind the decompressor.
func FuzzRead(f *testing.F) {
	doc, err := bson.Marshal(bson.D{{Key: "_id", Value: "a"}, {Key: "n", Value: 1}})
	if err != nil {
		f.Fatal(err)
	}
	var whole, plain bytes.Buffer
	for to, write := range map[*bytes.Buffer]func(io.Writer, Header, iter.Seq[bson.Raw]) error{&whole: encode, &plain: writeDocuments} {
		if err := write(to, Header{Store: "s", Meta: origin.Meta{View: "v", Generation: 3}}, slices.Values([]bson.Raw{doc, doc})); err != nil {
			f.Fatal(err)
		}
		f.Add(to.Bytes())
		f.Add(to.Bytes()[:to.Len()/2])
	}
	f.Add(plain.Bytes()[:plain.Len()-len(end)]) // only the documents
	f.Add([]byte(magic))
	f.Fuzz(func(t *testing.T, content []byte) {
		for _, content := range [][]byte{content, packed(content), packed(append(bytes.Clone(content), end...))} {
			h, rows, err := decodeAll(bytes.NewReader(content))
			if err != nil {
				if !errors.Is(err, ErrRefused) {
					t.Errorf("unexpected kind of error: %v", err)
				}
				continue
			}
			var again bytes.Buffer
			if err := encode(&again, h, slices.Values(rows)); err != nil {
				t.Fatal(err)
			}
			if _, back, err := decodeAll(&again); err != nil || len(back) != len(rows) {
				t.Errorf("%d rows came back as %d: %v", len(rows), len(back), err)
			}
		}
	})
}

var encoder, _ = zstd.NewWriter(nil, zstd.WithWindowSize(window)) // fails for wrong options only

// decodeAll reads a file into memory.
func decodeAll(from io.Reader) (h Header, rows []bson.Raw, err error) {
	err = decode(from, func(header Header) (func(bson.Raw), error) {
		h = header
		return func(row bson.Raw) { rows = append(rows, row) }, nil
	})
	return h, rows, err
}

// packed makes a file of unpacked bytes.
func packed(plain []byte) []byte { return encoder.EncodeAll(plain, []byte(magic)) }
