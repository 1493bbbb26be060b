package bench

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// questions are texts made of a template: as many different ones as supply says, each with a
// number of its own.
type questions struct {
	supply int
	at     func(n int) string // nil: there are none
}

// list is a list of words that templates name.
type list struct {
	count int
	at    func(i int) string
	plain bool // its texts stand in a question as they are
}

// named matches the name of a list in a template.
var named = regexp.MustCompile(`\{[a-z]+\}`)

// questions fills a template with one word of each of its lists, spelled as the place
// needs it. No two numbers below the supply have the same words.
func (v *vocabulary) questions(template string, spell func(string) string) questions {
	supply, lists := 1, []list(nil)
	for _, name := range named.FindAllString(template, -1) {
		l := v.list(strings.Trim(name, "{}"))
		supply, lists = supply*l.count, append(lists, l)
	}
	return questions{supply, func(n int) string {
		d, next := digits(n), 0
		return named.ReplaceAllStringFunc(template, func(string) string {
			l := lists[next]
			next++
			if word := l.at(d.next(l.count)); l.plain {
				return word
			} else {
				return spell(word)
			}
		})
	}}
}

// digits takes a number apart: of a number below the product of all bases asked for,
// in order, no other number has the same digits.
type digits int

// next returns the next digit, from 0 to base-1.
func (d *digits) next(base int) int {
	digit := int(*d) % base
	*d = digits(int(*d) / base)
	return digit
}

// Years and sizes of pages of lists that are asked for.
const yearCount, firstYear, mostEntries = 20, 1990, 100

// list returns a list of the vocabulary, or one that is made of such or of numbers.
func (v *vocabulary) list(name string) list {
	words := v.words[name]
	switch name {
	case "flags":
		return list{2, func(i int) string { return strconv.FormatBool(i == 0) }, true}
	case "offsets": // of pages of activities, to the end
		return list{max((v.rows+pageSize-1)/pageSize, 1), func(i int) string { return strconv.Itoa(i * pageSize) }, true}
	case "years": // ranges of them
		return list{yearCount * yearCount, func(i int) string {
			from := firstYear + i%yearCount
			return fmt.Sprintf("%d..%d", from, from+i/yearCount)
		}, true}
	case "sizes":
		return list{mostEntries, func(i int) string { return strconv.Itoa(i + 1) }, true}
	case "anchored": // expressions for beginnings
		words = v.words["prefixes"]
		return list{len(words), func(i int) string { return "^" + regexp.QuoteMeta(words[i]) }, false}
	case "ranges":
		return ranges(v.words["days"])
	case "fives":
		return fives(v.words["users"])
	case "misquotes":
		return misquoted(v.words["titles"])
	}
	return list{len(words), func(i int) string { return words[i] }, false}
}

// ranges lie between two days less than half the list apart, so that no two of
// them are the same.
func ranges(days []string) list {
	widths := max((len(days)-1)/2, 0)
	return list{len(days) * widths, func(i int) string {
		d := digits(i)
		from := d.next(len(days))
		to := (from + 1 + d.next(widths)) % len(days)
		return fmt.Sprintf(`{"$gte":%s,"$lt":%s}`, quote(days[min(from, to)]), quote(days[max(from, to)]))
	}, true}
}

// fives are five authors who stand near each other in the list: within half of it, so that
// no two sets are the same.
func fives(users []string) list {
	const more = 4
	steps := min(len(users)/(2*more), 8)
	return list{len(users) * steps * steps * steps * steps, func(i int) string {
		d := digits(i)
		at := d.next(len(users))
		text := "[" + quote(users[at])
		for range more {
			at = (at + 1 + d.next(steps)) % len(users)
			text += "," + quote(users[at])
		}
		return text + "]"
	}, true}
}

// misquoted are titles as people remember them: a word is missing, another is new. The
// number at its end makes every one different.
func misquoted(titles []string) list {
	const ways = 4
	return list{ways * len(titles), func(i int) string {
		words := strings.Fields(titles[i%len(titles)])
		at := i / len(titles) % ways % len(words)
		return fmt.Sprintf("%s %s %d", strings.Join(words[:at], " "), strings.Join(words[at+1:], " "), i)
	}, false}
}
