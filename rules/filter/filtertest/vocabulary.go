package filtertest

import (
	"math"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// paths lead into the documents that Doc makes, past them, and by position.
func (g Generator) path() string {
	if g.intn(3) == 0 {
		return pick(g, []string{"a", "b", "c"})
	}
	return pick(g, []string{
		"a", "b", "a.b", "a.0", "c", "a.b.c", "a.0.b", "b.a", "b.1", "a.b.0", "a.1.0", "c.a.b", "d", "a.0.0",
		"c.0", "b.c.a", "missing", "a.missing", "_id", "d.b.1.c",
	})
}

// id makes an _id; some are ObjectIDs.
func (g Generator) id() any {
	if g.intn(4) == 0 {
		return bson.ObjectID{11: byte(g.intn(8))}
	}
	return int32(g.intn(1000))
}

// value makes a value that nests at most depth levels.
func (g Generator) value(depth int) any {
	if depth == 0 || g.intn(5) < 3 {
		return g.scalar()
	}
	if g.intn(2) == 0 {
		return g.document(depth - 1)
	}
	array := bson.A{}
	for range g.intn(4) {
		array = append(array, g.value(depth-1))
	}
	return array
}

// document makes a sub-document; its names may be numbers.
func (g Generator) document(depth int) bson.D {
	doc := bson.D{}
	for _, name := range []string{"a", "b", "0", "c", "1"} {
		if g.intn(5) < 2 {
			doc = append(doc, bson.E{Key: name, Value: g.value(depth)})
		}
	}
	if len(doc) == 2 && g.intn(3) == 0 {
		doc[0], doc[1] = doc[1], doc[0]
	}
	return doc
}

// scalar makes a value that is neither document nor array; plain ones are likelier.
func (g Generator) scalar() any {
	switch g.intn(6) {
	case 0, 1, 2:
		return int32(g.intn(3))
	case 3:
		return g.text()
	case 4:
		return g.number()
	}
	return pick(g, []any{
		nil, true, false, bson.Undefined{}, bson.MinKey{}, bson.MaxKey{},
		bson.ObjectID{11: 1}, bson.ObjectID{11: 2},
		bson.NewDateTimeFromTime(time.Unix(0, 0)), bson.NewDateTimeFromTime(time.Unix(1700000000, 0)),
		bson.Timestamp{T: 1, I: 2}, bson.Timestamp{T: 1, I: 3},
		bson.Binary{Data: []byte{5}}, bson.Binary{Subtype: 4, Data: []byte{1, 2}},
		bson.Regex{Pattern: "^a", Options: "i"}, bson.Symbol("ab"), bson.JavaScript("f()"),
		bson.CodeWithScope{Code: "f()", Scope: bson.D{{Key: "a", Value: int32(1)}}},
		bson.DBPointer{DB: "db", Pointer: bson.ObjectID{11: 1}},
	})
}

func (g Generator) text() string {
	return pick(g, []string{"", "a", "ab", "A", "b", "abc\n", "ä", "Ab", "0", "000000000000000000000001"})
}

// number makes numbers that are equal or close across their types.
func (g Generator) number() any {
	return pick(g, []any{
		1.0, int64(1), 0.5, math.Copysign(0, -1), math.NaN(), math.Inf(1), math.Inf(-1), int32(-1), 2.5,
		int64(1 << 53), int64(1<<53 + 1), float64(1 << 53), int64(math.MaxInt64), float64(1 << 63), int64(math.MinInt64),
		decimal("1"), decimal("1.00"), decimal("0.5"), decimal("NaN"), decimal("9007199254740993"), decimal("1E+400"),
		decimal("-Infinity"), decimal("2.50"),
	})
}

func decimal(s string) bson.Decimal128 {
	d, err := bson.ParseDecimal128(s)
	if err != nil {
		panic(err) // only called with the constants above
	}
	return d
}
