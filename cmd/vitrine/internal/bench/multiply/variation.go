package multiply

import (
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
	units   int               // places by which units move on
	users   map[string]string // who stands for whom
	texts   map[string]string // what changes in rendered texts, old to new
	changed bool              // of the title: rendered texts must follow
}

// apply changes a record, which it owns.
func (v *variation) apply(record bson.D) bson.D {
	v.years, v.units = v.dice.IntN(20)-15, v.dice.IntN(len(v.m.units)+1)
	id := ID(v.serial)
	if old, ok := value(record, "_id").(bson.ObjectID); ok {
		v.texts[old.Hex()] = id.Hex()
	}
	put(record, "_id", id)
	v.year(record)
	v.title(record)
	v.authors(record)
	if units, ok := value(record, "units").(bson.A); ok {
		put(record, "units", v.moved(units))
	}
	if doi := str(value(record, "doi")); doi != "" {
		put(record, "doi", doi+"."+strconv.FormatInt(int64(v.serial), 36))
	}
	return v.rendered(record)
}

// year moves the record in time. Years that are no numbers stay as odd as they are.
func (v *variation) year(record bson.D) {
	year, ok := number(value(record, "year"))
	if !ok {
		return
	}
	v.years = min(max(year+v.years, firstYear), lastYear) - year
	put(record, "year", int32(year+v.years))
	v.texts["("+strconv.Itoa(year)+")"] = "(" + strconv.Itoa(year+v.years) + ")"
	for _, field := range []string{"start_date", "end_date"} {
		if day := str(value(record, field)); day != "" {
			put(record, field, v.moveYear(day))
		}
	}
}

// moveYear moves a text that begins with a year, such as a day or a quarter.
func (v *variation) moveYear(text string) string {
	if len(text) < 4 {
		return text
	}
	year, err := strconv.Atoi(text[:4])
	if err != nil {
		return text
	}
	return strconv.Itoa(year+v.years) + text[4:]
}

// title exchanges one to three words.
func (v *variation) title(record bson.D) {
	title := str(value(record, "title"))
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

// authors lets other people have done every other part of the work.
func (v *variation) authors(record bson.D) {
	for _, author := range docs(value(record, "authors")) {
		if user := str(value(author, "user")); user != "" {
			put(author, "user", v.user(user))
		}
		if units, ok := value(author, "units").(bson.A); ok {
			put(author, "units", v.moved(units))
		}
	}
}

// user returns who stands for a user throughout the record.
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

// moved returns units moved on by the record's number of places in the list of all,
// so that different ones stay different.
func (v *variation) moved(units bson.A) bson.A {
	moved := slices.Clone(units)
	for i, unit := range moved {
		if at, ok := slices.BinarySearch(v.m.units, str(unit)); ok {
			moved[i] = v.m.units[(at+v.units)%len(v.m.units)]
		}
	}
	return moved
}

// rendered lets the rendered texts follow, or leaves them out where the title
// cannot be found in them: it was escaped, or is not what was rendered.
func (v *variation) rendered(record bson.D) bson.D {
	rendered, ok := value(record, "rendered").(bson.D)
	if !ok {
		return record
	}
	title := str(value(record, "title"))
	replace := v.replacer()
	for i, e := range rendered {
		switch old := e.Value.(type) {
		case string:
			rendered[i].Value = replace.Replace(old)
		case bson.A:
			for j, user := range old {
				if fresh, ok := v.users[str(user)]; ok {
					old[j] = fresh
				}
			}
		}
	}
	put(rendered, "quarter", v.moveYear(str(value(rendered, "quarter"))))
	if v.changed && !strings.Contains(str(value(rendered, "web")), title) {
		return slices.DeleteFunc(record, func(e bson.E) bool { return e.Key == "rendered" })
	}
	return record
}

// replacer exchanges v.texts, the longest first.
func (v *variation) replacer() *strings.Replacer {
	olds := make([]string, 0, len(v.texts))
	for old := range v.texts {
		olds = append(olds, old)
	}
	slices.SortFunc(olds, func(a, b string) int {
		if len(a) != len(b) {
			return len(b) - len(a)
		}
		return strings.Compare(a, b)
	})
	pairs := make([]string, 0, 2*len(olds))
	for _, old := range olds {
		pairs = append(pairs, old, v.texts[old])
	}
	return strings.NewReplacer(pairs...)
}
