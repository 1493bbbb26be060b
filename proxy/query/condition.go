package query

import (
	"encoding/json"
	"strconv"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/rules"
)

// Values in brackets have no type in a URL. Each matches as the string it is
// and, if it reads as a number, boolean or null, as that too (DESIGN.md: 5).
// The functions below write this into the query: equality becomes $in over both
// values, a comparison becomes $or over them.

// conditions collects the conditions of one document.
type conditions struct {
	doc bson.D
	and bson.A // conditions that need a document of their own
}

func (q *conditions) add(d bson.D) { q.and = append(q.and, d) }

// finish joins both; a caller's own $and stands in doc already.
func (q *conditions) finish() bson.D {
	if len(q.and) == 0 {
		return q.doc
	}
	if len(q.doc) == 0 {
		if only, ok := q.and[0].(bson.D); ok && len(q.and) == 1 {
			return only
		}
		return bson.D{{Key: "$and", Value: q.and}}
	}
	return bson.D{{Key: "$and", Value: append(bson.A{q.doc}, q.and...)}}
}

// document turns a tree into a query.
func (n *node) document() (bson.D, error) {
	var q conditions
	for i, name := range n.names {
		kid := n.kids[i]
		var err error
		switch {
		case (name == "$and" || name == "$or" || name == "$nor") && kid.list:
			err = q.logical(name, kid)
		case name != "" && name[0] == '$':
			q.doc = append(q.doc, bson.E{Key: name, Value: kid.typed()})
		default:
			err = q.field(name, kid)
		}
		if err != nil {
			return nil, err
		}
	}
	return q.finish(), nil
}

// logical adds $and, $or or $nor.
func (q *conditions) logical(op string, list *node) error {
	all := make(bson.A, 0, len(list.kids))
	for _, kid := range list.kids {
		if kid.leaf || kid.list {
			all = append(all, kid.typed()) // not a document: the filter's parser says so
			continue
		}
		d, err := kid.document()
		if err != nil {
			return err
		}
		all = append(all, d)
	}
	q.doc = append(q.doc, bson.E{Key: op, Value: all})
	return nil
}

// field adds what is asked of one path.
func (q *conditions) field(path string, n *node) error {
	value, wrapped, err := n.wrapper(path)
	switch {
	case err != nil:
		return err
	case wrapped:
		q.doc = append(q.doc, bson.E{Key: path, Value: value})
	case n.operators():
		return q.operations(path, n)
	default:
		q.doc = append(q.doc, bson.E{Key: path, Value: either(n.values())})
	}
	return nil
}

// either is equality with any of several values.
func either(values bson.A) any {
	if len(values) == 1 {
		return bson.D{{Key: "$eq", Value: values[0]}}
	}
	return bson.D{{Key: "$in", Value: values}}
}

// wrapper reads the two Extended JSON wrappers that make sense in a URL.
func (n *node) wrapper(path string) (value any, ok bool, err error) {
	if len(n.kids) != 1 || n.list || !n.kids[0].leaf {
		return nil, false, nil
	}
	text := n.kids[0].text
	switch n.names[0] {
	case "$oid":
		id, ok := ObjectID(text)
		if !ok {
			return nil, false, rules.Wrongf(filterParam, path+".$oid", "want 24 hex digits, got %s", Quoted(text))
		}
		return id, true, nil
	case "$date":
		for _, layout := range []string{time.RFC3339Nano, time.DateOnly} {
			if t, err := time.Parse(layout, text); err == nil {
				return bson.NewDateTimeFromTime(t), true, nil
			}
		}
		return nil, false, rules.Wrongf(filterParam, path+".$date", "want a date such as 2024-01-31T00:00:00Z, got %s", Quoted(text))
	}
	return nil, false, nil
}

// operations adds the operators of one path. Those with one value stay
// together in one document, as $regex and $options must.
func (q *conditions) operations(path string, n *node) error {
	together := bson.D{}
	for i, op := range n.names {
		kid := n.kids[i]
		switch op {
		case "$not":
			if kid.leaf || kid.list {
				together = append(together, bson.E{Key: op, Value: kid.typed()})
				continue
			}
			var inner conditions
			if err := inner.field(path, kid); err != nil {
				return err
			}
			q.add(bson.D{{Key: "$nor", Value: bson.A{inner.finish()}}})
		case "$elemMatch":
			if err := q.elemMatch(path, kid); err != nil {
				return err
			}
		case "$all":
			if !q.all(path, kid) {
				together = append(together, bson.E{Key: op, Value: kid.typed()})
			}
		default:
			operands, err := kid.operands(path, op)
			if err != nil {
				return err
			}
			together = q.place(together, path, operands)
		}
	}
	if len(together) > 0 {
		q.add(bson.D{{Key: path, Value: together}})
	}
	return nil
}

