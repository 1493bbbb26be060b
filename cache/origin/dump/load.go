package dump

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/origin"
	"vitrine/cache/origin/internal/idkey"
	"vitrine/rules/raw"
)

// The state of an import: a loader has one collection for each name. Both readings go through read, which gives
// each document an _id and calls check in the first reading, put in the second. What remains between the two is,
// for each _id, 16 bytes of hash and a position.

// LoadOptions say how a dump is loaded. The zero value works.
type LoadOptions struct {
	// Drop makes Load, at last, delete the documents of the imported collections that the dump does not hold. It
	// deletes none from a collection of which it skipped bad documents: the stored ones may be the same.
	Drop bool
	// SkipBad skips bad documents and counts them instead of stopping.
	SkipBad bool
	// BatchDocs is the most documents stored at once. If zero, 1000 is used.
	BatchDocs int
	// Progress, if not nil, is called with the bytes read from disk. The sum of all calls is twice the dump's Size.
	Progress func(n int)
}

// ErrChanged is returned if the dump's files changed during the import.
// The second reading then met other documents than the first, which alone were checked; what was stored before is
// complete documents.
var ErrChanged = errors.New("the dump changed while it was read")

// maxHeld is how many bytes of documents Load collects before it stores them.
// It bounds memory where documents are large; BatchDocs does where they are small.
const maxHeld = 8 << 20

// Load stores a dump's documents by their _id and replaces what is there. It reads the dump twice. The first time
// it writes nothing: a bad document or a broken file stops it with a *BadDocument or *BrokenFile. The second time
// it stores the documents in batches. Of documents with the same _id it stores the last one and counts the others.
// A document without _id gets an ObjectID made from its collection and content.
//
// With Drop, it deletes at the end: a collection is never empty in between. An import that is killed leaves a
// mixture of old and new documents at worst, which the next one completes.
//
// If ctx ends, Load stops between two batches. The report says what was done, also beside an error.
func Load(ctx context.Context, store origin.Importer, d *Dump, o LoadOptions) (Report, error) {
	if o.BatchDocs <= 0 {
		o.BatchDocs = 1000
	}
	l := &loader{store: store, dump: d, opts: o, collections: map[string]*collection{}}
	for i := range d.Sources {
		for _, name := range d.Sources[i].Collections {
			l.collection(name)
		}
	}
	err := l.read(ctx, l.check)
	if err == nil {
		l.rewind()
		err = l.write(ctx)
	}
	if err == nil && o.Drop {
		err = l.drop(ctx)
	}
	return l.report(), err
}

// loader is the state of one run of Load.
type loader struct {
	store       origin.Importer
	dump        *Dump
	opts        LoadOptions
	collections map[string]*collection
	bad         []*BadDocument // the first bad documents
	badTotal    int
	held        int // bytes in all batches
}

// collection is the state of one collection.
type collection struct {
	tally Tally
	last  map[keyHash]int  // position of the last document with each _id
	equal map[[32]byte]int // number of documents without _id so far, by content
	read  int              // good documents so far in this reading
	batch []bson.Raw
}

// collection returns the state of a collection, and creates it. An archive may have more collections than its
// prelude.
func (l *loader) collection(name string) *collection {
	c := l.collections[name]
	if c == nil {
		c = &collection{tally: Tally{Collection: name}, last: map[keyHash]int{}, equal: map[[32]byte]int{}}
		l.collections[name] = c
	}
	return c
}

// derive returns an _id for a document without one, made from the collection, the document and the number of equal
// documents before it, so that the next import of the same dump replaces the documents.
// Both readings derive the same ids, since rewind forgets the counts.
func (c *collection) derive(doc bson.Raw) bson.ObjectID {
	// Equal documents get different ids: the institute may mean both. Their number makes the ids differ.
	content := sha256.Sum256(doc)
	before := binary.BigEndian.AppendUint64(nil, uint64(c.equal[content]))
	c.equal[content]++
	sum := sha256.Sum256(slices.Concat([]byte(c.tally.Collection), []byte{0}, doc, before))
	return bson.ObjectID(sum[:12])
}

