package mongo

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/origin"
	"vitrine/cache/origin/internal/idkey"
	"vitrine/rules/raw"
)

// viewField is the field of stored rows with what belongs to the store. A record's own field of that name is not
// kept.
const viewField = "_view"

// rowInfo is the content of viewField. Its names are on servers: a change needs a way to read the old ones.
type rowInfo struct {
	Generation uint64        `bson:"gen"`
	Hash       int64         `bson:"hash"` // the unsigned hash as a signed number
	Gone       bool          `bson:"gone,omitempty"`
	ID         bson.RawValue `bson:"id,omitempty"` // the row's own _id, in view_staged
	Words      []string      `bson:"words,omitempty"`
}

// stagedPrefix begins the _id of an attempt's staged rows: those of an attempt, or of all earlier ones, are a range.
func stagedPrefix(view string, attempt uint64) string { return fmt.Sprintf("%s/%016x/", view, attempt) }

// stagedID returns the _id in view_staged of the row with an _id. It contains a digest of the row's _id, which can be
// of any type and length.
func stagedID(prefix string, id bson.RawValue) (bson.RawValue, error) {
	key, err := idkey.Of(id)
	if err != nil {
		return bson.RawValue{}, err
	}
	sum := sha256.Sum256(key)
	return raw.NewString(prefix + hex.EncodeToString(sum[:16])), nil
}

// stagedDoc returns a row as view_staged has it: its fields stand beside viewField, so that it may be as large as the
// server allows.
func stagedDoc(prefix string, r origin.Row, generation uint64) (bson.Raw, error) {
	id, err := stagedID(prefix, r.ID)
	if err != nil {
		return nil, err
	}
	info := infoOf(r, generation)
	info.ID = r.ID
	return encode(id, r.Doc, info)
}

// sideDoc returns a row as view_NAME has it.
func sideDoc(r origin.Row) (bson.Raw, error) { return encode(r.ID, r.Doc, infoOf(r, r.Generation)) }

func infoOf(r origin.Row, generation uint64) rowInfo {
	return rowInfo{Generation: generation, Hash: int64(r.Hash), Gone: r.Doc == nil, Words: r.Words}
}

// encode joins _id, the document's fields and viewField, which replaces a field of that name.
func encode(id bson.RawValue, doc bson.Raw, info rowInfo) (bson.Raw, error) {
	about, err := bson.Marshal(info)
	if err != nil {
		return nil, err
	}
	var b raw.Builder
	b.Grow(len(doc) + len(id.Value) + len(about) + 32)
	b.Add("_id", id)
	if doc != nil {
		err = b.Copy(doc, ofRecord)
	}
	b.Add(viewField, bson.RawValue{Type: bson.TypeEmbeddedDocument, Value: about})
	return b.Document(), err
}

// ofRecord reports whether a field of a stored row is a field of the record, other than _id.
func ofRecord(name string) bool { return name != "_id" && name != viewField }

// errMalformedRow reports a row that this package cannot have written.
var errMalformedRow = errors.New("malformed row in a side collection")

// decodeSide returns a copy of the row in a document of view_NAME. If the row is malformed, decodeSide returns its ID
// and generation 0 beside the error, so that the next run can replace the row.
func decodeSide(doc bson.Raw) (origin.Row, error) {
	id, err := raw.ID(doc)
	if err != nil {
		return origin.Row{}, fmt.Errorf("%w: %w", errMalformedRow, err)
	}
	info, err := infoIn(doc)
	if err == nil && !info.ID.IsZero() {
		err = fmt.Errorf("%w: it is a staged row", errMalformedRow)
	}
	if err != nil {
		return origin.Row{ID: raw.Clone(id)}, err
	}
	return rowIn(doc, id, info)
}

// decodeStaged returns a copy of the row in a document of view_staged that was staged for a generation.
func decodeStaged(doc bson.Raw, generation uint64) (origin.Row, error) {
	info, err := infoIn(doc)
	if err == nil && (info.ID.IsZero() || info.Generation != generation) {
		err = fmt.Errorf("%w: it was not staged for generation %d", errMalformedRow, generation)
	}
	if err != nil {
		return origin.Row{}, err
	}
	return rowIn(doc, info.ID, info)
}

// infoIn reads viewField. Only a valid generation is required: without hash or words, the next run that compares
// hashes makes the row again.
func infoIn(doc bson.Raw) (info rowInfo, err error) {
	about, ok := doc.Lookup(viewField).DocumentOK()
	if ok {
		ok = about.Validate() == nil
	}
	generation, isNumber := about.Lookup("gen").AsInt64OK()
	if !ok || !isNumber || generation <= 0 {
		return info, fmt.Errorf("%w: its %s has no generation", errMalformedRow, viewField)
	}
	gone := about.Lookup("gone")
	info.Generation, info.Gone, info.ID = uint64(generation), !gone.IsZero(), about.Lookup("id")
	info.Hash, _ = about.Lookup("hash").AsInt64OK()
	if words := about.Lookup("words"); !words.IsZero() {
		_ = words.Unmarshal(&info.Words) // only runs write them, and none reads them
	}
	return info, nil
}

// rowIn returns a copy of the row in a document.
func rowIn(doc bson.Raw, id bson.RawValue, info rowInfo) (r origin.Row, err error) {
	r = origin.Row{ID: raw.Clone(id), Generation: info.Generation, Hash: uint64(info.Hash), Words: info.Words}
	if info.Gone {
		return r, nil
	}
	var b raw.Builder
	b.Grow(len(doc))
	b.Add("_id", id)
	if err := b.Copy(doc, ofRecord); err != nil {
		return origin.Row{ID: r.ID}, fmt.Errorf("%w: %w", errMalformedRow, err)
	}
	r.Doc = b.Document()
	return r, nil
}
