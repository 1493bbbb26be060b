package materialize

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/cespare/xxhash/v2"
	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/origin"
	"vitrine/rules/raw"
)

// hasher hashes records under one seed, of what the rows of a run have in common: fingerprint and dependencies. Only
// one goroutine may use it.
type hasher struct {
	seed   uint64
	digest *xxhash.Digest
	mark   func(record bson.Raw) (bson.Raw, error) // see Job.Mark; nil if rows have no marks
	// seed of plain hashes, which also covers everything else that marks depend on
	marks uint64
}

func newHasher(fingerprint string, job Job, deps Deps) *hasher {
	h := &hasher{seed: xxhash.Sum64String(fingerprint), digest: xxhash.New()}
	if job.Mark != nil {
		h.mark, h.marks = job.Mark(deps)
		h.marks ^= h.seed
	}
	return h
}

// basis identifies what hashes depend on, except the records.
func (h *hasher) basis() string { return fmt.Sprintf("%x %x", h.seed, h.marks) }

// plain returns the hash of a record alone. While it does not change, neither does sum. It is 0 for jobs without
// marks.
func (h *hasher) plain(record bson.Raw) uint64 {
	if h.mark == nil {
		return 0
	}
	h.digest.ResetWithSeed(h.marks)
	h.digest.Write(record) // Write never fails
	return h.digest.Sum64()
}

// sum returns the hash of a record and its mark, and the mark. The hash is valid even with an error of Job.Mark. With
// marks, the record must be prepared; one that was found malformed has none.
func (h *hasher) sum(c *change) (_ uint64, mark bson.Raw, err error) {
	h.digest.ResetWithSeed(h.seed)
	h.digest.Write(c.record)
	if h.mark != nil && c.err == nil {
		mark, err = h.mark(c.prepared)
		h.digest.Write(mark)
	}
	return h.digest.Sum64(), mark, err
}

// readDeps loads the collections that the job and its marks depend on, and returns the fingerprint of everything that
// rows are made from besides their records. It returns an error if a collection has too few documents.
func (b *build) readDeps(ctx context.Context) (Deps, string, error) {
	job := b.job
	deps := make(Deps, len(job.Deps)+len(job.Related))
	digest := xxhash.New()
	names := slices.Compact(slices.Sorted(slices.Values(slices.Concat(job.Deps, job.Related))))
	for _, name := range names {
		docs, err := b.readSorted(ctx, name)
		if err != nil {
			return nil, "", fmt.Errorf("read dependency %s: %w", name, err)
		}
		deps[name] = docs
		if !slices.Contains(job.Deps, name) {
			continue
		}
		digest.WriteString(name)
		digest.Write([]byte{0})
		for _, d := range docs {
			// a document starts with its length, so the hash also covers the borders between documents
			digest.Write(d)
		}
	}
	fingerprint := job.Fingerprint
	switch {
	case job.Digest != nil:
		fingerprint += " " + job.Digest(deps)
	case len(job.Deps) == 0:
	default:
		fingerprint += fmt.Sprintf(" %016x", digest.Sum64())
	}
	for _, name := range names {
		if err := b.guard.collection(name, len(deps[name])); err != nil {
			return nil, "", err
		}
	}
	return deps, fingerprint, nil
}

// readSorted reads a small collection in order of _id, because scans have no order and the fingerprint must have one.
func (b *build) readSorted(ctx context.Context, collection string) ([]bson.Raw, error) {
	byID := map[string]bson.Raw{}
	for doc, err := range b.Store.Scan(ctx, collection) {
		if damaged, ok := errors.AsType[*origin.DamagedError](err); ok {
			b.skip(damaged.ID, err)
			if err := b.mustHold(err); err != nil {
				return nil, err
			}
			continue
		}
		if err != nil {
			return nil, err
		}
		b.rest()
		id := doc.Lookup("_id")
		if err := raw.Check(doc); err != nil {
			b.skip(id, fmt.Errorf("malformed record of %s: %w", collection, err))
			continue
		}
		byID[raw.Key(id)] = doc
	}
	docs := make([]bson.Raw, 0, len(byID))
	for _, k := range slices.Sorted(maps.Keys(byID)) {
		docs = append(docs, byID[k])
	}
	return docs, nil
}