// read reads the whole dump once and calls take with every good document, after giving it an _id if it has none.
func (l *loader) read(ctx context.Context, take func(context.Context, *collection, Document, keyHash) error) error {
	for i := range l.dump.Sources {
		for doc, err := range l.dump.Sources[i].Documents(ctx, l.opts.Progress) {
			var key keyHash
			if err == nil {
				doc.Raw, key, err = l.identify(doc)
			}
			if err != nil {
				if err := l.skip(err); err != nil {
					return err
				}
				continue
			}
			if err := take(ctx, l.collection(doc.Collection), doc, key); err != nil {
				return err
			}
		}
	}
	return nil
}

// identify returns a document with its _id, its own or a derived one. The error is a *BadDocument.
// raw.CheckStorable judges what every store accepts, so that an import into either store ends alike.
func (l *loader) identify(doc Document) (bson.Raw, keyHash, error) {
	id, err := raw.CheckStorable(doc.Raw)
	stored := doc.Raw
	if err == nil && id.Type == 0 {
		given := l.collection(doc.Collection).derive(stored)
		id = bson.RawValue{Type: bson.TypeObjectID, Value: given[:]}
		if stored, err = raw.PutID(stored, id); err == nil {
			_, err = raw.CheckStorable(stored) // with its _id, the document may be too large
		}
	}
	var key keyHash
	if err == nil {
		key, err = hashID(id)
	}
	if err != nil {
		return nil, key, doc.bad(err)
	}
	return stored, key, nil
}

// skip counts a bad document, or returns the error that ends the import.
// A BrokenFile is never skipped.
func (l *loader) skip(err error) error {
	bad, ok := errors.AsType[*BadDocument](err)
	if !l.opts.SkipBad || !ok {
		return err
	}
	l.collection(bad.Collection).tally.Skipped++
	l.badTotal++
	if len(l.bad) < maxBadListed {
		l.bad = append(l.bad, bad)
	}
	return nil
}

// check notes a document's position, in the first reading.
func (l *loader) check(_ context.Context, c *collection, _ Document, key keyHash) error {
	c.read++
	c.last[key] = c.read
	return nil
}

// rewind prepares for the second reading, which counts bad documents anew.
func (l *loader) rewind() {
	l.bad, l.badTotal = nil, 0
	for _, c := range l.collections {
		c.tally.Documents = c.read
		c.tally.Duplicates = c.read - len(c.last)
		c.tally.Skipped = 0
		c.read = 0
		clear(c.equal)
	}
}

// write stores the dump, in the second reading.
func (l *loader) write(ctx context.Context) error {
	if err := l.read(ctx, l.put); err != nil {
		return err
	}
	for _, c := range l.byName() {
		if err := l.flush(ctx, c); err != nil {
			return err
		}
		if c.read != c.tally.Documents {
			return fmt.Errorf("%s: %w", c.tally.Collection, ErrChanged)
		}
	}
	return nil
}

// put adds a document to its collection's batch if it is the last with its _id.
// A document whose position is not the last one of its _id is a duplicate. One beyond it, or with an unknown _id,
// was not there in the first reading.
func (l *loader) put(ctx context.Context, c *collection, doc Document, key keyHash) error {
	c.read++
	switch last, known := c.last[key]; {
	case !known || last < c.read:
		return fmt.Errorf("%s: %w", c.tally.Collection, ErrChanged)
	case last > c.read:
		if c.tally.Superseded == (Place{}) {
			c.tally.Superseded = doc.Place
		}
		return nil
	}
	c.batch = append(c.batch, doc.Raw)
	l.held += len(doc.Raw)
	if len(c.batch) >= l.opts.BatchDocs {
		return l.flush(ctx, c)
	}
	if l.held < maxHeld {
		return nil
	}
	for _, c := range l.byName() { // an archive fills several batches at once
		if err := l.flush(ctx, c); err != nil {
			return err
		}
	}
	return nil
}

