package bench

import (
	"encoding/json"
	"fmt"
	"net/url"
	"regexp"

	"vitrine/cache/origin"
)

// family is a kind of filter: as many different ones as supply says, each with a
// number of its own.
type family struct {
	supply int
	filter func(n int) string
}

// kind is a family that is a case of its own.
type kind struct {
	family
	name, title string
	index       []string // for Case.Index
}

// kinds lists the kinds of filters.
func (v *vocabulary) kinds() []kind {
	users, types, units, days := v.quoted("users"), v.quoted("types"), v.quoted("units"), v.quoted("days")
	prefixes := make([]string, len(v.words["prefixes"]))
	for i, prefix := range v.words["prefixes"] {
		prefixes[i] = quote("^" + regexp.QuoteMeta(prefix))
	}
	byUser := []string{"authors.user"}
	return []kind{
		{templated(`{"authors.user":%s,"type":%s,"units":%s,"affiliated":%s}`, users, types, units, []string{"true", "false"}),
			"filter-equality", "equality: type, author, unit, affiliation", byUser},
		{v.ranges(), "filter-range", "range of days", []string{"start_date"}},
		{memberships(users), "filter-in", "$in: five authors", byUser},
		{templated(`{"title":{"$regex":%s}}`, prefixes), "filter-prefix", "$regex, anchored, on title", []string{"title"}},
		{templated(`{"title":{"$regex":%s,"$options":"i"}}`, v.quoted("infixes")),
			"filter-infix", "$regex, case-insensitive infix, on title", nil},
		{templated(`{"title":{"$regex":%s,"$options":"i"}}`, v.quoted("patterns")),
			"filter-pattern", "$regex, case-insensitive with a class, on title", nil},
		{templated(`{"authors":{"$elemMatch":{"user":%s,"position":%s}},"start_date":{"$gte":%s}}`, users, v.quoted("positions"), days),
			"filter-elem", "$elemMatch: author and position; since a day", byUser},
		{templated(`{"$or":[{"$and":[{"type":%[4]s},{"units":%[3]s}]},{"$and":[{"authors.user":%[1]s},{"$or":[{"spectrum.display_name":%[2]s},{"year":{"$gte":2022}}]}]}]}`,
			users, v.quoted("spectra"), units, types),
			"filter-or", "nested $or and $and", []string{"type", "authors.user"}},
		{templated(`{"$nor":[{"type":%[4]s},{"authors.user":%[1]s}],"units":{"$not":{"$eq":%[3]s}},"start_date":{"$lt":%[2]s}}`, users, days, units, types),
			"filter-not", "$nor and $not", nil},
	}
}

// filters are cases of filters that are all new, by kind.
func (v *vocabulary) filters() []Case {
	kinds := v.kinds()
	cases := make([]Case, 0, len(kinds)+1)
	least := kinds[0].supply
	for _, k := range kinds {
		c := v.fresh(k.name, k.title, listPath, k.family)
		c.Index = k.index
		cases = append(cases, c)
		least = min(least, k.supply)
	}
	// It takes the kinds in turn, from the far end of each: being the first half of its
	// family, it does not reach what the cases of the single kinds ask.
	mixed := v.fresh("filter-mixed", "all of these in turn, many at a time", listPath, family{least * len(kinds), func(n int) string {
		k := kinds[n%len(kinds)]
		return k.filter(k.supply - 1 - n/len(kinds))
	}})
	mixed.Conns, mixed.Query = 16, nil
	return append(cases, mixed)
}

// fresh is a case of the first half of a family's filters; the other is for mixed.
func (v *vocabulary) fresh(name, title, path string, of family) Case {
	return Case{
		Name: name, Title: title, Supply: of.supply / 2, Fresh: true, Conns: 1,
		Path:  func(n int) string { return path + "&json=" + url.QueryEscape(of.filter(n)) },
		Query: func(n int) (origin.Query, error) { return pageOf(of.filter(n)) },
	}
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

// quote makes a JSON string.
func quote(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		panic(err) // strings always marshal
	}
	return string(b)
}

// quoted returns the words of a list as JSON strings.
func (v *vocabulary) quoted(list string) []string {
	all := make([]string, len(v.words[list]))
	for i, word := range v.words[list] {
		all[i] = quote(word)
	}
	return all
}

// templated fills the verbs of a template with one text of each list.
func templated(template string, lists ...[]string) family {
	supply := 1
	for _, list := range lists {
		supply *= len(list)
	}
	return family{supply, func(n int) string {
		d, texts := digits(n), make([]any, len(lists))
		for i, list := range lists {
			texts[i] = list[d.next(len(list))]
		}
		return fmt.Sprintf(template, texts...)
	}}
}

// ranges lie between two days less than half the list apart, so that no two of
// them are the same.
func (v *vocabulary) ranges() family {
	days := v.words["days"]
	widths := max((len(days)-1)/2, 0)
	return family{len(days) * widths, func(n int) string {
		d := digits(n)
		from := d.next(len(days))
		to := (from + 1 + d.next(widths)) % len(days)
		return fmt.Sprintf(`{"start_date":{"$gte":%s,"$lt":%s}}`, quote(days[min(from, to)]), quote(days[max(from, to)]))
	}}
}

// memberships are five authors who stand near each other in the list: within half
// of it, so that no two sets are the same.
func memberships(users []string) family {
	const more = 4
	steps := min(len(users)/(2*more), 8)
	return family{len(users) * steps * steps * steps * steps, func(n int) string {
		d := digits(n)
		at := d.next(len(users))
		list := users[at]
		for range more {
			at = (at + 1 + d.next(steps)) % len(users)
			list += "," + users[at]
		}
		return fmt.Sprintf(`{"authors.user":{"$in":[%s]}}`, list)
	}}
}
