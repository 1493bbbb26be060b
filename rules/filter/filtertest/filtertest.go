// Package filtertest makes random documents and filters for tests of the query
// language. Both draw from the same small vocabulary of paths and values, so that
// filters often match, and lean towards what is easily got wrong: arrays in
// arrays, missing parents, null, NaN, numbers of several types, numeric field
// names.
//
// The same grammar has two sources of choice: rapid, which shrinks what fails, and
// a seeded generator, which is fast enough for bulk comparisons of two evaluators.
package filtertest

import (
	"math/rand/v2"

	"go.mongodb.org/mongo-driver/v2/bson"
	"pgregory.net/rapid"
)

// Doc draws a document with an _id and the fields a to d.
func Doc(t *rapid.T) bson.Raw { return draw(t, "doc", Generator.Doc) }

// Filter draws a valid filter, as BSON.
func Filter(t *rapid.T) bson.Raw { return draw(t, "filter", Generator.Filter) }

// Value draws a value of any type.
func Value(t *rapid.T) bson.RawValue {
	return rapid.Custom(func(t *rapid.T) bson.RawValue {
		return marshalValue(rapidGenerator(t).value(2))
	}).Draw(t, "value")
}

func draw(t *rapid.T, label string, of func(Generator) bson.Raw) bson.Raw {
	return rapid.Custom(func(t *rapid.T) bson.Raw { return of(rapidGenerator(t)) }).Draw(t, label)
}

// Generator makes documents and filters from a source of choices.
type Generator struct {
	intn func(n int) int // a number from 0 to n-1; small ones lead to simple results
}

// New returns a generator that is determined by its seed. It is not safe for
// concurrent use.
func New(seed uint64) Generator {
	return Generator{intn: rand.New(rand.NewPCG(seed, 0)).IntN}
}

func rapidGenerator(t *rapid.T) Generator {
	return Generator{intn: func(n int) int { return rapid.IntRange(0, n-1).Draw(t, "choice") }}
}

// Doc makes a document with an _id and some of the fields a to d.
func (g Generator) Doc() bson.Raw {
	doc := bson.D{{Key: "_id", Value: g.id()}}
	for _, name := range []string{"a", "b", "c", "d"} {
		if g.intn(4) > 0 {
			doc = append(doc, bson.E{Key: name, Value: g.value(3)})
		}
	}
	return marshal(doc)
}

// Filter makes a valid filter.
func (g Generator) Filter() bson.Raw { return marshal(g.conditions(3)) }

// pick chooses one of several values.
func pick[T any](g Generator, values []T) T { return values[g.intn(len(values))] }

// marshal encodes a document of this package's own making.
func marshal(doc bson.D) bson.Raw {
	raw, err := bson.Marshal(doc)
	if err != nil {
		panic(err) // the vocabulary below is all valid BSON
	}
	return raw
}

func marshalValue(v any) bson.RawValue { return marshal(bson.D{{Key: "v", Value: v}}).Lookup("v") }