// flush stores a batch. After an error, the counts have what the store says it has done.
func (l *loader) flush(ctx context.Context, c *collection) error {
	if len(c.batch) == 0 {
		return nil
	}
	done, err := l.store.Upsert(ctx, c.tally.Collection, c.batch)
	c.tally.Inserted += done.Inserted
	c.tally.Replaced += done.Replaced
	if err != nil {
		return fmt.Errorf("store %d documents of %s: %w", len(c.batch), c.tally.Collection, err)
	}
	for _, doc := range c.batch {
		l.held -= len(doc)
	}
	c.batch = nil // the store now owns the documents
	return nil
}

// drop deletes the documents that the dump does not hold, in the end: until then the old ones stay readable.
func (l *loader) drop(ctx context.Context) error {
	for _, c := range l.byName() {
		if c.tally.Skipped > 0 {
			c.tally.Kept = true
			continue
		}
		removed, err := l.store.Retain(ctx, c.tally.Collection, func(id bson.RawValue) bool {
			key, err := hashID(id)
			_, held := c.last[key]
			return held || err != nil // keep malformed ids
		})
		c.tally.Removed = removed
		if err != nil {
			return fmt.Errorf("delete from %s: %w", c.tally.Collection, err)
		}
	}
	return nil
}

// keyHash replaces an _id in memory: 128 bits, so that long ids cost no more than short ones. Ids that MongoDB
// considers equal, such as 1 and 1.0, have the same hash.
// Two ids with the same hash would lose a document; at 128 bits of SHA-256 that does not happen by chance.
type keyHash [16]byte

// maxID is the greatest length of an _id that every store accepts, in bytes.
const maxID = 32000

// hashID returns the hash of an _id, or an error for one that is malformed or too long for a store.
func hashID(id bson.RawValue) (keyHash, error) {
	var buf [64]byte
	key, err := idkey.Append(buf[:0], id)
	if err == nil && len(key) > maxID {
		err = fmt.Errorf("_id of more than %d bytes", maxID)
	}
	if err != nil {
		return keyHash{}, err
	}
	sum := sha256.Sum256(key)
	return keyHash(sum[:16]), nil
}

// maxBadListed is how many bad documents a Report names. All are counted.
const maxBadListed = 20

// Report is the result of Load.
type Report struct {
	Collections []Tally        // the collections of the dump, sorted by name, including empty ones
	Bad         []*BadDocument // the first 20 bad documents that Load skipped
	BadTotal    int            // how many bad documents Load skipped
}

// Stored is how many documents were stored in all.
func (r Report) Stored() int {
	n := 0
	for _, t := range r.Collections {
		n += t.Inserted + t.Replaced
	}
	return n
}

// Tally counts the documents of one collection.
type Tally struct {
	Collection string
	Documents  int // good documents in the dump
	Duplicates int // those of Documents that were not stored because a later one has the same _id
	Skipped    int // bad documents, which Documents does not count
	Inserted   int
	Replaced   int
	Removed    int   // documents deleted because the dump does not hold them
	Superseded Place // where the first of the Duplicates is
	Kept       bool  // Drop deleted nothing here because documents were skipped
}

// report is valid at any time, so that an interrupted import can say what it has done.
func (l *loader) report() Report {
	r := Report{Bad: l.bad, BadTotal: l.badTotal}
	for _, c := range l.byName() {
		r.Collections = append(r.Collections, c.tally)
	}
	return r
}

// byName returns the collections sorted by name, so that two runs of the same dump end alike.
func (l *loader) byName() []*collection {
	return slices.SortedFunc(maps.Values(l.collections), func(a, b *collection) int {
		return cmp.Compare(a.tally.Collection, b.tally.Collection)
	})
}