// place puts an operator beside the others if it has one value and is not
// there yet ($ne and $nin both become $nin), else into a condition of its own.
func (q *conditions) place(together bson.D, path string, operands []bson.E) bson.D {
	if len(operands) == 1 && !hasKey(together, operands[0].Key) {
		return append(together, operands[0])
	}
	any := make(bson.A, len(operands))
	for i, operand := range operands {
		any[i] = bson.D{{Key: path, Value: bson.D{operand}}}
	}
	q.add(bson.D{{Key: "$or", Value: any}})
	return together
}

func hasKey(d bson.D, key string) bool {
	for _, e := range d {
		if e.Key == key {
			return true
		}
	}
	return false
}

// operands returns an operator with its operand, once for each value that
// matters to it.
func (n *node) operands(path, op string) ([]bson.E, error) {
	value, wrapped, err := n.wrapper(path + "." + op)
	if err != nil || wrapped {
		return []bson.E{{Key: op, Value: value}}, err
	}
	one := func(op string, v any) []bson.E { return []bson.E{{Key: op, Value: v}} }
	switch op {
	case "$eq", "$ne":
		values := n.values()
		if len(values) == 1 {
			return one(op, values[0]), nil
		}
		return one(map[string]string{"$eq": "$in", "$ne": "$nin"}[op], values), nil
	case "$in", "$nin":
		if !n.list {
			return one(op, n.typed()), nil
		}
		all := bson.A{}
		for _, kid := range n.kids {
			value, wrapped, err := kid.wrapper(path + "." + op)
			switch {
			case err != nil:
				return nil, err
			case wrapped:
				all = append(all, value)
			default:
				all = append(all, kid.values()...)
			}
		}
		return one(op, all), nil
	case "$gt", "$gte", "$lt", "$lte":
		var each []bson.E
		for _, v := range n.values() {
			each = append(each, bson.E{Key: op, Value: v})
		}
		return each, nil
	case "$exists":
		return one(op, n.text != "0" && n.text != "false" && n.text != ""), nil
	case "$regex", "$options", "$comment":
		return one(op, n.plain()), nil
	default:
		return one(op, n.typed()), nil
	}
}

// all writes $all as one condition for each element; false where the filter's parser has to judge it.
func (q *conditions) all(path string, n *node) bool {
	if !n.list || len(n.kids) == 0 {
		return false
	}
	for _, kid := range n.kids {
		if kid.operators() {
			return false
		}
	}
	for _, kid := range n.kids {
		q.add(bson.D{{Key: path, Value: either(kid.values())}})
	}
	return true
}

// elemMatch writes $elemMatch. In its value form ({$gte: …, $lt: …}) one element
// must meet all of it, so the values are not mixed: an element is a string or
// it is not.
func (q *conditions) elemMatch(path string, n *node) error {
	cond := func(d any) bson.D {
		return bson.D{{Key: path, Value: bson.D{{Key: "$elemMatch", Value: d}}}}
	}
	switch {
	case n.leaf || n.list:
		q.add(cond(n.typed()))
		return nil
	case !n.operators() || n.kid("$and") != nil || n.kid("$or") != nil || n.kid("$nor") != nil:
		d, err := n.document()
		q.add(cond(d))
		return err
	}
	strings, typed, differ := bson.D{}, bson.D{}, false
	for i, op := range n.names {
		operands, err := n.kids[i].operands(path, op)
		if err != nil {
			return err
		}
		strings = append(strings, operands[0])
		typed = append(typed, operands[len(operands)-1])
		differ = differ || len(operands) > 1
	}
	if !differ {
		q.add(cond(strings))
		return nil
	}
	q.add(bson.D{{Key: "$or", Value: bson.A{cond(strings), cond(typed)}}})
	return nil
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
	for _, kid := range n.kids {
		if kid.ambiguous() {
			return true
		}
	}
	return false
}

func (n *node) plain() any { return n.value(func(text string) any { return text }) }
func (n *node) typed() any { return n.value(typed) }

func (n *node) value(leaf func(string) any) any {
	switch {
	case n.leaf:
		return leaf(n.text)
	case n.list:
		list := make(bson.A, len(n.kids))
		for i, kid := range n.kids {
			list[i] = kid.value(leaf)
		}
		return list
	default:
		d := make(bson.D, len(n.kids))
		for i, kid := range n.kids {
			d[i] = bson.E{Key: n.names[i], Value: kid.value(leaf)}
		}
		return d
	}
}

// typed reads a text as JSON would: number, boolean or null; else it stays a
// string. "007" and "1." are no JSON numbers and so stay identifiers.
func typed(text string) any {
	switch text {
	case "true":
		return true
	case "false":
		return false
	case "null":
		return nil
	case "":
		return text
	}
	if c := text[0]; c != '-' && (c < '0' || c > '9') || !json.Valid([]byte(text)) {
		return text
	}
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return n
	}
	if f, err := strconv.ParseFloat(text, 64); err == nil {
		return f
	}
	return text // beyond a double
}
