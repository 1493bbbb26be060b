package bench

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/origin"
	"vitrine/cache/origin/bolt"
	"vitrine/rules/raw"
)

// fillBatch is how many records are stored at once. It bounds the memory of this process, not the figures of a
// measurement.
const fillBatch = 4000

// prepare makes the store, unless an earlier measurement has made it and the build is not to be measured, and reads
// the vocabulary from it. Afterwards the store belongs to the serving process.
//
// The file's name has the number of activities, so that a folder can have the stores of several sizes.
func (b *bench) prepare(ctx context.Context) error {
	// The measurement changes the store's records, so it has a name that an operator would not choose.
	file := filepath.Join(b.Dir, fmt.Sprintf("bench-%d.db", b.size))
	b.uri = "bolt://" + file
	if _, err := os.Stat(file); err != nil || b.Cases.MatchString(stepBuild) {
		if err := b.fill(ctx, file); err != nil {
			return errors.Join(err, os.RemoveAll(file)) // an incomplete store must not be used again
		}
	}
	b.Progress("reading words from " + b.uri)
	return inStore(file, func(store origin.Store) (err error) {
		b.words, err = collect(ctx, store, b.size, changes)
		if err == nil && b.words.rows == 0 {
			err = fmt.Errorf("%s has no activities", store.Name())
		}
		return err
	})
}

// inStore opens an embedded store for a function.
func inStore(file string, used func(origin.Store) error) error {
	store, err := bolt.Open(file, bolt.Options{})
	if err != nil {
		return err
	}
	return errors.Join(used(store), store.Close())
}

// fill stores the institute, multiplies its activities, and builds the views.
func (b *bench) fill(ctx context.Context, file string) error {
	b.Progress("filling " + b.uri)
	if err := os.RemoveAll(file); err != nil {
		return err
	}
	if _, err := b.command(ctx, "import", b.Dumps...); err != nil {
		return err
	}
	if err := inStore(file, func(store origin.Store) error { return grow(ctx, store, b.size) }); err != nil {
		return err
	}
	b.Progress("building the views")
	began := time.Now()
	used, err := b.command(ctx, "materialize")
	b.run.Build, b.run.BuildProcessor = time.Since(began), used
	return err
}

// command runs a command of the program on the store, and returns its processor time.
func (b *bench) command(ctx context.Context, name string, args ...string) (time.Duration, error) {
	c := b.Command(ctx, b.uri, append([]string{name}, args...)...)
	if out, err := c.CombinedOutput(); err != nil {
		return 0, fmt.Errorf("%s: %w: %s", name, err, out)
	}
	return c.ProcessState.UserTime() + c.ProcessState.SystemTime(), nil
}

// grow adds variations of a store's activities until it has the given number. The institute's own activities stay
// as they are; an institute that has more than size keeps them all.
func grow(ctx context.Context, store origin.Store, size int) error {
	var own, batch []bson.Raw
	for record, err := range store.Scan(ctx, collectionActivities) {
		if err != nil {
			return fmt.Errorf("read %s: %w", collectionActivities, err)
		}
		own = append(own, record)
	}
	for i := len(own); i < size && len(own) > 0; i++ {
		record, err := variation(own, i)
		if batch = append(batch, record); err == nil && (len(batch) == fillBatch || i == size-1) {
			_, err = store.Upsert(ctx, collectionActivities, batch)
			batch = batch[:0]
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// variation returns the i-th activity made from an institute's own: one of them under another id, with the authors
// and units of another and words of its title. It depends only on them and on i.
//
// The seed never changes, so that stores of one size made at different times are equal, and figures of two versions
// of the program can be compared.
func variation(own []bson.Raw, i int) (bson.Raw, error) {
	const seed = 0x7669747269
	dice := rand.New(rand.NewPCG(seed, uint64(i)))
	record, other := own[i%len(own)], own[dice.IntN(len(own))]
	id := bson.ObjectID{0x76, 0x69, 0x74, 0x72} // ids ascend with the number, as ObjectIDs do with time
	binary.BigEndian.PutUint64(id[4:], uint64(i))
	made, err := raw.PutID(record, bson.RawValue{Type: bson.TypeObjectID, Value: id[:]})
	title := raw.NewString(mixed(raw.StringField(record, "title"), raw.StringField(other, "title"), dice))
	for name, value := range map[string]bson.RawValue{"authors": raw.Get(other, "authors"),
		"units": raw.Get(other, "units"), "title": title} {
		if err == nil && value.Type != 0 && value.Type == raw.Get(record, name).Type {
			// irregular records stay irregular
			made, err = raw.SetField(made, name, value)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("activity %d: %w", i, err)
	}
	return made, nil
}

// mixed returns a title in which one to three words come from another title. The words of all titles together stay
// those of the institute, so that searches find as many as there.
func mixed(title, other string, dice *rand.Rand) string {
	words := strings.Fields(title)
	others := slices.DeleteFunc(strings.Fields(other), func(word string) bool { return !plain(word) })
	if len(words) == 0 || len(others) == 0 {
		return title
	}
	for range 1 + dice.IntN(3) {
		if at := dice.IntN(len(words)); plain(words[at]) {
			words[at] = others[dice.IntN(len(others))]
		}
	}
	return strings.Join(words, " ")
}

// plain reports whether a word has the same meaning in any title, in HTML and in a regular expression.
func plain(word string) bool {
	return len(word) > 3 && strings.Trim(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-") == ""
}
