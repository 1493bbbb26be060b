package index

import (
	"bytes"
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
// in all of them. A zero byte separates the texts, so that no match spans two of them: literals come from expressions,
// which have no zero byte.
type textSearch struct {
	joined []byte
	starts []uint32 // the text of value texts.from+i begins at joined[starts[i]]
}

func (t *textSearch) Memory() int64 { return int64(len(t.joined)) + 4*int64(len(t.starts)) }

// texts returns the joined texts of a path's index, folded if the literals will be folded. The segment keeps them
// beside the index.
func (s *segment) texts(path raw.Path, x *pathIndex, folded bool) *textSearch {
	kind := kindTexts
	if folded {
		kind = kindFoldedTexts
	}
	return derive(s, derivedKey{kind: kind, path: path.String()}, func() *textSearch {
		t := &textSearch{starts: make([]uint32, 0, x.texts.to-x.texts.from)}
		for _, d := range x.values[x.texts.from:x.texts.to] {
			t.starts = append(t.starts, uint32(len(t.joined)))
			if text := raw.Text(d.Raw); folded {
				t.joined = pcre.AppendFold(t.joined, text)
			} else {
				t.joined = append(t.joined, text...)
			}
			t.joined = append(t.joined, 0)
		}
		return t
	})
}

// searchPart is about how many bytes are searched between two checks of a turn.
const searchPart = 512 << 10

// holding returns the positions of the texts that contain the literal, in order. Several processors each search parts
// of the texts.
func (t *textSearch) holding(ctx context.Context, literal string) ([]int, error) {
	parts := len(t.joined)/searchPart + 1
	found, n := make([][]int, parts), len(t.starts)
	err := fair.Each(ctx, parts, func(i int) error {
		found[i] = t.holdingIn([]byte(literal), n*i/parts, n*(i+1)/parts)
		return nil
	})
	return slices.Concat(found...), err
}

// holdingIn is holding for the texts in the range [from, to).
func (t *textSearch) holdingIn(literal []byte, from, to int) (texts []int) {
	end := len(t.joined)
	if to < len(t.starts) {
		end = int(t.starts[to])
	}
	for i := from; i < to; {
		at := int(t.starts[i])
		next := bytes.Index(t.joined[at:end], literal)
		if next < 0 {
			break
		}
		rest := t.starts[i:to]
		i += sort.Search(len(rest), func(k int) bool { return int(rest[k]) > at+next })
		texts = append(texts, i-1)
	}
	return texts
}

// findTexts sets the range of strings in the index. Symbols sort among strings and would have to be skipped, so an
// index with symbols has no such range.
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

// emptyText is the string that sorts before all others.
var emptyText = bson.RawValue{Type: bson.TypeString, Value: []byte{1, 0, 0, 0, 0}}

// lookupRegex tests as few texts as the expression allows: those that begin with its prefix, or else those that contain
// its literal, or else all.
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
	if prefix, folded := re.Prefix(); prefix != "" && !folded {
		s := x.withPrefix(prefix)
		return q.decideAll(ctx, re, s.to-s.from, func(i int) int { return s.from + i })
	}
	literal, folded := re.Literal()
	if literal == "" {
		return q.decideAll(ctx, re, texts.to-texts.from, func(i int) int { return texts.from + i })
	}
	holding, err := q.seg.texts(q.path, q.index, folded).holding(ctx, literal)
	if err != nil {
		return err
	}
	if re.OnlyLiteral() {
		for _, i := range holding {
			q.add(texts.from + i)
		}
		return nil
	}
	return q.decideAll(ctx, re.Holding(), len(holding), func(i int) int { return texts.from + holding[i] })
}

// withPrefix returns the stretch of texts that begin with a prefix.
func (x *pathIndex) withPrefix(prefix string) stretch {
	from := x.before(raw.NewString(prefix))
	texts := x.values[from:x.texts.to]
	n := sort.Search(len(texts), func(i int) bool { return !strings.HasPrefix(raw.Text(texts[i].Raw), prefix) })
	return stretch{from, from + n}
}

// decideAll runs a slow test on n values. value returns the number of the i-th value.
func (q *query) decideAll(ctx context.Context, test filter.Test, n int, value func(i int) int) error {
	hit := make([]bool, n)
	err := fair.Share(ctx, n, func(i int) (err error) {
		hit[i], err = test.Match(q.index.values[value(i)].Value, q.bounds)
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
