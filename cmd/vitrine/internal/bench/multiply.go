package bench

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/rules/raw"
)

// multiplier makes any number of activities from those of an institute: variations with the same
// fields and shapes, irregular ones included. The i-th depends on the institute and on i alone. It
// is safe for concurrent use.
type multiplier struct {
	records             []bson.Raw
	users, units, words []string // of authors, and of titles; sorted
}

// newMultiplier returns a multiplier of records, which must have ids and must not change afterwards.
func newMultiplier(records []bson.Raw) *multiplier {
	m := &multiplier{records: records}
	for _, record := range records {
		m.users = append(m.users, textsAt(record, "authors.user")...)
		m.units = slices.Concat(m.units, textsAt(record, "units"), textsAt(record, "authors.units"))
		for word := range strings.FieldsSeq(raw.StringField(record, "title")) {
			if plain(word) {
				m.words = append(m.words, word)
			}
		}
	}
	m.users, m.units, m.words = distinct(m.users), distinct(m.units), distinct(m.words)
	return m
}

// textsAt returns the texts that are not empty at a path of a record, and ids in hexadecimal.
func textsAt(record bson.Raw, path string) (all []string) {
	raw.Walk(record, raw.PathOf(path), func(value raw.Value) bool {
		text, _ := value.Raw.StringValueOK()
		if id, ok := value.Raw.ObjectIDOK(); ok {
			text = id.Hex()
		}
		if text != "" {
			all = append(all, text)
		}
		return true
	})
	return all
}

// distinct sorts texts and returns each once.
func distinct(texts []string) []string {
	slices.Sort(texts)
	return slices.Compact(texts)
}

// plain reports whether a word reads the same in any title, in HTML and in a regular expression.
func plain(word string) bool {
	return len(word) > 3 && strings.Trim(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-") == ""
}

// edited returns a record with a corrected title: with the serial number at its end, and without
// the field rendered, for the materializer to make anew.
func edited(record bson.Raw, serial int) (bson.Raw, error) {
	const mark = ", edition "
	title, _, _ := strings.Cut(raw.StringField(record, "title"), mark)
	changed, err := raw.SetField(record, "title", raw.NewString(title+mark+strconv.Itoa(serial)))
	var d bson.D
	if err == nil {
		err = bson.Unmarshal(changed, &d)
	}
	if err != nil {
		return nil, fmt.Errorf("edit a record: %w", err)
	}
	return bson.Marshal(slices.DeleteFunc(d, func(e bson.E) bool { return e.Key == "rendered" }))
}

// at returns the i-th activity, counted from 0: one of the institute's own, or one with another
// id, title, authors and units. What was rendered of the original stays.
func (m *multiplier) at(i int) (bson.Raw, error) {
	const seed = 0x7669747269
	record := m.records[i%len(m.records)]
	if i < len(m.records) {
		return record, nil
	}
	var d bson.D
	if err := bson.Unmarshal(record, &d); err != nil {
		return nil, fmt.Errorf("activity %d: %w", i, err)
	}
	id := bson.ObjectID{0x76, 0x69, 0x74, 0x72} // ids ascend with the number, as ObjectIDs do with time
	binary.BigEndian.PutUint64(id[4:], uint64(i))
	m.vary("", d, id, rand.New(rand.NewPCG(seed, uint64(i))))
	return bson.Marshal(d)
}

// vary changes the values below a path of a record, and returns the value of the path.
func (m *multiplier) vary(path string, value any, id bson.ObjectID, dice *rand.Rand) any {
	switch x := value.(type) {
	case bson.D:
		for i, e := range x {
			x[i].Value = m.vary(path+"/"+e.Key, e.Value, id, dice)
		}
	case bson.A:
		for i, e := range x {
			x[i] = m.vary(path, e, id, dice)
		}
	case string:
		switch {
		case x == "": // stays, also where the institute has no other
		case path == "/title":
			return m.title(x, dice)
		case path == "/authors/user":
			return m.users[dice.IntN(len(m.users))]
		case path == "/units" || path == "/authors/units":
			return m.units[dice.IntN(len(m.units))]
		}
	}
	if path == "/_id" {
		return id
	}
	return value
}

// title returns a title with one to three words exchanged.
func (m *multiplier) title(old string, dice *rand.Rand) string {
	words := strings.Fields(old)
	if len(words) == 0 || len(m.words) == 0 {
		return old
	}
	for range 1 + dice.IntN(3) {
		if at := dice.IntN(len(words)); plain(words[at]) || len(words) == 1 {
			words[at] = m.words[dice.IntN(len(m.words))]
		}
	}
	return strings.Join(words, " ")
}
