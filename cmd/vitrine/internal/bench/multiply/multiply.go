// Package multiply makes any number of activities from those of an institute.
//
// The first ones are the institute's own, unchanged. Each further one is a variation of
// one of them: the same fields and shapes, irregular ones included, under a fresh id,
// with other words in its title, another year, other units and other authors. The stored
// rendering is adapted where its text allows; elsewhere it is left out, and the
// materializer renders the record as a new one.
//
// The i-th activity depends on the institute and on i alone: two runs, on any machine,
// in any order, make the same records.
package multiply

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// seed keeps this package's random numbers apart from others.
const seed = 0x7669747269

// Multiplier makes activities. It is safe for concurrent use.
type Multiplier struct {
	records []bson.Raw
	users   []string // of authors, sorted
	units   []string // sorted
	words   []string // of titles, sorted
}

// New returns a multiplier of the given records, which must have ids and must not
// be changed afterwards. It is an error if there are none, or if one is malformed.
func New(records []bson.Raw) (*Multiplier, error) {
	if len(records) == 0 {
		return nil, errors.New("multiply: there are no activities to start from")
	}
	users, units, words := map[string]bool{}, map[string]bool{}, map[string]bool{}
	for i, raw := range records {
		var record bson.D
		if err := bson.Unmarshal(raw, &record); err != nil {
			return nil, fmt.Errorf("multiply: activity %d: %w", i, err)
		}
		addUnits(units, record)
		for _, author := range authors(record) {
			users[get[string](author, "user")] = true
			addUnits(units, author)
		}
		for word := range strings.FieldsSeq(get[string](record, "title")) {
			if plain(word) {
				words[word] = true
			}
		}
	}
	return &Multiplier{records: records, users: sorted(users), units: sorted(units), words: sorted(words)}, nil
}

// addUnits adds the units of a record or of an author.
func addUnits(units map[string]bool, doc bson.D) {
	for _, unit := range get[bson.A](doc, "units") {
		name, _ := unit.(string)
		units[name] = true
	}
}

// sorted returns the texts of a set but the empty one.
func sorted(set map[string]bool) []string {
	delete(set, "")
	return slices.Sorted(maps.Keys(set))
}

// At returns the i-th activity, counted from 0.
func (m *Multiplier) At(i int) (bson.Raw, error) {
	if i < len(m.records) {
		return m.records[i], nil
	}
	v := &variation{m: m, serial: i, dice: rand.New(rand.NewPCG(seed, uint64(i))), users: map[string]string{}, texts: map[string]string{}}
	raw, err := changed(m.records[i%len(m.records)], v.apply)
	if err != nil {
		return nil, fmt.Errorf("multiply: activity %d: %w", i, err)
	}
	return raw, nil
}

// editionMark stands before the number that Edit gives a title.
const editionMark = ", edition "

// Edit returns a record with a corrected title: with the serial number at its end, and
// without what was rendered from the old one.
func Edit(raw bson.Raw, serial int) (bson.Raw, error) {
	edited, err := changed(raw, func(record bson.D) bson.D {
		title, _, _ := strings.Cut(get[string](record, "title"), editionMark)
		put(record, "title", title+editionMark+strconv.Itoa(serial))
		return withoutRendered(record)
	})
	if err != nil {
		return nil, fmt.Errorf("multiply: edit: %w", err)
	}
	return edited, nil
}

// changed applies a change to a copy of a record.
func changed(raw bson.Raw, change func(bson.D) bson.D) (bson.Raw, error) {
	var record bson.D
	if err := bson.Unmarshal(raw, &record); err != nil {
		return nil, err
	}
	return bson.Marshal(change(record))
}

// plain reports whether a word may stand in any title: letters and hyphens only,
// so that it reads the same in HTML and in a regular expression.
func plain(word string) bool {
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-"
	return len(word) > 3 && strings.Trim(word, letters) == ""
}

// field returns a field of a record; nil if it has none of that name.
func field(record bson.D, name string) *bson.E {
	for i := range record {
		if record[i].Key == name {
			return &record[i]
		}
	}
	return nil
}

// get returns a field's value of a type; the zero value where there is none.
func get[T any](record bson.D, name string) (v T) {
	if e := field(record, name); e != nil {
		v, _ = e.Value.(T)
	}
	return v
}

// put replaces the value of a field, if the record has it.
func put(record bson.D, name string, v any) {
	if e := field(record, name); e != nil {
		e.Value = v
	}
}

// withoutRendered returns a record without the field rendered, for the materializer to
// make anew.
func withoutRendered(record bson.D) bson.D {
	return slices.DeleteFunc(record, func(e bson.E) bool { return e.Key == "rendered" })
}

// authors returns the documents among a record's authors.
func authors(record bson.D) (all []bson.D) {
	for _, element := range get[bson.A](record, "authors") {
		if d, ok := element.(bson.D); ok {
			all = append(all, d)
		}
	}
	return all
}
