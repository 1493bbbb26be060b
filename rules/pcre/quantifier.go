package pcre

import (
	"fmt"
	"regexp"
	"strconv"
)

var counts = regexp.MustCompile(`^\{(\d+)(?:(,)(\d*))?\}`)

// quantifier is how often an item may occur: max is -1 if there is no bound.
type quantifier struct {
	min, max   int
	possessive bool
}

// quantifier reads and writes a quantifier, if one comes next.
func (p *parser) quantifier() (q quantifier, ok bool) {
	q.max = -1
	switch {
	case p.quoted:
		return q, false
	case p.accept("*"):
	case p.accept("+"):
		q.min = 1
	case p.accept("?"):
		q.max = 1
	default:
		found := p.match(counts) // any other brace is a literal
		if found == nil {
			return q, false
		}
		q.min, q.max = p.counts(found)
	}
	p.skip() // allowed before the sign of laziness or possession
	q.possessive = !p.quoted && p.accept("+")
	lazy := !q.possessive && p.flags.has('U') != (!p.quoted && p.accept("?"))
	p.write(braces(min(q.min, maxGo), q.max, maxGo), braces(q.min, q.max, q.max))
	if lazy {
		p.write("?", "?")
	} else if q.possessive {
		p.write("", "+")
	}
	return q, true
}

// counts returns the numbers in {n}, {n,} or {n,m}.
func (p *parser) counts(found []string) (least, most int) {
	lower, err := strconv.ParseUint(found[1], 10, 16)
	upper := lower
	if err == nil && found[3] != "" {
		upper, err = strconv.ParseUint(found[3], 10, 16)
	}
	switch {
	case err != nil:
		p.fail("number too big in a quantifier")
	case upper < lower:
		p.fail("numbers out of order in a quantifier")
	case found[2] != "" && found[3] == "":
		return int(lower), -1
	}
	return int(lower), int(upper)
}

// maxGo is the largest repetition that Go's engine takes.
const maxGo = 1000

// braces writes a quantifier, without a bound above the limit.
func braces(least, most, limit int) string {
	if most < 0 || most > limit {
		return fmt.Sprintf("{%d,}", least)
	}
	return fmt.Sprintf("{%d,%d}", least, most)
}
