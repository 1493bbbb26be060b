package filtertest

import (
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// Plain makes a document of fields whose types Expression knows; any may be missing or
// null. Every MongoDB-compatible server can store it.
func (g Generator) Plain() bson.Raw {
	doc := bson.D{}
	add := func(name string, v any) {
		switch g.intn(8) {
		case 0:
		case 1:
			doc = append(doc, bson.E{Key: name, Value: nil})
		default:
			doc = append(doc, bson.E{Key: name, Value: v})
		}
	}
	people, numbers := bson.A{}, bson.A{}
	for range g.intn(4) {
		person := bson.D{{Key: "name", Value: g.word()}}
		if g.intn(3) > 0 {
			person = append(person, bson.E{Key: "n", Value: int32(g.intn(4))})
		}
		people, numbers = append(people, person), append(numbers, pick(g, []any{int32(1), int32(2), 2.5, int64(7)}))
	}
	add("n", int32(g.intn(5)-1))
	add("x", pick(g, []any{0.5, 2.5, 3.0, int64(1 << 40), -1.5}))
	add("s", g.word())
	add("people", people)
	add("numbers", numbers)
	add("at", bson.NewDateTimeFromTime(time.Date(2023+g.intn(2), time.Month(1+g.intn(12)), 1+g.intn(28), g.intn(24), 0, 0, 0, time.UTC)))
	add("flag", g.intn(2) == 0)
	return marshal(doc)
}

func (g Generator) word() string {
	return pick(g, []string{"", "Soil", "soil and water", "Käfer", "12", "2.5", "x"})
}

// Expression makes a filter of one $expr over the fields of Plain. A document may make
// some of them fail.
func (g Generator) Expression() bson.Raw {
	return marshal(bson.D{{Key: "$expr", Value: g.truth(3)}})
}

func op(name string, args ...any) bson.D {
	if len(args) == 1 {
		return bson.D{{Key: name, Value: args[0]}}
	}
	return bson.D{{Key: name, Value: bson.A(args)}}
}

func named(name string, args ...bson.E) bson.D { return bson.D{{Key: name, Value: bson.D(args)}} }

func (g Generator) truth(depth int) any {
	if depth == 0 {
		return pick(g, []any{"$flag", op("$eq", "$n", int32(1)), op("$eq", op("$type", "$x"), "double"), true})
	}
	d := depth - 1
	switch g.intn(12) {
	case 0:
		return op(pick(g, []string{"$and", "$or"}), g.truth(d), g.truth(d))
	case 1:
		return op("$not", bson.A{g.truth(d)})
	case 2:
		return op("$in", g.numeral(d), g.numbers(d))
	case 3:
		return op(pick(g, []string{"$anyElementTrue", "$allElementsTrue"}), bson.A{g.numbers(d)})
	case 4:
		return op("$setIsSubset", g.numbers(d), g.numbers(d))
	case 5:
		return named("$regexMatch", bson.E{Key: "input", Value: g.string(d)}, bson.E{Key: "regex", Value: pick(g, []string{"^s", "a", "(?=o)"})}, bson.E{Key: "options", Value: "i"})
	case 6:
		return op("$eq", g.string(d), g.string(d))
	case 7:
		return op("$eq", op("$type", g.numeral(d)), pick(g, []string{"int", "double", "null", "missing"}))
	case 8:
		return op("$isArray", bson.A{pick(g, []any{"$people", "$s", g.numbers(d)})})
	case 9:
		return op("$sum", g.numbers(d))
	}
	return op(pick(g, []string{"$eq", "$ne", "$gt", "$gte", "$lt", "$lte"}), g.numeral(d), g.numeral(d))
}

func (g Generator) numeral(depth int) any {
	if depth == 0 || g.intn(4) == 0 {
		return pick(g, []any{"$n", "$x", int32(2), 1.5, int32(0), "$people.n"})
	}
	d := depth - 1
	switch g.intn(10) {
	case 0:
		return op(pick(g, []string{"$add", "$subtract", "$multiply"}), g.numeral(d), g.numeral(d))
	case 1:
		return op(pick(g, []string{"$divide", "$mod"}), g.numeral(d), pick(g, []any{int32(2), 0.5, "$n"}))
	case 2:
		return op(pick(g, []string{"$abs", "$floor", "$ceil", "$round"}), g.numeral(d))
	case 3:
		return op(pick(g, []string{"$min", "$max", "$avg", "$sum"}), g.numbers(d))
	case 4:
		return op("$size", op("$ifNull", g.numbers(d), bson.A{}))
	case 5:
		return op(pick(g, []string{"$first", "$last"}), g.numbers(d))
	case 6:
		return op("$strLenCP", op("$toLower", g.string(d)))
	case 7:
		return op(pick(g, []string{"$year", "$month", "$dayOfMonth"}), "$at")
	case 8:
		return named("$convert", bson.E{Key: "input", Value: g.string(d)}, bson.E{Key: "to", Value: "double"}, bson.E{Key: "onError", Value: int32(-1)})
	}
	return op("$cond", g.truth(d), g.numeral(d), g.numeral(d))
}

func (g Generator) numbers(depth int) any {
	if depth == 0 || g.intn(3) == 0 {
		return pick(g, []any{"$numbers", "$people.n", bson.A{int32(1), "$n"}})
	}
	d := depth - 1
	switch g.intn(4) {
	case 0:
		return named("$filter", bson.E{Key: "input", Value: g.numbers(d)}, bson.E{Key: "cond", Value: op("$gt", "$$this", g.numeral(d))})
	case 1:
		return named("$map", bson.E{Key: "input", Value: "$people"}, bson.E{Key: "as", Value: "p"}, bson.E{Key: "in", Value: op("$ifNull", "$$p.n", g.numeral(d))})
	case 2:
		return op("$setIntersection", g.numbers(d), g.numbers(d))
	}
	return named("$switch", bson.E{Key: "branches", Value: bson.A{bson.D{{Key: "case", Value: g.truth(d)}, {Key: "then", Value: g.numbers(d)}}}}, bson.E{Key: "default", Value: bson.A{}})
}

func (g Generator) string(depth int) any {
	if depth == 0 || g.intn(3) == 0 {
		return pick(g, []any{"$s", "soil", op("$arrayElemAt", "$people.name", int32(0))})
	}
	d := depth - 1
	switch g.intn(5) {
	case 0:
		return op("$concat", g.string(d), "-", g.string(d))
	case 1:
		return op(pick(g, []string{"$toLower", "$toUpper"}), g.string(d))
	case 2:
		return op("$substrCP", g.string(d), int32(g.intn(3)), int32(g.intn(4)))
	case 3:
		return named("$dateToString", bson.E{Key: "date", Value: "$at"}, bson.E{Key: "format", Value: "%Y-%m"}, bson.E{Key: "onNull", Value: "none"})
	}
	return op("$toString", g.numeral(d))
}
