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

// dependencies reads what the job's rows are made from, except its source, and sets the fingerprint. It reads nothing
// for a summary if only records have changed, because the tally has everything else.
func (b *build) dependencies(ctx context.Context) (deps Deps, err error) {
	before := b.index.inputs
	same := before.others != "" && before.others == b.in.others && before.readRecently(b.in, b.o.ReadAllEvery)
	if same && b.scheduled && b.tallySource() != nil {
		b.partial, b.fingerprint = true, b.index.meta.Rules
		maps.Copy(b.guard.counted, before.counts)
		return nil, nil
	}
	deps, b.fingerprint, err = b.readDeps(ctx)
	return deps, err
}

// readDeps loads the collections that the job and its marks depend on, and returns the fingerprint of everything that
// rows are made from besides their records. It returns an error if a collection has too few documents.
func (b *build) readDeps(ctx context.Context) (Deps, string, error) {
	job := b.job
	deps := make(Deps, len(job.Deps)+len(job.Related))
	digest := xxhash.New()
	// Related collections are read, too, but are no part of the digest: each mark covers the few of their documents
	// that it uses, so that a new person does not make all rows stale.
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
	for doc, err := range b.o.Store.Scan(ctx, collection) {
		if damaged, ok := errors.AsType[*origin.DamagedError](err); ok {
			b.out.skip(damaged.ID, err)
			if err := b.guard.damaged(err, b.first); err != nil {
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
			b.out.skip(id, fmt.Errorf("malformed record of %s: %w", collection, err))
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
