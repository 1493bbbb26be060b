package query

import (
	"encoding/json"
	"reflect"
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

// document turns a document in brackets into a query.
func (p Params) document(tree bson.D) bson.D {
	var all bson.D
	for _, e := range tree {
		list, isList := e.Value.(bson.A)
		switch {
		case isList && joinsQueries(e):
			parts := make(bson.A, len(list))
			for i, part := range list {
				parts[i] = typed(part) // the filter's parser refuses what is no document
				if doc, ok := part.(bson.D); ok {
					parts[i] = p.document(doc)
				}
			}
			all = append(all, bson.E{Key: e.Key, Value: parts})
		case isOperator(e):
			all = append(all, bson.E{Key: e.Key, Value: typed(e.Value)})
		default:
			all = append(all, p.conditions(e.Key, e.Value)...)
		}
	}
	return joined(all)
}

// isOperator reports whether the name of an element is that of an operator.
func isOperator(e bson.E) bool { return strings.HasPrefix(e.Key, "$") }

// joinsQueries reports whether an element is an operator on a list of queries.
func joinsQueries(e bson.E) bool { return e.Key == "$and" || e.Key == "$or" || e.Key == "$nor" }

// hasOperators reports whether a value is a document with an operator among its names.
func hasOperators(v any) bool {
	doc, _ := v.(bson.D)
	return slices.ContainsFunc(doc, isOperator)
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
func (p Params) wrapper(path string, v any) (value any, ok bool) {
	doc, _ := v.(bson.D)
	if len(doc) != 1 {
		return nil, false
	}
	text, isText := doc[0].Value.(string)
	switch {
	case isText && doc[0].Key == "$oid":
		id, err := bson.ObjectIDFromHex(text)
		if err != nil {
			p.refuse(filterParam, path+".$oid", "want 24 hex digits, got %s", Quoted(text))
		}
		return id, true
	case isText && doc[0].Key == "$date":
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
func (p Params) conditions(path string, v any) bson.D {
	if value, wrapped := p.wrapper(path, v); wrapped {
		return entry(path, value)
	}
	if !hasOperators(v) {
		return entry(path, either(values(v)))
	}
	var all, together bson.D
	for _, e := range v.(bson.D) {
		_, isDoc := e.Value.(bson.D)
		list, _ := e.Value.(bson.A)
		switch {
		case e.Key == "$not" && isDoc:
			all = append(all, bson.E{Key: "$nor", Value: bson.A{joined(p.conditions(path, e.Value))}})
		case e.Key == "$elemMatch":
			all = append(all, p.elemMatch(path, e.Value)...)
		case e.Key == "$all" && len(list) > 0 && !slices.ContainsFunc(list, hasOperators):
			for _, element := range list { // one condition for each; anything else the filter's parser has to judge
				all = append(all, entry(path, either(values(element)))...)
			}
		case e.Key == "$all", e.Key == "$not":
			together = append(together, entry(e.Key, typed(e.Value))...)
		default:
			op, operands := p.operands(path, e)
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
func (p Params) operands(path string, e bson.E) (string, bson.A) {
	path += "." + e.Key
	if value, wrapped := p.wrapper(path, e.Value); wrapped {
		return e.Key, bson.A{value}
	}
	switch e.Key {
	case "$eq", "$ne":
		if both := values(e.Value); len(both) > 1 {
			return map[string]string{"$eq": "$in", "$ne": "$nin"}[e.Key], bson.A{both}
		}
		return e.Key, bson.A{e.Value}
	case "$in", "$nin":
		if list, isList := e.Value.(bson.A); isList {
			all := bson.A{}
			for _, element := range list {
				if value, wrapped := p.wrapper(path, element); wrapped {
					all = append(all, value)
				} else {
					all = append(all, values(element)...)
				}
			}
			return e.Key, bson.A{all}
		}
	case "$gt", "$gte", "$lt", "$lte":
		return e.Key, values(e.Value)
	case "$exists":
		text, _ := e.Value.(string)
		return e.Key, bson.A{text != "0" && text != "false" && text != ""}
	case "$regex", "$options", "$comment":
		return e.Key, bson.A{e.Value}
	}
	return e.Key, bson.A{typed(e.Value)}
}

// elemMatch is the condition of $elemMatch. In its value form ({$gte: …, $lt: …}) one
// element must meet all of it, so the values are not mixed: an element is a string or
// it is not.
func (p Params) elemMatch(path string, v any) bson.D {
	matches := func(element any) bson.D { return entry(path, entry("$elemMatch", element)) }
	doc, isDoc := v.(bson.D)
	switch {
	case !isDoc:
		return matches(typed(v))
	case !hasOperators(doc) || slices.ContainsFunc(doc, joinsQueries):
		return matches(p.document(doc))
	}
	var asText, asTyped bson.D
	for _, e := range doc {
		op, operands := p.operands(path, e)
		asText = append(asText, entry(op, operands[0])...)
		asTyped = append(asTyped, entry(op, operands[len(operands)-1])...)
	}
	if reflect.DeepEqual(asText, asTyped) {
		return matches(asText)
	}
	return entry("$or", bson.A{matches(asText), matches(asTyped)})
}

// values returns what a value may stand for: its texts as strings, and typed where that
// differs.
func values(v any) bson.A {
	if read := typed(v); !reflect.DeepEqual(read, v) {
		return bson.A{v, read}
	}
	return bson.A{v}
}

// typed returns a value with its texts as what they read as.
func typed(v any) any {
	switch v := v.(type) {
	case string:
		return reading(v)
	case bson.A:
		list := make(bson.A, len(v))
		for i, element := range v {
			list[i] = typed(element)
		}
		return list
	case bson.D:
		doc := make(bson.D, len(v))
		for i, e := range v {
			doc[i] = bson.E{Key: e.Key, Value: typed(e.Value)}
		}
		return doc
	}
	return v // it has a type
}

// reading reads a text as JSON would: number, boolean or null; else it stays a
// string. "007" and "1." are no JSON numbers and so stay identifiers, and so do numbers
// beyond a double.
func reading(text string) any {
	var v any
	if strings.TrimSpace(text) != text || json.Unmarshal([]byte(text), &v) != nil {
		return text
	}
	switch v.(type) {
	case string, []any, map[string]any:
		return text
	case float64:
		if n, err := strconv.ParseInt(text, 10, 64); err == nil {
			return n
		}
	}
	return v
}
