package index

import (
	"context"
	"slices"
	"sort"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/fair"
	"vitrine/rules/filter"
	"vitrine/rules/pcre"
	"vitrine/rules/raw"
)

// textSearch holds the texts of an index one after the other, so that one pass at the speed of memory finds a literal
// in all of them, or matches them all: the rows with the texts are scattered in memory. A zero byte follows each
// text, so that no match of a literal spans two of them: literals come from expressions, which have no zero byte.
type textSearch struct {
	joined string
	// the text of value texts.from+i begins at joined[starts[i]]; the last element is the end of joined
	starts []uint32
}

// Memory implements derived.
func (t *textSearch) Memory() int64 { return int64(len(t.joined)) + 4*int64(len(t.starts)) }

// texts returns the joined texts of a path's index, folded if the literals will be. The segment keeps them.
func (s *segment) texts(path raw.Path, x *pathIndex, folded bool) *textSearch {
	kind := kindTexts
	if folded {
		kind = kindFoldedTexts
	}
	return derive(s, derivedKey{kind: kind, path: path.String()}, func() *textSearch { return x.join(folded) })
}

func (x *pathIndex) join(folded bool) *textSearch {
	t := &textSearch{starts: make([]uint32, 1, x.texts.to-x.texts.from+1)}
	var joined []byte
	for _, d := range x.values[x.texts.from:x.texts.to] {
		if text := raw.Text(d.Raw); folded {
			joined = pcre.AppendFold(joined, text)
		} else {
			joined = append(joined, text...)
		}
		joined = append(joined, 0)
		t.starts = append(t.starts, uint32(len(joined)))
	}
	t.joined = string(joined)
	return t
}

func (t *textSearch) len() int { return len(t.starts) - 1 }

func (t *textSearch) text(i int) string { return t.joined[t.starts[i] : t.starts[i+1]-1] }

// rarest returns the literal that occurs least in samples from all parts of the joined texts; among equals the first.
func (t *textSearch) rarest(literals []string) string {
	const samples, size = 16, 4 << 10
	var sample strings.Builder
	for i := range samples {
		from := i * len(t.joined) / samples
		sample.WriteString(t.joined[from:min(from+size, len(t.joined))])
	}
	count := func(literal string) int { return strings.Count(sample.String(), literal) }
	return slices.MinFunc(literals, func(a, b string) int { return count(a) - count(b) })
}

// searchPart is about how many bytes are searched between two checks of a turn.
const searchPart = 512 << 10

// holding returns the positions of the texts with the literal, in order. Several processors each search parts.
func (t *textSearch) holding(ctx context.Context, literal string) ([]int, error) {
	parts := len(t.joined)/searchPart + 1
	found, n := make([][]int, parts), t.len()
	err := fair.Each(ctx, parts, func(i int) error {
		found[i] = t.holdingIn(literal, n*i/parts, n*(i+1)/parts)
		return nil
	})
	return slices.Concat(found...), err
}

// holdingIn is holding for the texts in the range [from, to).
func (t *textSearch) holdingIn(literal string, from, to int) (texts []int) {
	end := int(t.starts[to])
	for i := from; i < to; {
		at := int(t.starts[i])
		next := strings.Index(t.joined[at:end], literal)
		if next < 0 {
			break
		}
		for i < to && int(t.starts[i]) <= at+next {
			i++
		}
		texts = append(texts, i-1)
	}
	return texts
}

// findTexts sets the range of strings in an index without symbols, which sort among strings and would have to be
// skipped.
func (x *pathIndex) findTexts() {
	from := x.before(emptyText)
	to := from
	for to < len(x.values) && x.values[to].Raw.Type == bson.TypeString {
		to++
	}
	for _, d := range x.values[to:] {
		if d.Raw.Type == bson.TypeSymbol {
			return
		}
	}
	x.texts = stretch{from, to}
}

var emptyText = bson.RawValue{Type: bson.TypeString, Value: []byte{1, 0, 0, 0, 0}}

// lookupRegex tests as few texts as the expression allows: those that begin with its prefix, or else those that
// contain its literal, or else all.
func (q *query) lookupRegex(ctx context.Context, re *filter.Regex) error {
	x, texts := q.index, q.index.texts
	if err := q.decide(ctx, re, stretch{0, texts.from}); err != nil {
		return err
	}
	if err := q.decide(ctx, re, stretch{texts.to, len(x.values)}); err != nil {
		return err
	}
	if texts.from == texts.to {
		return nil
	}
	if prefix := re.Prefix(); prefix != "" {
		return q.decide(ctx, re, x.withPrefix(prefix))
	}
	literal, folded := re.Literal()
	t := q.seg.texts(q.path, q.index, folded)
	if literal == "" {
		return q.decideAll(ctx, t.len(), t.step(), func(i int) int { return texts.from + i },
			func(i int) (bool, error) {
				return re.MatchString(t.text(i), q.backtracking)
			})
	}
	holding, err := t.holding(ctx, t.rarest(re.Literals()))
	if err != nil {
		return err
	}
	if re.OnlyLiteral() {
		for _, i := range holding {
			q.add(texts.from + i)
		}
		return nil
	}
	text := t.text
	switch {
	case folded && len(holding) > t.len()/8:
		text = q.seg.texts(q.path, q.index, false).text
	case folded: // so few are read from their rows
		text = func(i int) string { return raw.Text(x.values[texts.from+i].Raw) }
	}
	re = re.Holding()
	return q.decideAll(ctx, len(holding), t.step(), func(i int) int { return texts.from + holding[i] },
		func(i int) (bool, error) {
			return re.MatchString(text(holding[i]), q.backtracking)
		})
}

// withPrefix returns the stretch of texts that begin with a prefix.
func (x *pathIndex) withPrefix(prefix string) stretch {
	from := x.before(raw.NewString(prefix))
	texts := x.values[from:x.texts.to]
	n := sort.Search(len(texts), func(i int) bool { return !strings.HasPrefix(raw.Text(texts[i].Raw), prefix) })
	return stretch{from, from + n}
}

// step returns how many texts to match between two checks of a turn: about one kilobyte.
func (t *textSearch) step() int { return max(1, min(checkEvery, t.len()<<10/len(t.joined))) }

// decideAll adds the values among n for which match, which may be slow, returns true. value returns the number of the
// i-th value. The turn is checked after each step of them.
func (q *query) decideAll(ctx context.Context, n, step int, value func(i int) int,
	match func(i int) (bool, error)) error {
	hit := make([]bool, n)
	err := inSteps(ctx, n, step, func(i int) (err error) {
		hit[i], err = match(i)
		return err
	})
	if err != nil {
		return err
	}
	for i, found := range hit {
		if found {
			q.add(value(i))
		}
	}
	return nil
}

// worthSharing is the least number of items that are worth a goroutine.
const worthSharing = 512

// inSteps is fair.Share for items that mostly take less time than a check of the turn. It checks after each step of
// them.
func inSteps(ctx context.Context, n, step int, work func(i int) error) error {
	if n < worthSharing {
		return fair.Share(ctx, n, work)
	}
	return fair.Each(ctx, (n+step-1)/step, func(part int) error {
		for i := part * step; i < min((part+1)*step, n); i++ {
			if err := work(i); err != nil {
				return err
			}
		}
		return nil
	})
}
