package materialize

import (
	"context"
	"errors"
	"fmt"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/origin"
	"vitrine/rules/records"
)

// Survey reports what the records of a store lack, as runs of the jobs would, without making rows. It reads all
// records of each job that makes marks and whose source is wanted, and skips damaged ones. The error is that of the
// store.
func Survey(ctx context.Context, store Store, jobs []Job,
	wanted func(collection string) bool) (all []records.View, err error) {
	o := Options{Store: store}.defaults()
	for _, job := range jobs {
		if job.Mark == nil || !wanted(job.Source) {
			continue
		}
		b := &build{o: &o, job: job, rest: func() {}, first: true, index: &rowIndex{}}
		b.guard.recall(nil)
		deps, _, err := b.readDeps(ctx)
		if err != nil {
			return nil, err
		}
		b.readCodes(deps)
		makeMark := job.Mark(deps).Make
		sift := store.Sift(ctx, job.Source, func(record bson.Raw) bool {
			c := change{record: record, at: len(b.index.rows)}
			c.prepare(job.prepare)
			_, c.lacks, _ = makeMark(c.prepared) // ignore the error, which is in lacks
			b.index.rows = append(b.index.rows, storedRow{})
			b.index.survey(&c)
			return false
		})
		for _, err := range sift {
			if _, damaged := errors.AsType[*origin.DamagedError](err); err != nil && !damaged {
				return nil, fmt.Errorf("scan %s: %w", job.Source, err)
			}
		}
		all = append(all, *b.lacks())
	}
	return all, nil
}
