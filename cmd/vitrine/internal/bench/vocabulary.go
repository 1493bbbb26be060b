package bench

import (
	"context"
	"fmt"
	"slices"

	"vitrine/cache/origin"
	"vitrine/cmd/vitrine/internal/bench/multiply"
)

// Source collections that questions are about.
const (
	collectionActivities = "activities"
	collectionPersons    = "persons"
	collectionProjects   = "projects"
)

// vocabulary is what questions are made of: values that the store's records have,
// so that filters find something.
type vocabulary struct {
	words map[string][]string // by their path, sorted
	rows  int                 // activities in the store
	bytes int64               // of their BSON
}

// wordPaths are the paths of words by the collections that have them.
var wordPaths = map[string][]string{
	collectionActivities: {"type", "units", "title", "start_date", "authors.user", "authors.position", "spectrum.display_name"},
	collectionPersons:    {"username", "_id"},
	collectionProjects:   {"funding_number"},
}

// sampled is how many activities are looked at, evenly spread.
const sampled = 8000

// collect reads a store. rows, if known, is how many activities it has.
func collect(ctx context.Context, store origin.Source, rows int) (*vocabulary, error) {
	v := &vocabulary{words: map[string][]string{}}
	for collection, names := range wordPaths {
		step, scanned := 1, 0
		if collection == collectionActivities {
			step = max(rows/sampled, 1)
		}
		for record, err := range store.Scan(ctx, collection) {
			if err != nil {
				return nil, fmt.Errorf("read %s: %w", collection, err)
			}
			if collection == collectionActivities {
				v.rows++
				v.bytes += int64(len(record))
			}
			if scanned++; scanned%step != 0 {
				continue
			}
			for _, name := range names {
				v.words[name] = append(v.words[name], multiply.Texts(record, name)...)
			}
		}
	}
	for name, words := range v.words {
		slices.Sort(words)
		v.words[name] = slices.Compact(words)
	}
	return v, nil
}
