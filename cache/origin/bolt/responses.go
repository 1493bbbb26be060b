package bolt

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"iter"
	"runtime"

	bbolt "go.etcd.io/bbolt"
	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/origin"
	"vitrine/cache/origin/internal/batch"
	"vitrine/cache/origin/internal/registry"
)

// Kept answers: the rules are those of registry.Responses, this file has only the table on which they work. Each
// change is one write transaction, so there is nothing to try again, and a crash leaves a document before or after
// it.

// bucketUpstream has the kept answers of the other server. Their bodies lie apart, because claims and confirmations
// write the rest of a document again.
var (
	bucketUpstream = []byte("upstream")
	bucketAnswers  = []byte("answers")
	bucketBodies   = []byte("bodies")
	keyState       = []byte("state") // in bucketAnswers: no key of an answer, which begins with a slash
)

var (
	placeAnswers = placeOf(bucketUpstream, string(bucketAnswers))
	placeBodies  = placeOf(bucketUpstream, string(bucketBodies))
)

// responses is a registry.ResponseTable in the file. The sequence of bucketAnswers counts its numbers. The sequence
// grows in the transaction of the change, so that a change that fails takes no number.
type responses struct{ file *storeFile }

// responseBuckets are the buckets of responses; they are nil in a damaged file that had none.
type responseBuckets struct{ answers, bodies *bbolt.Bucket }

// buckets returns the buckets of a transaction, or an error that wraps origin.ErrDamaged.
func (r responses) buckets(tx *bbolt.Tx) (b responseBuckets, err error) {
	for _, name := range [][]byte{bucketAnswers, bucketBodies} {
		// prepareResponses sets them aside, but not while the store is read-only
		if err := r.file.damaged[pathOf(bucketUpstream, string(name))]; err != nil {
			return b, fmt.Errorf("%s: %w: %w", r.file.Name(), origin.ErrDamaged, err)
		}
	}
	if top := tx.Bucket(bucketUpstream); top != nil {
		b.answers, b.bodies = top.Bucket(bucketAnswers), top.Bucket(bucketBodies)
	}
	return b, nil
}

// prepareResponses creates the buckets of responses, after it has set damaged ones aside: kept answers can be
// fetched again. A new sequence begins at a number made of the time, see registry.FirstNumber.
func (f *storeFile) prepareResponses(tx *bbolt.Tx) error {
	damaged := false
	for _, name := range [][]byte{bucketAnswers, bucketBodies} {
		path := pathOf(bucketUpstream, string(name))
		damaged = damaged || f.damaged[path] != nil
		delete(f.damaged, path)
	}
	if damaged {
		aside, err := f.asideBucket(tx)
		if err == nil {
			err = tx.MoveBucket(bucketUpstream, nil, aside)
		}
		if err != nil {
			return err
		}
		f.notes = append(f.notes, string(bucketUpstream)+" was set aside: its answers are fetched anew")
	}
	top, err := tx.CreateBucketIfNotExists(bucketUpstream)
	if err != nil {
		return err
	}
	answers, err := top.CreateBucketIfNotExists(bucketAnswers)
	if err == nil && answers.Sequence() == 0 {
		err = answers.SetSequence(registry.FirstNumber(f.now()))
	}
	if err == nil {
		_, err = top.CreateBucketIfNotExists(bucketBodies)
	}
	return err
}

// read returns the document of a key, or a zero one if it is missing or damaged.
func (b responseBuckets) read(key string) registry.Response {
	if b.answers == nil {
		return registry.Response{}
	}
	at := []byte(key)
	return decodeResponse(at, b.answers.Get(at))
}

// decodeResponse returns a copy of a document, or a zero one if it is damaged.
func decodeResponse(key, sealed []byte) (d registry.Response) {
	if doc, err := placeAnswers.open(key, bytes.Clone(sealed)); err == nil {
		d, _ = registry.DecodeResponse(doc)
	}
	if d.Key != string(key) {
		return registry.Response{}
	}
	return d
}

// store stores a document, and its body if it has one. A nil Body leaves the stored one, which is how confirmations
// and claims avoid writing it again; a document without an answer has none.
func (r responses) store(tx *writeTx, d registry.Response) error {
	key := []byte(d.Key)
	if d.Remove {
		return cmp.Or(tx.delete(placeAnswers, key), tx.delete(placeBodies, key))
	}
	doc, err := bson.Marshal(d)
	if err != nil {
		return err
	}
	if err := tx.put(placeAnswers, key, doc); err != nil {
		return err
	}
	switch {
	case d.Body != nil:
		return tx.put(placeBodies, key, d.Body)
	case d.Digest == "":
		return tx.delete(placeBodies, key)
	}
	return nil
}

// Read implements registry.ResponseTable. A damaged body is nil; Responses.Response then drops the answer.
func (r responses) Read(ctx context.Context, key string, body bool) (d registry.Response, err error) {
	err = r.file.view(ctx, func(tx *bbolt.Tx) error {
		b, err := r.buckets(tx)
		if err != nil {
			return err
		}
		if d = b.read(key); body && d.Digest != "" {
			at := []byte(key)
			d.Body, _ = placeBodies.open(at, bytes.Clone(b.bodies.Get(at)))
		}
		return nil
	})
	return d, err
}

