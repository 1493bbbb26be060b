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

// hasher hashes records under one seed, which stands for all that rows of a run
// have in common: fingerprint and dependencies. It is used by one goroutine.
type hasher struct {
	seed   uint64
	seen   func(record bson.Raw) bson.Raw // see Job.seen
	digest *xxhash.Digest
	part   func(record bson.Raw) ([]byte, error) // see Job.Part; nil: nothing
	parts  uint64                                // seed of plain hashes: stands for what part reads besides the record, too
}

func newHasher(fingerprint string, job Job, deps Deps) *hasher {
	h := &hasher{seen: job.seen, seed: xxhash.Sum64String(fingerprint), digest: xxhash.New()}
	if job.Part != nil {
		h.part, h.parts = job.Part(deps)
		h.parts ^= h.seed
	}
	return h
}

// plain returns the hash of a record alone. While it stays the same, so does sum. It is 0
// for jobs without Part, whose sum costs no more.
func (h *hasher) plain(record bson.Raw) uint64 {
	if h.part == nil {
		return 0
	}
	h.digest.ResetWithSeed(h.parts)
	h.digest.Write(record) // never fails
	return h.digest.Sum64()
}

// sum returns the hash of a record, and of what its row takes from related collections,
// under the seed. An error is that of Job.Part, and the hash is good all the same.
func (h *hasher) sum(record bson.Raw) (_ uint64, err error) {
	h.digest.ResetWithSeed(h.seed)
	h.digest.Write(record)
	if h.part != nil {
		var part []byte
		part, err = h.part(h.seen(record))
		h.digest.Write(part)
	}
	return h.digest.Sum64(), err
}

// readDeps loads the collections that a job depends on, and those related to its rows, and
// returns with them the fingerprint of everything that all rows are made from besides
// their records. Documents that cannot be read are given to skip, whose error ends the
// reading.
func readDeps(ctx context.Context, store Store, job Job, skip func(bson.RawValue, error) error) (Deps, string, error) {
	deps := make(Deps, len(job.Deps)+len(job.Related))
	digest := xxhash.New()
	for _, name := range slices.Compact(slices.Sorted(slices.Values(slices.Concat(job.Deps, job.Related)))) {
		docs, err := readSorted(ctx, store, name, skip)
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
			digest.Write(d) // a document starts with its length, so their border is part of the sum
		}
	}
	switch {
	case len(job.Deps) == 0:
		return deps, job.Fingerprint, nil
	case job.Digest != nil:
		return deps, job.Fingerprint + " " + job.Digest(deps), nil
	}
	return deps, fmt.Sprintf("%s %016x", job.Fingerprint, digest.Sum64()), nil
}

// readSorted reads a small collection in order of _id: scans promise no order, and
// the fingerprint must not depend on it.
func readSorted(ctx context.Context, store Store, collection string, skip func(bson.RawValue, error) error) ([]bson.Raw, error) {
	byID := map[string]bson.Raw{}
	for doc, err := range store.Scan(ctx, collection) {
		if damaged := (*origin.DamagedError)(nil); errors.As(err, &damaged) {
			if err := skip(damaged.ID, err); err != nil {
				return nil, err
			}
			continue
		}
		if err != nil {
			return nil, err
		}
		id := doc.Lookup("_id")
		if err := raw.Check(doc); err != nil {
			if err := skip(id, fmt.Errorf("malformed record of %s: %w", collection, err)); err != nil {
				return nil, err
			}
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
