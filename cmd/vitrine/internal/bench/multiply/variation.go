package multiply

import (
	"cmp"
	"encoding/binary"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"
)

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
