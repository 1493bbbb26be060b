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
	digest *xxhash.Digest
}

func newHasher(fingerprint string) *hasher {
	seed := xxhash.Sum64String(fingerprint)
	return &hasher{seed: seed, digest: xxhash.NewWithSeed(seed)}
}

// sum returns the hash of a record under the seed.
func (h *hasher) sum(record bson.Raw) uint64 {
	h.digest.ResetWithSeed(h.seed)
	h.digest.Write(record) // never fails
	return h.digest.Sum64()
}

// readDeps loads the collections that a job depends on and returns with them the
// fingerprint of everything a row is made from besides its record. Documents that
// cannot be read are given to skip, whose error ends the reading.
func readDeps(ctx context.Context, store Store, job Job, skip func(bson.RawValue, error) error) (Deps, string, error) {
	if len(job.Deps) == 0 {
		return Deps{}, job.Fingerprint, nil
	}
	deps := make(Deps, len(job.Deps))
	digest := xxhash.New()
	for _, name := range slices.Sorted(slices.Values(job.Deps)) {
		docs, err := readSorted(ctx, store, name, skip)
		if err != nil {
			return nil, "", fmt.Errorf("read dependency %s: %w", name, err)
		}
		digest.WriteString(name)
		digest.Write([]byte{0})
		for _, d := range docs {
			digest.Write(d) // a document starts with its length, so their border is part of the sum
		}
		deps[name] = docs
	}
	if job.Digest != nil {
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
