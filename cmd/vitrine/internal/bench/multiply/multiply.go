// Package multiply makes any number of activities out of those an institute has.
//
// The first ones are the institute's own, unchanged. Each further one is a variation
// of one of them: the same fields and shapes, oddities included, under a fresh id,
// with other words in its title, another year, other units and other authors. What
// is stored as rendered follows, as far as its text can; where it cannot, it is
// left out, and rendering is up to the materializer, as for any new record.
//
// The i-th activity depends on the institute and on i alone: two runs, on any
// machine, in any order, make the same records.
package multiply

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// seed makes the sequence of chances this package's own.
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
	users, units, words := set{}, set{}, set{}
	for i, raw := range records {
		var record bson.D
		if err := bson.Unmarshal(raw, &record); err != nil {
			return nil, fmt.Errorf("multiply: activity %d: %w", i, err)
		}
		units.add(strs(value(record, "units"))...)
		for _, author := range docs(value(record, "authors")) {
			users.add(str(value(author, "user")))
			units.add(strs(value(author, "units"))...)
		}
		for word := range strings.FieldsSeq(str(value(record, "title"))) {
			if plain(word) {
				words.add(word)
			}
		}
	}
	return &Multiplier{records: records, users: users.sorted(), units: units.sorted(), words: words.sorted()}, nil
}

// Own is how many activities are the institute's own: those before are not variations.
func (m *Multiplier) Own() int { return len(m.records) }

// At returns the i-th activity, counted from 0.
func (m *Multiplier) At(i int) (bson.Raw, error) {
	if i < len(m.records) {
		return m.records[i], nil
	}
	var record bson.D
	if err := bson.Unmarshal(m.records[i%len(m.records)], &record); err != nil {
		return nil, fmt.Errorf("multiply: activity %d: %w", i, err)
	}
	v := m.variation(i)
	raw, err := bson.Marshal(v.apply(record))
	if err != nil {
		return nil, fmt.Errorf("multiply: activity %d: %w", i, err)
	}
	return raw, nil
}

// variation draws what makes the i-th activity differ.
func (m *Multiplier) variation(i int) *variation {
	return &variation{
		m: m, serial: i,
		dice:  rand.New(rand.NewPCG(seed, uint64(i))),
		users: map[string]string{},
		texts: map[string]string{},
	}
}

// ID is the id of the i-th activity, should it be a variation. Ids ascend with i, as
// ObjectIDs do with time.
func ID(i int) bson.ObjectID {
	id := bson.ObjectID{0x76, 0x69, 0x74, 0x72}
	binary.BigEndian.PutUint64(id[4:], uint64(i))
	return id
}

// plain reports whether a word may stand in any title: letters and hyphens only,
// so that it reads the same in HTML and in a regular expression.
func plain(word string) bool {
	for _, r := range word {
		if (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && r != '-' {
			return false
		}
	}
	return len(word) > 3
}

// set collects strings; the empty one is none.
type set map[string]struct{}

func (s set) add(all ...string) {
	for _, one := range all {
		if one != "" {
			s[one] = struct{}{}
		}
	}
}

func (s set) sorted() []string {
	all := make([]string, 0, len(s))
	for one := range s {
		all = append(all, one)
	}
	slices.Sort(all)
	return all
}
