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
	"encoding/binary"
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
	users, units, words := map[string]bool{"": true}, map[string]bool{"": true}, map[string]bool{"": true}
	addUnits := func(v any) {
		array, _ := v.(bson.A)
		for _, unit := range array {
			units[str(unit)] = true
		}
	}
	for i, raw := range records {
		var record bson.D
		if err := bson.Unmarshal(raw, &record); err != nil {
			return nil, fmt.Errorf("multiply: activity %d: %w", i, err)
		}
		addUnits(value(record, "units"))
		for _, author := range authors(record) {
			users[str(value(author, "user"))] = true
			addUnits(value(author, "units"))
		}
		for word := range strings.FieldsSeq(str(value(record, "title"))) {
			words[word] = words[word] || plain(word)
		}
	}
	maps.DeleteFunc(words, func(_ string, plain bool) bool { return !plain })
	words[""] = true
	sorted := func(set map[string]bool) []string { return slices.Sorted(maps.Keys(set))[1:] } // the empty one is none
	return &Multiplier{records: records, users: sorted(users), units: sorted(units), words: sorted(words)}, nil
}

// Own is the number of the institute's own activities; those after them are variations.
func (m *Multiplier) Own() int { return len(m.records) }

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

// ID is the id of the i-th activity, should it be a variation. Ids ascend with i, as
// ObjectIDs do with time.
func ID(i int) bson.ObjectID {
	id := bson.ObjectID{0x76, 0x69, 0x74, 0x72}
	binary.BigEndian.PutUint64(id[4:], uint64(i))
	return id
}

// editionMark stands before the number that Edit gives a title.
const editionMark = ", edition "

// Edit returns a record with a corrected title: with the serial number at its end, and
// without what was rendered from the old one.
func Edit(raw bson.Raw, serial int) (bson.Raw, error) {
	edited, err := changed(raw, func(record bson.D) bson.D {
		title, _, _ := strings.Cut(str(value(record, "title")), editionMark)
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
	return len(word) > 3 && !strings.ContainsFunc(word, func(r rune) bool { return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && r != '-' })
}

// value returns a field's value; nil where there is none.
func value(record bson.D, name string) any {
	for _, e := range record {
		if e.Key == name {
			return e.Value
		}
	}
	return nil
}

// put replaces the value of a field, if the record has it.
func put(record bson.D, name string, v any) {
	if i := slices.IndexFunc(record, func(e bson.E) bool { return e.Key == name }); i >= 0 {
		record[i].Value = v
	}
}

func withoutRendered(record bson.D) bson.D {
	return slices.DeleteFunc(record, func(e bson.E) bool { return e.Key == "rendered" })
}

// str returns a string; "" for anything else.
func str(v any) string {
	s, _ := v.(string)
	return s
}

// authors returns the documents among a record's authors.
func authors(record bson.D) (all []bson.D) {
	array, _ := value(record, "authors").(bson.A)
	for _, element := range array {
		if d, ok := element.(bson.D); ok {
			all = append(all, d)
		}
	}
	return all
}
