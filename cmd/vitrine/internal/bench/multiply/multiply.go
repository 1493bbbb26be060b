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
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

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
		m.units = slices.Concat(m.units, Texts(record, "units"), Texts(record, "authors.units"))
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
	p, err := raw.ParsePath(path)
	if err != nil {
		panic(err) // paths are constants
	}
	raw.Walk(record, p, func(value raw.Value) bool {
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
	v := &variation{Multiplier: m, serial: i, dice: rand.New(rand.NewPCG(seed, uint64(i)))}
	varied, err := v.of(from)
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

// variation is what makes one activity differ from the record it is made from.
type variation struct {
	*Multiplier
	serial int
	dice   *rand.Rand

	years int               // added to every year
	shift int               // places by which users and units are shifted
	texts *strings.Replacer // of what else stands in texts: title, id, year, profiles
}

// of returns the variation of a record.
func (v *variation) of(record bson.Raw) (bson.Raw, error) {
	var d bson.D
	if err := bson.Unmarshal(record, &d); err != nil {
		return nil, err
	}
	id := bson.ObjectID{0x76, 0x69, 0x74, 0x72} // ids ascend with the serial number, as ObjectIDs do with time
	binary.BigEndian.PutUint64(id[4:], uint64(v.serial))
	title := raw.StringField(record, "title")
	fresh := v.title(title)
	texts := []string{title, fresh}
	if title == "" {
		texts = nil
	}
	if old, ok := record.Lookup("_id").ObjectIDOK(); ok {
		texts = append(texts, old.Hex(), id.Hex())
	}
	year, isYear := record.Lookup("year").AsFloat64OK()
	if isYear = isYear && year > 0 && year == math.Trunc(year); isYear {
		moved := min(max(int(year)+v.dice.IntN(20)-15, firstYear), lastYear)
		v.years = moved - int(year)
		texts = append(texts, fmt.Sprintf("(%.0f)", year), fmt.Sprintf("(%d)", moved))
	}
	v.shift = v.dice.IntN(1000)
	for _, old := range Texts(record, "authors.user") {
		texts = append(texts, "/profile/"+old+"'", "/profile/"+v.shifted(v.users, old)+"'")
	}
	v.texts = strings.NewReplacer(texts...)
	for i := range d {
		switch e := &d[i]; {
		case e.Key == "_id":
			e.Value = id
		case e.Key == "year" && isYear:
			e.Value = int32(int(year) + v.years)
		default:
			e.Value = v.change(e.Key, e.Value)
		}
	}
	varied, err := bson.Marshal(d)
	if err != nil {
		return nil, err
	}
	// A rendering without the new title has the old one in other letters, escaped ones.
	if web, ok := bson.Raw(varied).Lookup("rendered", "web").StringValueOK(); ok && fresh != title && !strings.Contains(web, fresh) {
		return withoutRendered(varied)
	}
	return varied, nil
}

// change returns what a field's value, or an element of it, becomes. What it does not
// know stays as it is.
func (v *variation) change(field string, value any) any {
	switch value := value.(type) {
	case bson.D:
		for i := range value {
			value[i].Value = v.change(value[i].Key, value[i].Value)
		}
	case bson.A:
		for i := range value {
			value[i] = v.change(field, value[i])
		}
	case string:
		return v.text(field, value)
	}
	return value
}

// text returns what a text becomes.
func (v *variation) text(field, old string) string {
	switch {
	case old == "":
		return ""
	case field == "user" || field == "users":
		return v.shifted(v.users, old)
	case field == "units":
		return v.shifted(v.units, old)
	case field == "start_date" || field == "end_date" || field == "quarter":
		if year, err := strconv.Atoi(old[:min(len(old), 4)]); err == nil && year >= 1000 {
			return strconv.Itoa(year+v.years) + old[4:]
		}
	case field == "doi":
		return old + "." + strconv.FormatInt(int64(v.serial), 36)
	}
	return v.texts.Replace(old)
}

// title returns a title with one to three words exchanged.
func (v *variation) title(old string) string {
	words := strings.Fields(old)
	if len(words) == 0 || len(v.words) == 0 {
		return old
	}
	for range 1 + v.dice.IntN(3) {
		if at := v.dice.IntN(len(words)); plain(words[at]) || len(words) == 1 {
			words[at] = v.words[v.dice.IntN(len(v.words))]
		}
	}
	return strings.Join(words, " ")
}

// shifted returns another word of a list. Different ones stay different.
func (v *variation) shifted(all []string, old string) string {
	at, ok := slices.BinarySearch(all, old)
	if !ok {
		return old
	}
	return all[(at+v.shift)%len(all)]
}
