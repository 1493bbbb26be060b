package bench

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
	"sort"
	"strconv"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/rules/ejson"
	"vitrine/rules/raw"
)

// multiplier makes any number of activities from those of an institute: variations with the same
// fields and shapes, irregular ones included. The i-th depends on the institute and on i alone, so
// that it is the same on every machine. It is safe for concurrent use.
type multiplier struct {
	records             []bson.Raw
	users, units, words []string // of authors, and of titles; sorted
}

// newMultiplier returns a multiplier of the given records, which must have ids and must not be
// changed afterwards.
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

// plain reports whether a word may stand in any title: letters and hyphens only, so that it reads
// the same in HTML and in a regular expression.
func plain(word string) bool {
	return len(word) > 3 && strings.Trim(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-") == ""
}

// edited returns a record with a corrected title: with the serial number at its end, and without
// what was rendered from the old one.
func edited(record bson.Raw, serial int) (bson.Raw, error) {
	const mark = ", edition "
	title, _, _ := strings.Cut(raw.StringField(record, "title"), mark)
	changed, err := raw.SetField(record, "title", raw.NewString(title+mark+strconv.Itoa(serial)))
	if err != nil {
		return nil, fmt.Errorf("edit a record: %w", err)
	}
	return withoutRendered(changed)
}

// withoutRendered returns a record without the field rendered, for the materializer to make anew.
func withoutRendered(record bson.Raw) (bson.Raw, error) {
	var d bson.D
	if err := bson.Unmarshal(record, &d); err != nil {
		return nil, err
	}
	return bson.Marshal(slices.DeleteFunc(d, func(e bson.E) bool { return e.Key == "rendered" }))
}

// at returns the i-th activity, counted from 0: one of the institute's own, or a variation of one
// under a fresh id. Words are exchanged in the record's Extended JSON, so that what was rendered of
// it still says the same.
func (m *multiplier) at(i int) (bson.Raw, error) {
	const seed, firstYear, lastYear = 0x7669747269, 1980, 2026 // years that a portal lists
	record := m.records[i%len(m.records)]
	if i < len(m.records) {
		return record, nil
	}
	dice := rand.New(rand.NewPCG(seed, uint64(i)))
	var pairs []string
	exchange := func(old, fresh string, patterns ...string) {
		for _, pattern := range patterns {
			pairs = append(pairs, strings.ReplaceAll(pattern, "*", inJSON(old)), strings.ReplaceAll(pattern, "*", inJSON(fresh)))
		}
	}
	id := bson.ObjectID{0x76, 0x69, 0x74, 0x72} // ids ascend with the number, as ObjectIDs do with time
	binary.BigEndian.PutUint64(id[4:], uint64(i))
	for _, old := range textsAt(record, "_id") {
		exchange(old, id.Hex(), "/*'")
	}
	title := raw.StringField(record, "title")
	fresh := m.title(title, dice)
	exchange(title, fresh, `:"*"`, ">*<", " *.")
	shift := dice.IntN(1000)
	for _, user := range textsAt(record, "authors.user") {
		exchange(user, shifted(m.users, user, shift), `"*"`, "/profile/*'")
	}
	for _, unit := range slices.Concat(textsAt(record, "units"), textsAt(record, "authors.units")) {
		exchange(unit, shifted(m.units, unit, shift), `"*"`)
	}
	if doi := raw.StringField(record, "doi"); doi != "" {
		exchange(doi, doi+"."+strconv.FormatInt(int64(i), 36), `:"*"`)
	}
	if year, whole, ok := raw.Truncate(record.Lookup("year")); ok && whole {
		moved := min(max(int(year)+dice.IntN(20)-15, firstYear), lastYear)
		exchange(strconv.FormatInt(year, 10), strconv.Itoa(moved), `"year":*`, "(*)", `"*-`, `"*Q`)
	}
	varied, err := ejson.Parse([]byte(strings.NewReplacer(pairs...).Replace(string(ejson.AppendDocument(nil, record)))), ejson.Options{})
	if err == nil {
		varied, err = raw.PutID(varied, bson.RawValue{Type: bson.TypeObjectID, Value: id[:]})
	}
	if err != nil {
		return nil, fmt.Errorf("activity %d: %w", i, err)
	}
	// A rendering without the new title has the old one in other letters, escaped ones.
	if web, ok := varied.Lookup("rendered", "web").StringValueOK(); ok && fresh != title && !strings.Contains(web, fresh) {
		return withoutRendered(varied)
	}
	return varied, nil
}

// inJSON returns a text as it stands in a string of JSON.
func inJSON(text string) string {
	quoted := ejson.AppendString(nil, text)
	return string(quoted[1 : len(quoted)-1])
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

// shifted returns another word of a list that has the old one. Different ones stay different.
func shifted(all []string, old string, shift int) string {
	return all[(sort.SearchStrings(all, old)+shift)%len(all)]
}
