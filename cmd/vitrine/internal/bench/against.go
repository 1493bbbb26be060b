package bench

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/origin"
	"vitrine/cmd/vitrine/internal/bench/report"
	"vitrine/rules"
)

const (
	// A server is asked the question of a case this often, or until it has taken so long.
	serverTimes = 25
	serverTime  = 2 * time.Second
	serverLeast = 3
)

// askOther asks another server, which has the same records, the questions of the chosen cases.
func (b *bench) askOther(ctx context.Context) (err error) {
	if b.Against == "" {
		return nil
	}
	other, err := b.Program.Open(ctx, b.Against)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, other.Close()) }()
	b.run.Against = other.Name()
	for _, c := range cases() {
		if c.Server == nil || !b.wants(c.Name) {
			continue
		}
		b.Progress(c.Name + " on the other server")
		asked := &report.Asked{}
		asked.P50, err = b.askTimes(ctx, other, c)
		if errors.Is(err, origin.ErrUnsupported) || errors.Is(err, rules.ErrWrongCall) {
			asked.Error, err = err.Error(), nil // it knows less of the query language
		}
		if err != nil {
			return fmt.Errorf("case %s: %w", c.Name, err)
		}
		b.asked[c.Name] = asked
	}
	return nil
}

// askTimes asks a server questions of a case and returns the median of the times; 0 if the
// records lack the words for any.
func (b *bench) askTimes(ctx context.Context, other origin.Source, c Case) (time.Duration, error) {
	var all []time.Duration
	began := time.Now()
	for n := 0; n < serverTimes && (n < serverLeast || time.Since(began) < serverTime); n++ {
		of, ok := b.words.question(c, b.dice)
		if !ok {
			continue
		}
		q, err := c.query(of)
		if err != nil {
			return 0, err
		}
		took, err := timeOf(other.Find(ctx, cmp.Or(c.Server.Collection, collectionActivities), q))
		if err != nil {
			return 0, err
		}
		all = append(all, took)
	}
	return report.MedianOf(all), nil
}

// timeOf is the time that documents take to be read to their end.
func timeOf(docs iter.Seq2[bson.Raw, error]) (time.Duration, error) {
	began := time.Now()
	for _, err := range docs {
		if err != nil {
			return 0, err
		}
	}
	return time.Since(began), nil
}
