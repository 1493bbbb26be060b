package snapfile

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/origin"
)

// FuzzRead: the reader accepts or refuses any bytes, and what it accepts can be written and read
// again. The test also makes blocks with the right checksums of the bytes, so that it reaches the
// reader behind them.
func FuzzRead(f *testing.F) {
	doc, err := bson.Marshal(bson.D{{Key: "_id", Value: "a"}, {Key: "n", Value: 1}})
	if err != nil {
		f.Fatal(err)
	}
	var whole bytes.Buffer
	if err := encode(&whole, Header{Store: "s", Meta: origin.Meta{View: "v", Generation: 3}},
		slices.Values([]bson.Raw{doc, doc})); err != nil {
		f.Fatal(err)
	}
	f.Add(whole.Bytes())
	f.Add(whole.Bytes()[:whole.Len()/2])
	f.Add([]byte(doc))
	f.Add([]byte(magic))
	path := filepath.Join(f.TempDir(), "f")
	f.Fuzz(func(t *testing.T, content []byte) {
		for _, content := range [][]byte{content, blocksWith(content), blocksWith(doc, content),
			blocksWith(doc, doc, content)} {
			if err := os.WriteFile(path, content, 0o600); err != nil {
				t.Fatal(err)
			}
			h, rows, err := Read(path)
			if err != nil {
				if !errors.Is(err, ErrRefused) {
					t.Errorf("unexpected kind of error: %v", err)
				}
				continue
			}
			if err := Write(path, h, slices.Values(rows)); err != nil {
				t.Fatal(err)
			}
			if _, back, err := Read(path); err != nil || len(back) != len(rows) {
				t.Errorf("%d rows came back as %d: %v", len(rows), len(back), err)
			}
		}
	})
}

// blocksWith makes a file of blocks and an end.
func blocksWith(contents ...[]byte) []byte {
	file, sum := []byte(magic), uint32(0)
	for _, content := range append(contents, nil) {
		rest := append(binary.LittleEndian.AppendUint32(nil, uint32(len(content))), content...)
		sum = crc32.Update(sum, checksums, rest)
		file = append(binary.LittleEndian.AppendUint32(file, sum), rest...)
	}
	return file
}
