package query

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// Values in brackets have no type in a URL. Each matches as the string it is
// and, if it reads as a number, boolean or null, as that too (DESIGN.md: 5).
// The functions below write this into the query: equality becomes $in over both
// values, a comparison becomes $or over them. Params records what cannot be read.
//
//	filter[type]=lecture        {type: {$eq: "lecture"}}
//	filter[year]=2021           {year: {$in: ["2021", 2021]}}
//	filter[year][$ne]=2021      {year: {$nin: ["2021", 2021]}}
//	filter[year][$gt]=2020      {$or: [{year: {$gt: "2020"}}, {year: {$gt: 2020}}]}
//	filter[a][$all][]=x         {a: {$eq: "x"}}, and one such condition for each element
//	filter[a][$not][$regex]=x   {$nor: [{a: {$regex: "x"}}]}
//	filter[d][$gte][$date]=…    {d: {$gte: a date}}

// entry returns a document of one field or operator.
func entry(name string, value any) bson.D { return bson.D{{Key: name, Value: value}} }

// joined is a document of conditions, each a path or an operator with what it must meet: those
// of which there are several become documents of their own in $and.
func joined(conditions bson.D) bson.D {
	and, seen, twice := make(bson.A, len(conditions)), map[string]bool{}, false
	for i, c := range conditions {
		and[i], twice, seen[c.Key] = bson.D{c}, twice || seen[c.Key], true
	}
	if twice {
		return entry("$and", and)
	}
	return conditions
}

// document turns a tree into a query.
func (n *node) document(p Params) bson.D {
	var all bson.D
	for i, name := range n.names {
		kid := n.kids[i]
		switch {
		case kid.list && (name == "$and" || name == "$or" || name == "$nor"):
			parts := make(bson.A, len(kid.kids))
			for i, one := range kid.kids {
				if parts[i] = one.typed(); !one.leaf && !one.list { // else the filter's parser refuses it
					parts[i] = one.document(p)
				}
			}
			all = append(all, bson.E{Key: name, Value: parts})
		case strings.HasPrefix(name, "$"):
			all = append(all, bson.E{Key: name, Value: kid.typed()})
		default:
			all = append(all, kid.conditions(p, name)...)
		}
	}
	return joined(all)
}

// either is equality with any of several values.
func either(values bson.A) bson.D {
	if len(values) == 1 {
		return entry("$eq", values[0])
	}
	return entry("$in", values)
}

// wrapper reads the two Extended JSON wrappers that make sense in a URL. A value that
// cannot be read is an error.
func (n *node) wrapper(p Params, path string) (value any, ok bool) {
	if len(n.kids) != 1 || n.list || !n.kids[0].leaf {
		return nil, false
	}
	text := n.kids[0].text
	switch n.names[0] {
	case "$oid":
		id, err := bson.ObjectIDFromHex(text)
		if err != nil {
			p.refuse(filterParam, path+".$oid", "want 24 hex digits, got %s", Quoted(text))
		}
		return id, true
	case "$date":
		t, err := time.Parse(time.RFC3339Nano, text)
		if err != nil {
			t, err = time.Parse(time.DateOnly, text)
		}
		if err != nil {
			p.refuse(filterParam, path+".$date", "want a date such as 2024-01-31T00:00:00Z, got %s", Quoted(text))
		}
		return bson.NewDateTimeFromTime(t), true
	}
	return nil, false
}

// conditions returns the conditions on one path. Operators with one value stay together in
// one document, as $regex and $options must, unless one is there already: $ne and $nin both
// become $nin.
func (n *node) conditions(p Params, path string) bson.D {
	if value, wrapped := n.wrapper(p, path); wrapped {
		return entry(path, value)
	}
	if !n.operators() {
		return entry(path, either(n.values()))
	}
	var all, together bson.D
	for i, op := range n.names {
		kid := n.kids[i]
		switch {
		case op == "$not" && !kid.leaf && !kid.list:
			all = append(all, bson.E{Key: "$nor", Value: bson.A{joined(kid.conditions(p, path))}})
		case op == "$elemMatch":
			all = append(all, kid.elemMatch(p, path)...)
		case op == "$all" && kid.listsValues():
			for _, element := range kid.kids {
				all = append(all, entry(path, either(element.values()))...)
			}
		case op == "$all", op == "$not":
			together = append(together, entry(op, kid.typed())...)
		default:
			op, operands := kid.operands(p, path, op)
			if len(operands) == 1 && !slices.ContainsFunc(together, func(e bson.E) bool { return e.Key == op }) {
				together = append(together, entry(op, operands[0])...)
				continue
			}
			each := make(bson.A, len(operands))
			for i, operand := range operands {
				each[i] = entry(path, entry(op, operand))
			}
			all = append(all, entry("$or", each)...)
		}
	}
	if len(together) > 0 {
		all = append(all, entry(path, together)...)
	}
	return all
}

