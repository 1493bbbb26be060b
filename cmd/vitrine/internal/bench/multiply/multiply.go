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
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"math"
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

// Years that variations stay within: what a portal lists.
const firstYear, lastYear = 1980, 2026

// variation is what makes one activity differ from the record it is made from.
type variation struct {
	m      *Multiplier
	serial int
	dice   *rand.Rand

	years   int               // added to every year
	units   int               // places by which units are shifted
	users   map[string]string // replacements of users
	texts   map[string]string // replacements in rendered texts
	changed bool              // of the title: rendered texts must follow
}

// apply changes a record, which it owns.
func (v *variation) apply(record bson.D) bson.D {
	v.years, v.units = v.dice.IntN(20)-15, v.dice.IntN(len(v.m.units)+1)
	id := newID(v.serial)
	if old := get[bson.ObjectID](record, "_id"); !old.IsZero() {
		v.texts[old.Hex()] = id.Hex()
	}
	put(record, "_id", id)
	v.year(record)
	v.title(record)
	for _, author := range authors(record) {
		if user := get[string](author, "user"); user != "" {
			put(author, "user", v.user(user))
		}
		v.shiftUnits(author)
	}
	v.shiftUnits(record)
	if doi := get[string](record, "doi"); doi != "" {
		put(record, "doi", doi+"."+strconv.FormatInt(int64(v.serial), 36))
	}
	return v.rendered(record)
}

// newID returns the id of the i-th activity. Ids ascend with i, as ObjectIDs do with time.
func newID(i int) bson.ObjectID {
	id := bson.ObjectID{0x76, 0x69, 0x74, 0x72}
	binary.BigEndian.PutUint64(id[4:], uint64(i))
	return id
}

// year moves the record in time. Years that are not numbers stay as they are.
func (v *variation) year(record bson.D) {
	year := int(get[int32](record, "year")) + int(get[int64](record, "year")) + int(get[float64](record, "year"))
	if n := get[float64](record, "year"); year == 0 || n != math.Trunc(n) {
		return
	}
	v.years = min(max(year+v.years, firstYear), lastYear) - year
	put(record, "year", int32(year+v.years))
	v.texts["("+strconv.Itoa(year)+")"] = "(" + strconv.Itoa(year+v.years) + ")"
	for _, field := range []string{"start_date", "end_date"} {
		if day := get[string](record, field); day != "" {
			put(record, field, v.moveYear(day))
		}
	}
}

// moveYear moves a text that begins with a year, such as a day or a quarter.
func (v *variation) moveYear(text string) string {
	year, err := strconv.Atoi(text[:min(len(text), 4)])
	if err != nil || year < 1000 {
		return text
	}
	return strconv.Itoa(year+v.years) + text[4:]
}

// title exchanges one to three words.
func (v *variation) title(record bson.D) {
	title := get[string](record, "title")
	words := strings.Fields(title)
	if len(words) == 0 || len(v.m.words) == 0 {
		return
	}
	for range 1 + v.dice.IntN(3) {
		if at := v.dice.IntN(len(words)); plain(words[at]) || len(words) == 1 {
			words[at] = v.m.words[v.dice.IntN(len(v.m.words))]
		}
	}
	if fresh := strings.Join(words, " "); fresh != title {
		v.texts[title], v.changed = fresh, true
		put(record, "title", fresh)
	}
}

// user returns the replacement of a user throughout the record: every other user's own.
func (v *variation) user(old string) string {
	if fresh, ok := v.users[old]; ok {
		return fresh
	}
	fresh := old
	if v.dice.IntN(2) == 0 {
		fresh = v.m.users[v.dice.IntN(len(v.m.users))]
	}
	v.users[old] = fresh
	v.texts["/profile/"+old+"'"] = "/profile/" + fresh + "'"
	return fresh
}

// shiftUnits shifts the units of a document within the list of all, so that different
// ones stay different.
func (v *variation) shiftUnits(doc bson.D) {
	units := get[bson.A](doc, "units")
	for i, unit := range units {
		name, _ := unit.(string)
		if at, ok := slices.BinarySearch(v.m.units, name); ok {
			units[i] = v.m.units[(at+v.units)%len(v.m.units)]
		}
	}
}

// rendered adapts the rendered texts, or leaves them out where they do not hold the new
// title: the old one was escaped, or is not what was rendered.
func (v *variation) rendered(record bson.D) bson.D {
	rendered := get[bson.D](record, "rendered")
	if rendered == nil {
		return record
	}
	var pairs []string // the longest first
	for _, old := range slices.SortedFunc(maps.Keys(v.texts), func(a, b string) int { return cmp.Or(len(b)-len(a), cmp.Compare(a, b)) }) {
		pairs = append(pairs, old, v.texts[old])
	}
	replace := strings.NewReplacer(pairs...)
	for i, e := range rendered {
		switch old := e.Value.(type) {
		case string:
			rendered[i].Value = replace.Replace(old)
		case bson.A:
			for j, user := range old {
				name, _ := user.(string)
				if fresh, ok := v.users[name]; ok {
					old[j] = fresh
				}
			}
		}
	}
	put(rendered, "quarter", v.moveYear(get[string](rendered, "quarter")))
	if v.changed && !strings.Contains(get[string](rendered, "web"), get[string](record, "title")) {
		return withoutRendered(record)
	}
	return record
}
