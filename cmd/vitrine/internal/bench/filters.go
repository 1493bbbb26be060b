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

// filters are cases of filters that are all new, by kind.
func (v *vocabulary) filters() []Case {
	const list = "/api/activities?limit=20"
	kinds := []struct {
		name, title string
		of          family
		index       []string
	}{
		{"filter-equality", "equality: type, author, unit, affiliation", v.equalities(), []string{"authors.user"}},
		{"filter-range", "range of days", v.ranges(), []string{"start_date"}},
		{"filter-in", "$in: five authors", v.memberships(), []string{"authors.user"}},
		{"filter-prefix", "$regex, anchored, on title", v.prefixed(), []string{"title"}},
		{"filter-infix", "$regex, case-insensitive infix, on title", v.infixes(), nil},
		{"filter-pattern", "$regex, case-insensitive with a class, on title", v.patterns(), nil},
		{"filter-elem", "$elemMatch: author and position; since a day", v.elemMatches(), []string{"authors.user"}},
		{"filter-or", "nested $or and $and", v.alternatives(), []string{"type", "authors.user"}},
		{"filter-not", "$nor and $not", v.negations(), nil},
	}
	cases := make([]Case, 0, len(kinds)+1)
	for _, k := range kinds {
		c := v.fresh(k.name, k.title, list, k.of)
		c.Index = k.index
		cases = append(cases, c)
	}
	mixed := v.fresh("filter-mixed", "all of these in turn, many at a time", list, v.mixed())
	mixed.Conns, mixed.Query = 16, nil
	return append(cases, mixed)
}

// fresh is a case of the first half of a family's filters; the other is for mixed.
func (v *vocabulary) fresh(name, title, path string, of family) Case {
	return Case{
		Name: name, Title: title, Supply: of.supply / 2, Fresh: true,
		Path:  func(n int) string { return path + "&json=" + url.QueryEscape(of.filter(n)) },
		Query: func(n int) (origin.Query, error) { return pageOf(of.filter(n)) },
	}
}

// digits takes a number apart: of a number below the product of all bases asked for,
// in order, no other number has the same digits.
type digits int

func (d *digits) next(base int) int {
	digit := int(*d) % base
	*d = digits(int(*d) / base)
	return digit
}

// of takes the next digit as one of some words, quoted for JSON.
func (d *digits) of(words []string) string { return quote(words[d.next(len(words))]) }

// quote makes a JSON string.
func quote(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		panic(err) // strings always marshal
	}
	return string(b)
}

func (v *vocabulary) equalities() family {
	return family{len(v.types) * len(v.users) * len(v.units) * 2, func(n int) string {
		d := digits(n)
		return fmt.Sprintf(`{"authors.user":%s,"type":%s,"units":%s,"affiliated":%t}`, d.of(v.users), d.of(v.types), d.of(v.units), d.next(2) == 0)
	}}
}

// ranges lie between two days less than half the list apart, so that no two of
// them are the same.
func (v *vocabulary) ranges() family {
	all, widths := len(v.days), (len(v.days)-1)/2
	return family{all * max(widths, 0), func(n int) string {
		d := digits(n)
		from := d.next(all)
		to := (from + 1 + d.next(widths)) % all
		return fmt.Sprintf(`{"start_date":{"$gte":%s,"$lt":%s}}`, quote(v.days[min(from, to)]), quote(v.days[max(from, to)]))
	}}
}

// memberships are five authors who stand near each other in the list: within half
// of it, so that no two sets are the same.
func (v *vocabulary) memberships() family {
	const more = 4
	all, steps := len(v.users), min(len(v.users)/(2*more), 8)
	return family{all * steps * steps * steps * steps, func(n int) string {
		d := digits(n)
		at := d.next(all)
		list := quote(v.users[at])
		for range more {
			at = (at + 1 + d.next(steps)) % all
			list += "," + quote(v.users[at])
		}
		return fmt.Sprintf(`{"authors.user":{"$in":[%s]}}`, list)
	}}
}

func (v *vocabulary) prefixed() family {
	return family{len(v.prefixes), func(n int) string {
		return fmt.Sprintf(`{"title":{"$regex":%s}}`, quote("^"+regexp.QuoteMeta(v.prefixes[n])))
	}}
}

func (v *vocabulary) infixes() family  { return insensitive(v.infixed) }
func (v *vocabulary) patterns() family { return insensitive(v.patterned) }

// insensitive are expressions that disregard case.
func insensitive(expressions []string) family {
	return family{len(expressions), func(n int) string {
		return fmt.Sprintf(`{"title":{"$regex":%s,"$options":"i"}}`, quote(expressions[n]))
	}}
}

func (v *vocabulary) elemMatches() family {
	return family{len(v.users) * len(v.positions) * len(v.days), func(n int) string {
		d := digits(n)
		return fmt.Sprintf(`{"authors":{"$elemMatch":{"user":%s,"position":%s}},"start_date":{"$gte":%s}}`,
			d.of(v.users), d.of(v.positions), d.of(v.days))
	}}
}

func (v *vocabulary) alternatives() family {
	return family{len(v.users) * len(v.spectra) * len(v.units) * len(v.types), func(n int) string {
		d := digits(n)
		user, topic, unit, kind := d.of(v.users), d.of(v.spectra), d.of(v.units), d.of(v.types)
		return fmt.Sprintf(`{"$or":[{"$and":[{"type":%s},{"units":%s}]},{"$and":[{"authors.user":%s},{"$or":[{"spectrum.display_name":%s},{"year":{"$gte":2022}}]}]}]}`,
			kind, unit, user, topic)
	}}
}

func (v *vocabulary) negations() family {
	return family{len(v.users) * len(v.days) * len(v.units) * len(v.types), func(n int) string {
		d := digits(n)
		user, day, unit, kind := d.of(v.users), d.of(v.days), d.of(v.units), d.of(v.types)
		return fmt.Sprintf(`{"$nor":[{"type":%s},{"authors.user":%s}],"units":{"$not":{"$eq":%s}},"start_date":{"$lt":%s}}`, kind, user, unit, day)
	}}
}

// mixed takes the kinds in turn, from the far end of each. As its case, too, is the
// first half of it, it does not reach what the cases of the single kinds ask.
func (v *vocabulary) mixed() family {
	kinds := []family{v.equalities(), v.ranges(), v.memberships(), v.prefixed(), v.infixes(), v.patterns(), v.elemMatches(), v.alternatives(), v.negations()}
	least := kinds[0].supply
	for _, k := range kinds {
		least = min(least, k.supply)
	}
	return family{least * len(kinds), func(n int) string {
		k := kinds[n%len(kinds)]
		return k.filter(k.supply - 1 - n/len(kinds))
	}}
}
