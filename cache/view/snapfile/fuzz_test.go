package snapfile

import (
	"bytes"
	"encoding/binary"
	"errors"
	"slices"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// FuzzRead: any bytes are read or refused, and what is read can be written and read
// again. Blocks are checksummed anew, so that the reader behind the checksums is
// reached, too.
func FuzzRead(f *testing.F) {
	doc, err := bson.Marshal(bson.D{{Key: "_id", Value: "a"}, {Key: "n", Value: 1}})
	if err != nil {
		f.Fatal(err)
	}
	var whole bytes.Buffer
	if err := encode(&whole, Header{Store: "s", View: "v", Generation: 3}, slices.Values([]bson.Raw{doc, doc})); err != nil {
		f.Fatal(err)
	}
	f.Add(whole.Bytes())
	f.Add(whole.Bytes()[:whole.Len()/2])
	f.Add([]byte(magic))
	f.Fuzz(func(t *testing.T, content []byte) {
		for _, content := range [][]byte{content, resummed(content)} {
			h, rows, err := decode(bytes.NewReader(content))
			if err != nil {
				if !errors.Is(err, ErrRefused) {
					t.Errorf("neither read nor refused: %v", err)
				}
				continue
			}
			var again bytes.Buffer
			if err := encode(&again, h, slices.Values(rows)); err != nil {
				t.Fatal(err)
			}
			if _, back, err := decode(&again); err != nil || len(back) != len(rows) {
				t.Errorf("%d rows came back as %d: %v", len(rows), len(back), err)
			}
		}
	})
}

// resummed corrects the checksums of a file as far as its blocks can be told apart.
func resummed(content []byte) []byte {
	content = bytes.Clone(content)
	rest, before := content, uint64(0)
	if len(rest) < len(magic) {
		return content
	}
	rest = rest[len(magic):]
	for len(rest) >= prefixSize+8 {
		packed := int(binary.LittleEndian.Uint32(rest[1:]))
		if packed < 0 || packed > len(rest)-prefixSize-8 {
			return content
		}
		before = sum(before, rest[:prefixSize], rest[prefixSize:prefixSize+packed])
		binary.LittleEndian.PutUint64(rest[prefixSize+packed:], before)
		rest = rest[prefixSize+packed+8:]
	}
	return content
}
