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
	"iter"
	"math/rand/v2"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/rules/ejson"
	"vitrine/rules/parallel"
	"vitrine/rules/raw"
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
	m := &Multiplier{records: records}
	for i, record := range records {
		if err := raw.Check(record); err != nil {
			return nil, fmt.Errorf("multiply: activity %d: %w", i, err)
		}
		m.users = append(m.users, Texts(record, "authors.user")...)
		m.units = append(append(m.units, Texts(record, "units")...), Texts(record, "authors.units")...)
		for word := range strings.FieldsSeq(raw.StringField(record, "title")) {
			if plain(word) {
				m.words = append(m.words, word)
			}
		}
	}
	for _, all := range []*[]string{&m.users, &m.units, &m.words} {
		slices.Sort(*all)
		*all = slices.Compact(*all)
	}
	return m, nil
}

// Texts returns the texts that are not empty at a path of a record, and ids in hexadecimal.
func Texts(record bson.Raw, path string) (all []string) {
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

// plain reports whether a word may stand in any title: letters and hyphens only,
// so that it reads the same in HTML and in a regular expression.
func plain(word string) bool {
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-"
	return len(word) > 3 && strings.Trim(word, letters) == ""
}

// At returns the i-th activity, counted from 0.
func (m *Multiplier) At(i int) (bson.Raw, error) {
	from := m.records[i%len(m.records)]
	if i < len(m.records) {
		return from, nil
	}
	varied, err := m.vary(from, i)
	if err != nil {
		return nil, fmt.Errorf("multiply: activity %d: %w", i, err)
	}
	return varied, nil
}

// Between yields the activities from one number up to another, made on all processors.
func (m *Multiplier) Between(from, to int) iter.Seq2[bson.Raw, error] {
	numbers := func(yield func(int, error) bool) {
		for i := from; i < to && yield(i, nil); i++ {
		}
	}
	return parallel.Map(numbers, 2*runtime.GOMAXPROCS(0), m.At)
}

// Edit returns a record with a corrected title: with the serial number at its end, and
// without what was rendered from the old one.
func Edit(record bson.Raw, serial int) (bson.Raw, error) {
	const mark = ", edition "
	title, _, _ := strings.Cut(raw.StringField(record, "title"), mark)
	edited, err := raw.SetField(record, "title", raw.NewString(title+mark+strconv.Itoa(serial)))
	if err == nil {
		edited, err = withoutRendered(edited)
	}
	if err != nil {
		return nil, fmt.Errorf("multiply: edit: %w", err)
	}
	return edited, nil
}

// withoutRendered returns a record without the field rendered, for the materializer to
// make anew.
func withoutRendered(record bson.Raw) (bson.Raw, error) {
	var d bson.D
	if err := bson.Unmarshal(record, &d); err != nil {
		return nil, err
	}
	return bson.Marshal(slices.DeleteFunc(d, func(e bson.E) bool { return e.Key == "rendered" }))
}

// Years that variations stay within: what a portal lists.
const firstYear, lastYear = 1980, 2026

// vary returns a variation of a record. Words are exchanged in the record's Extended JSON, so
// that what was rendered of it still says the same.
func (m *Multiplier) vary(record bson.Raw, serial int) (bson.Raw, error) {
	dice := rand.New(rand.NewPCG(seed, uint64(serial)))
	var pairs []string
	exchange := func(old, fresh string, patterns ...string) {
		for _, pattern := range patterns {
			pairs = append(pairs, strings.ReplaceAll(pattern, "*", inJSON(old)), strings.ReplaceAll(pattern, "*", inJSON(fresh)))
		}
	}
	id := bson.ObjectID{0x76, 0x69, 0x74, 0x72} // ids ascend with the serial number, as ObjectIDs do with time
	binary.BigEndian.PutUint64(id[4:], uint64(serial))
	for _, old := range Texts(record, "_id") {
		exchange(old, id.Hex(), "/*'")
	}
	title := raw.StringField(record, "title")
	fresh := m.title(title, dice)
	exchange(title, fresh, `:"*"`, ">*<", " *.")
	shift := dice.IntN(1000)
	for _, user := range Texts(record, "authors.user") {
		exchange(user, shifted(m.users, user, shift), `"*"`, "/profile/*'")
	}
	for _, unit := range slices.Concat(Texts(record, "units"), Texts(record, "authors.units")) {
		exchange(unit, shifted(m.units, unit, shift), `"*"`)
	}
	if doi := raw.StringField(record, "doi"); doi != "" {
		exchange(doi, doi+"."+strconv.FormatInt(int64(serial), 36), `:"*"`)
	}
	if year, whole, ok := raw.Truncate(record.Lookup("year")); ok && whole {
		moved := min(max(int(year)+dice.IntN(20)-15, firstYear), lastYear)
		exchange(strconv.FormatInt(year, 10), strconv.Itoa(moved), `"year":*`, "(*)", `"*-`, `"*Q`)
	}
	text := strings.NewReplacer(pairs...).Replace(string(ejson.AppendDocument(nil, record)))
	varied, err := ejson.Parse([]byte(text), ejson.Options{})
	if err == nil {
		varied, err = raw.PutID(varied, bson.RawValue{Type: bson.TypeObjectID, Value: id[:]})
	}
	// A rendering without the new title has the old one in other letters, escaped ones.
	if web, ok := varied.Lookup("rendered", "web").StringValueOK(); ok && fresh != title && !strings.Contains(web, fresh) {
		return withoutRendered(varied)
	}
	return varied, err
}

// inJSON returns a text as it stands in a string of JSON.
func inJSON(text string) string {
	quoted := ejson.AppendString(nil, text)
	return string(quoted[1 : len(quoted)-1])
}

// title returns a title with one to three words exchanged.
func (m *Multiplier) title(old string, dice *rand.Rand) string {
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

// shifted returns another word of a list. Different ones stay different.
func shifted(all []string, old string, shift int) string {
	at, ok := slices.BinarySearch(all, old)
	if !ok {
		return old
	}
	return all[(at+shift)%len(all)]
}