// operands returns the operator that an operator is written as, and its operand, once for
// each value that matters to it.
func (n *node) operands(p Params, path, op string) (string, bson.A) {
	if value, wrapped := n.wrapper(p, path+"."+op); wrapped {
		return op, bson.A{value}
	}
	switch op {
	case "$eq", "$ne":
		if values := n.values(); len(values) > 1 {
			return map[string]string{"$eq": "$in", "$ne": "$nin"}[op], bson.A{values}
		}
		return op, n.values()
	case "$in", "$nin":
		if !n.list {
			break
		}
		all := bson.A{}
		for _, kid := range n.kids {
			if value, wrapped := kid.wrapper(p, path+"."+op); wrapped {
				all = append(all, value)
			} else {
				all = append(all, kid.values()...)
			}
		}
		return op, bson.A{all}
	case "$gt", "$gte", "$lt", "$lte":
		return op, n.values()
	case "$exists":
		return op, bson.A{n.text != "0" && n.text != "false" && n.text != ""}
	case "$regex", "$options", "$comment":
		return op, bson.A{n.plain()}
	}
	return op, bson.A{n.typed()}
}

// listsValues reports whether a node is a list of values: $all of them is one condition
// for each. Anything else the filter's parser has to judge.
func (n *node) listsValues() bool {
	return n.list && len(n.kids) > 0 && !slices.ContainsFunc(n.kids, (*node).operators)
}

// elemMatch is the condition of $elemMatch. In its value form ({$gte: …, $lt: …}) one
// element must meet all of it, so the values are not mixed: an element is a string or
// it is not.
func (n *node) elemMatch(p Params, path string) bson.D {
	matches := func(element any) bson.D { return entry(path, entry("$elemMatch", element)) }
	switch {
	case n.leaf || n.list:
		return matches(n.typed())
	case !n.operators() || n.kid("$and") != nil || n.kid("$or") != nil || n.kid("$nor") != nil:
		return matches(n.document(p))
	}
	var plain, typed bson.D
	differ := false
	for i, op := range n.names {
		op, operands := n.kids[i].operands(p, path, op)
		plain = append(plain, entry(op, operands[0])...)
		typed = append(typed, entry(op, operands[len(operands)-1])...)
		differ = differ || len(operands) > 1
	}
	if !differ {
		return matches(plain)
	}
	return entry("$or", bson.A{matches(plain), matches(typed)})
}

// values returns what a node may stand for: as strings, and typed where that differs.
func (n *node) values() bson.A {
	switch {
	case !n.cast.IsZero():
		return bson.A{n.cast}
	case n.ambiguous():
		return bson.A{n.plain(), n.typed()}
	}
	return bson.A{n.plain()}
}

// ambiguous reports whether some leaf reads as more than a string.
func (n *node) ambiguous() bool {
	if n.leaf {
		_, isString := typed(n.text).(string)
		return !isString
	}
	return slices.ContainsFunc(n.kids, (*node).ambiguous)
}

// plain returns a node as a value, its texts as strings.
func (n *node) plain() any { return n.value(func(text string) any { return text }) }

// typed returns a node as a value, its texts as what they read as.
func (n *node) typed() any { return n.value(typed) }

// value returns a node as a value, with what leaf makes of its texts.
func (n *node) value(leaf func(string) any) any {
	if n.leaf {
		return leaf(n.text)
	}
	list, doc := make(bson.A, len(n.kids)), make(bson.D, len(n.kids))
	for i, kid := range n.kids {
		if list[i] = kid.value(leaf); !n.list {
			doc[i] = bson.E{Key: n.names[i], Value: list[i]}
		}
	}
	if n.list {
		return list
	}
	return doc
}

// typed reads a text as JSON would: number, boolean or null; else it stays a
// string. "007" and "1." are no JSON numbers and so stay identifiers, and so do numbers
// beyond a double.
func typed(text string) any {
	var v any
	if strings.TrimSpace(text) != text || json.Unmarshal([]byte(text), &v) != nil {
		return text
	}
	switch v.(type) {
	case nil, bool:
		return v
	case float64:
		if n, err := strconv.ParseInt(text, 10, 64); err == nil {
			return n
		}
		return v
	}
	return text
}
