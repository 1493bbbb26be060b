package control

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/rules/raw"
)

// maxBody is how many bytes of documents a request may have. The client sends up to maxBatch, and the server has
// room for one more document of the greatest size.
const (
	maxBatch = 16 << 20
	maxBody  = maxBatch + raw.MaxDocument
)

// split returns the documents of a body. Each is checked as a dump's are, because the store trusts what it gets.
func split(body []byte) (docs []bson.Raw, err error) {
	for len(body) > 0 {
		size := int32(0)
		if len(body) >= raw.MinDocument {
			size = raw.Length(body)
		}
		if size < raw.MinDocument || int(size) > len(body) {
			return nil, fmt.Errorf("document %d: its length is wrong", len(docs))
		}
		doc := bson.Raw(body[:size:size])
		err := raw.Check(doc)
		if err == nil {
			_, err = raw.CheckStorable(doc)
		}
		if err != nil {
			return nil, fmt.Errorf("document %d: %w", len(docs), err)
		}
		docs, body = append(docs, doc), body[size:]
	}
	return docs, nil
}

// join is the inverse of split.
func join(docs []bson.Raw) []byte {
	var b bytes.Buffer
	for _, doc := range docs {
		b.Write(doc)
	}
	return b.Bytes()
}

// idDocument returns the document in which an id is sent.
func idDocument(id bson.RawValue) (bson.Raw, error) {
	return bson.Marshal(bson.D{{Key: "_id", Value: id}})
}

// next reads a document of a stream; io.EOF at its end.
func next(r io.Reader) (bson.Raw, error) {
	var head [4]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return nil, err
	}
	size := raw.Length(head[:])
	if size < raw.MinDocument || size > raw.MaxDocument {
		return nil, errors.New("the server's answer is no document")
	}
	doc := make(bson.Raw, size)
	copy(doc, head[:])
	if _, err := io.ReadFull(r, doc[len(head):]); err != nil {
		return nil, io.ErrUnexpectedEOF
	}
	return doc, raw.Check(doc)
}
