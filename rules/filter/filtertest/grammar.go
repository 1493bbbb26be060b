package filtertest

import "go.mongodb.org/mongo-driver/v2/bson"

// conditions makes a query document of up to three conditions.
func (g Generator) conditions(depth int) bson.D {
	doc := bson.D{}
	seen := map[string]bool{}
	for range 1 + g.intn(2)*g.intn(2) {
		e := g.condition(depth)
		if !seen[e.Key] {
			doc = append(doc, e)
		}
		seen[e.Key] = true
	}
	return doc
}

// condition makes one condition, possibly a logical one.
func (g Generator) condition(depth int) bson.E {
	if depth > 0 && g.intn(4) == 0 {
		list := bson.A{}
		for range 1 + g.intn(3) {
			list = append(list, g.conditions(depth-1))
		}
		return bson.E{Key: pick(g, []string{"$or", "$and", "$nor"}), Value: list}
	}
	if g.intn(16) == 0 {
		return bson.E{Key: "$comment", Value: "noted"}
	}
	return bson.E{Key: g.path(), Value: g.operand(depth)}
}

// operand makes what stands beside a path: a value, an expression or operators.
func (g Generator) operand(depth int) any {
	switch g.intn(12) {
	case 0, 1:
		return g.comparable()
	case 2:
		return g.regex()
	}
	return g.operators(depth)
}

// comparable makes a value that filters may be compared with.
func (g Generator) comparable() any {
	v := g.value(g.intn(3))
	if _, ok := v.(bson.Undefined); ok {
		return nil
	}
	return v
}

// orderable is comparable without regular expressions.
func (g Generator) orderable() any {
	v := g.comparable()
	if _, ok := v.(bson.Regex); ok {
		return "a"
	}
	return v
}

func (g Generator) regex() bson.Regex {
	return bson.Regex{
		Pattern: pick(g, []string{"a", "^a", "b$", "^$", "[a-c]+$", "(a)(?=b)", "(?i)AB", "ä", "^(?!a)", ".", "c$\\n", "A|0"}),
		Options: pick(g, []string{"", "i", "m", "s"}),
	}
}

// operators makes an operator document.
func (g Generator) operators(depth int) bson.D {
	doc := bson.D{}
	seen := map[string]bool{}
	for range 1 + g.intn(2)*g.intn(2) {
		e := g.operator(depth)
		if !seen[e.Key] {
			doc = append(doc, e)
		}
		seen[e.Key] = true
	}
	return doc
}

func (g Generator) operator(depth int) bson.E {
	name := pick(g, []string{
		"$eq", "$ne", "$gt", "$gte", "$lt", "$lte", "$in", "$nin", "$exists", "$type", "$size", "$mod", "$all",
		"$regex", "$not", "$not", "$ne", "$gte", "$lte", "$elemMatch", "$bitsAllSet", "$bitsAnySet", "$bitsAllClear", "$bitsAnyClear",
	})
	return bson.E{Key: name, Value: g.argument(name, depth)}
}

// argument makes a valid operand for an operator.
func (g Generator) argument(name string, depth int) any {
	switch name {
	case "$eq":
		return g.comparable()
	case "$in", "$nin", "$all":
		return g.list(name)
	case "$exists":
		return g.intn(2) == 0
	case "$type":
		return pick(g, []any{"string", "number", "array", "object", "null", "int", bson.A{"double", "bool"}, int32(16), "undefined", "decimal"})
	case "$size":
		return int32(g.intn(4))
	case "$mod":
		return bson.A{pick(g, []any{int32(2), int64(3), 2.7, int32(-1)}), int32(g.intn(3) - 1)}
	case "$regex":
		return g.regex()
	case "$not":
		if depth > 0 && g.intn(4) > 0 {
			return g.operators(depth - 1)
		}
		return g.regex()
	case "$elemMatch":
		return g.element(depth)
	case "$bitsAllSet", "$bitsAnySet", "$bitsAllClear", "$bitsAnyClear":
		return pick(g, []any{int32(1), int32(5), bson.A{int32(0), int32(70)}, bson.Binary{Data: []byte{5}}, bson.A{}})
	}
	return g.orderable()
}

// list makes the operand of $in, $nin or $all.
func (g Generator) list(name string) bson.A {
	list := bson.A{}
	for range g.intn(4) {
		if g.intn(6) == 0 {
			list = append(list, g.regex())
		} else {
			list = append(list, g.comparable())
		}
	}
	if name == "$all" && g.intn(4) == 0 {
		return bson.A{bson.D{{Key: "$elemMatch", Value: g.element(0)}}}
	}
	return list
}

// element makes the operand of $elemMatch, in either form.
func (g Generator) element(depth int) bson.D {
	if depth == 0 {
		return bson.D{{Key: pick(g, []string{"a", "b", "0", "a.b"}), Value: g.comparable()}}
	}
	if g.intn(2) == 0 {
		return g.operators(depth - 1)
	}
	return g.conditions(depth - 1)
}