// Update implements registry.ResponseTable. It needs no repetition, because write transactions exclude each other.
func (r responses) Update(
	ctx context.Context, key string, change func(*registry.Response, uint64) error,
) (d registry.Response, err error) {
	err = r.change(ctx, func(tx *writeTx, b responseBuckets, number uint64) error {
		d = b.read(key)
		d.Key = key
		if err := change(&d, number); err != nil {
			return err
		}
		return r.store(tx, d)
	})
	d.Body = nil
	return d, err
}

// change runs a write transaction with the next number.
func (r responses) change(ctx context.Context, fn func(tx *writeTx, b responseBuckets, number uint64) error) error {
	return r.file.update(ctx, func(tx *writeTx) error {
		b, err := r.buckets(tx.Tx)
		if err != nil {
			return err
		}
		number, err := b.answers.NextSequence()
		if err == nil {
			err = fn(tx, b, number)
		}
		return err
	})
}

// Drop implements registry.ResponseTable. All keys of a batch get the same number, since they change at once.
func (r responses) Drop(ctx context.Context, keys []string) error {
	return r.each(ctx, registry.CheckKeys(keys), func(tx *writeTx, b responseBuckets, key string, number uint64) error {
		d := b.read(key)
		if d.Key == "" {
			return nil
		}
		d.Drop(number)
		return r.store(tx, d)
	})
}

// each calls fn with keys, in as many transactions as needed.
func (r responses) each(
	ctx context.Context, keys []string, fn func(tx *writeTx, b responseBuckets, key string, number uint64) error,
) error {
	for part := range batch.Of(keys, writeDocs, writeBytes, func(key string) int { return len(key) }) {
		err := r.change(ctx, func(tx *writeTx, b responseBuckets, number uint64) (err error) {
			for _, key := range part {
				err = cmp.Or(err, fn(tx, b, key, number))
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// Since implements registry.ResponseTable. It reads all answers, but no bodies: there is no index on generations.
func (r responses) Since(ctx context.Context, since uint64) iter.Seq2[registry.Response, error] {
	return r.documents(ctx, func(d registry.Response) bool { return d.Generation > since })
}

// documents yields the readable documents that want accepts.
func (r responses) documents(
	ctx context.Context, want func(registry.Response) bool,
) iter.Seq2[registry.Response, error] {
	return inBatches(ctx, r.file, r.entries, runtime.Gosched, func(e entry) (registry.Response, bool, error) {
		d := decodeResponse(e.key, e.value)
		return d, d.Key != "" && want(d), nil
	})
}

// entries yields the documents of answers. Keys begin with a slash, and the state's key sorts after them: documents
// leaves it out because it is no response.
func (r responses) entries(tx *bbolt.Tx, from []byte, yield func(entry) bool) error {
	b, err := r.buckets(tx)
	if err != nil || b.answers == nil {
		return err
	}
	cursor := b.answers.Cursor()
	for key, value := cursor.Seek([]byte(cmp.Or(string(from), "/"))); key != nil && yield(entry{key, key, value}); {
		key, value = cursor.Next()
	}
	return nil
}

// AddDemand implements registry.ResponseTable. It loses nothing: no other process writes to the file.
func (r responses) AddDemand(ctx context.Context, demand []origin.Demand) error {
	if len(demand) == 0 {
		return nil
	}
	return r.file.update(ctx, func(tx *writeTx) error {
		b, err := r.buckets(tx.Tx)
		if err != nil {
			return err
		}
		for _, one := range demand {
			d := b.read(one.Key)
			if d.Digest == "" {
				continue
			}
			d.AddDemand(one, r.file.now())
			if err := r.store(tx, d); err != nil {
				return err
			}
		}
		return nil
	})
}

// Sweep implements registry.ResponseTable. It looks at each document again in the transaction that removes it: a
// claim may have come since the search.
func (r responses) Sweep(ctx context.Context, number uint64) error {
	obsolete := func(d registry.Response) bool {
		return d.Digest == "" && d.Generation < number && d.Token < number
	}
	var keys []string
	for d, err := range r.documents(ctx, obsolete) {
		if err != nil {
			return err
		}
		keys = append(keys, d.Key)
	}
	return r.each(ctx, keys, func(tx *writeTx, b responseBuckets, key string, _ uint64) error {
		d := b.read(key)
		if d.Remove = obsolete(d); !d.Remove || d.Key == "" {
			return nil
		}
		return r.store(tx, d)
	})
}

// State implements registry.ResponseTable.
func (r responses) State(ctx context.Context) (s registry.ResponseState, err error) {
	err = r.file.view(ctx, func(tx *bbolt.Tx) error {
		b, err := r.buckets(tx)
		if err == nil && b.answers != nil {
			s = b.state()
		}
		return err
	})
	return s, err
}

// state returns the state, without what cannot be read. The bucket's sequence is the generation, whatever the
// stored document says.
func (b responseBuckets) state() (s registry.ResponseState) {
	if doc, err := placeAnswers.open(keyState, bytes.Clone(b.answers.Get(keyState))); err == nil {
		s = registry.DecodeState(doc)
	}
	s.Generation = b.answers.Sequence()
	return s
}

// UpdateState implements registry.ResponseTable. The transaction of the change takes no number: marks have none.
func (r responses) UpdateState(ctx context.Context, change func(*registry.ResponseState) error) error {
	return r.file.update(ctx, func(tx *writeTx) error {
		b, err := r.buckets(tx.Tx)
		if err != nil {
			return err
		}
		s := b.state()
		if err := change(&s); err != nil {
			return err
		}
		doc, err := bson.Marshal(s)
		if err != nil {
			return err
		}
		return tx.put(placeAnswers, keyState, doc)
	})
}
