package bench

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"vitrine/cache/origin"
	"vitrine/cmd/vitrine/internal/bench/load"
	"vitrine/rules"
)

const (
	// copied begins the names of the collections that another server's copies are in.
	copied = "vitrine_bench_"
	// A store is asked the question of a case this often, or until it has taken so long.
	storeTimes = 25
	storeTime  = 2 * time.Second
	storeLeast = 3
	// copyBatch is within what every server takes in one command.
	copyBatch = 90
)

// What a store had to do for an answer.
const (
	byIndex = "index"
	byScan  = "scan"
)

// embedded reports whether the store that is served is the embedded one.
func (b *bench) embedded() bool { return strings.HasPrefix(b.uri, "bolt://") }

// asking is a store that is asked the questions of cases.
type asking struct {
	kind        string // for Asked.Store
	store       origin.Source
	collections map[string]string // names of collections there; nil means all, as they are called here
	indexed     []string          // paths by whose index it answers
}

// collection returns where the store has what a case is about.
func (a asking) collection(c Case) (name string, ok bool) {
	name = cmp.Or(c.Collection, collectionActivities)
	if a.collections == nil {
		return name, true
	}
	name, ok = a.collections[name]
	return name, ok
}

// by returns how the store finds the answer of a case.
func (a asking) by(c Case) string {
	if len(c.Index) == 0 || slices.ContainsFunc(c.Index, func(path string) bool { return !slices.Contains(a.indexed, path) }) {
		return byScan
	}
	return byIndex
}

// askStore asks a store the questions of the chosen cases.
func (b *bench) askStore(ctx context.Context, a asking) error {
	if b.asked == nil {
		b.asked = map[string][]Asked{}
	}
	cases, _ := b.words.cases()
	for _, c := range cases {
		collection, ok := a.collection(c)
		if !ok || c.Query == nil || !b.wanted.has(c.Name) {
			continue
		}
		b.Progress(fmt.Sprintf("%s on %s", c.Name, a.kind))
		asked, err := askTimes(ctx, a.store, c, collection)
		if errors.Is(err, origin.ErrUnsupported) || errors.Is(err, rules.ErrWrongCall) {
			asked.Error, err = err.Error(), nil // it knows less of the query language
		}
		if err != nil {
			return fmt.Errorf("case %s: %w", c.Name, err)
		}
		asked.Store, asked.By = a.kind, a.by(c)
		b.asked[c.Name] = append(b.asked[c.Name], asked)
	}
	return nil
}

// askTimes asks a store the question of a case, several times, each time in other
// words where there are any, and reads the answers to their end.
func askTimes(ctx context.Context, store origin.Source, c Case, collection string) (Asked, error) {
	var took []time.Duration
	began := time.Now()
	for n := 0; n < storeTimes && (n < storeLeast || time.Since(began) < storeTime); n++ {
		q, err := c.Query(n * 7919 % c.Supply)
		if err != nil {
			return Asked{}, err
		}
		asked := time.Now()
		for _, err := range store.Find(ctx, collection, q) {
			if err != nil {
				return Asked{}, err
			}
		}
		took = append(took, time.Since(asked))
	}
	return Asked{P50: load.Median(took), Times: len(took)}, nil
}
