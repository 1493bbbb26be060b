// Package filtertest makes random documents and filters for tests of the query language. Both use the same small
// vocabulary of paths and values, so that filters often match, and often contain what implementations easily get
// wrong: arrays in arrays, missing parents, null, NaN, numbers of several types, numeric field names.
//
// The same grammar has two sources of choice: rapid, which shrinks failing inputs, and a seeded generator, which is
// fast enough for bulk comparisons of two evaluators.
//
// It is test support: only tests, and other such packages, import it (TestImportsPointOneWay in cmd/vitrine).
package filtertest

import (
	_ "embed"
	"fmt"
	"math/rand/v2"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"
	"pgregory.net/rapid"

	"vitrine/rules/ejson"
)

// Doc draws a document with an _id and the fields a to d.
func Doc(t *rapid.T) bson.Raw { return draw(t, "doc", Generator.Doc) }

// Filter draws a valid filter, as BSON.
func Filter(t *rapid.T) bson.Raw { return draw(t, "filter", Generator.Filter) }

// Value draws a value of any type.
func Value(t *rapid.T) bson.RawValue {
	return draw(t, "value", func(g Generator) bson.Raw { return g.document("holder") }).Lookup("value")
}

// draw lets rapid make the choices, so that it can shrink failing inputs.
func draw(t *rapid.T, label string, of func(Generator) bson.Raw) bson.Raw {
	return rapid.Custom(func(t *rapid.T) bson.Raw {
		return of(Generator{intn: func(n int) int { return rapid.IntRange(0, n-1).Draw(t, "choice") }})
	}).Draw(t, label)
}

// Generator makes documents and filters from a source of choices.
type Generator struct {
	intn func(n int) int // returns a number from 0 to n-1; small ones lead to simple results
}

// New returns a generator that is determined by its seed. It is not safe for concurrent use.
func New(seed uint64) Generator {
	return Generator{intn: rand.New(rand.NewPCG(seed, 0)).IntN}
}

// Doc makes a document with an _id and some of the fields a to d.
func (g Generator) Doc() bson.Raw { return g.document("doc") }

// Filter makes a valid filter.
func (g Generator) Filter() bson.Raw { return g.document("filter") }

// Plain makes a document with fields of the types that Expression expects; any may be null, and all but n may be
// missing. Every MongoDB-compatible server can store it.
func (g Generator) Plain() bson.Raw { return g.document("plain") }

// Expression makes a filter with one $expr over the fields of Plain. Some expressions fail on some documents.
func (g Generator) Expression() bson.Raw { return g.document("expression") }

// document makes a document by the rule with a name. A text with a repeated key is not a document; then it tries
// again.
func (g Generator) document(name string) bson.Raw {
	for range 1000 {
		var b strings.Builder
		g.write(&b, "<"+name+">", maxDepth)
		doc, err := ejson.Parse([]byte(b.String()), ejson.Options{})
		if err == nil {
			return doc
		}
	}
	panic(fmt.Sprintf("the rule %s makes no documents", name))
}

// maxDepth is how deep nested alternatives may nest.
const maxDepth = 3

// write writes a text with its names replaced.
func (g Generator) write(b *strings.Builder, text string, depth int) {
	for {
		plain, rest, found := strings.Cut(text, "<")
		b.WriteString(plain)
		if !found {
			return
		}
		var name string
		name, text, _ = strings.Cut(rest, ">")
		r, known := rules[name]
		if !known {
			panic(fmt.Sprintf("there is no rule %q", name)) // a mistake in the grammar
		}
		n := len(r.flat)
		if depth > 0 {
			n += len(r.nesting)
		}
		if i := g.intn(n); i < len(r.flat) {
			g.write(b, r.flat[i], depth)
		} else {
			g.write(b, r.nesting[i-len(r.flat)], depth-1)
		}
	}
}

// grammar makes Extended JSON. A line is a name and its alternatives, the simplest first
// and likely ones several times; behind || stand those that nest. "-" makes nothing. A line
// that begins with a tab continues the previous one.
//
//go:embed grammar.txt
var grammar string

// rule has the alternatives for a name. The nested ones count against maxDepth.
type rule struct{ flat, nesting []string }

// rules are the rules of the grammar, by name.
var rules = parse(grammar)

func parse(grammar string) map[string]rule {
	rules := map[string]rule{}
	for line := range strings.Lines(strings.ReplaceAll(grammar, "\n\t", " ")) {
		name, alternatives, ok := strings.Cut(strings.TrimSuffix(line, "\n"), " = ")
		if !ok {
			continue
		}
		flat, nesting, nests := strings.Cut(alternatives, " || ")
		r := rule{flat: strings.Split(flat, " | ")}
		for i, text := range r.flat {
			if text == "-" {
				r.flat[i] = ""
			}
		}
		if nests {
			r.nesting = strings.Split(nesting, " | ")
		}
		rules[name] = r
	}
	return rules
}
