package filter

import (
	"cmp"
	"fmt"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/rules/raw"
)

// All returns the filter that matches every document. It stands for a caller without restrictions.
func All() *Filter { return And() }

// And returns the filter that matches if all filters match. It skips nil filters; without filters
// it matches everything. It can join a restriction to a caller's filter without overwriting any of
// it. A filter in a request can so never widen what the program allows.
func And(filters ...*Filter) *Filter { return combine(and, filters) }

// Or returns the filter that matches if one of the filters does; it skips nil, and without any matches nothing.
func Or(filters ...*Filter) *Filter { return combine(or, filters) }

// Not returns the filter that matches if f does not. Errors stay errors: what f cannot decide, its
// opposite cannot either.
func Not(f *Filter) *Filter {
	not := *f
	not.setRoot(&NotNode{f.root})
	if f.foreign != nil {
		not.foreign = &NotNode{f.foreign}
	}
	return &not
}

// OneOf returns the filter for documents with one of some values at a path; without values it
// matches nothing. nil means null, and a missing value counts as null. OneOf panics for values that
// BSON does not have, and for paths that raw.ParsePath refuses, because they come from the program.
//
//	OneOf("type", "article", "book") is {type: {$in: ["article", "book"]}}
func OneOf(path string, values ...any) *Filter {
	in := &In{}
	for _, v := range values {
		in.Values = append(in.Values, valueOf(v))
	}
	in.Values = raw.SortUnique(in.Values)
	// The parser makes the same node of a list with one value, so both have one key.
	if len(in.Values) == 1 {
		return of(&Leaf{raw.PathOf(path), &Compare{Eq, in.Values[0]}})
	}
	return of(&Leaf{raw.PathOf(path), in})
}

// Compared returns the filter for documents whose value at a path satisfies an operator and an operand; see OneOf.
func Compared(path string, op Op, value any) *Filter {
	return of(&Leaf{raw.PathOf(path), &Compare{op, valueOf(value)}})
}

// Has returns the filter for documents that have a value at a path; null is one. See OneOf.
func Has(path string) *Filter { return of(&Leaf{raw.PathOf(path), &Exists{}}) }

// of returns the filter with a tree that the program built. It holds forever and needs no database.
func of(n Node) *Filter {
	f := &Filter{}
	f.setRoot(n)
	return f
}

// combine joins the nodes of filters and the times until which they hold. The result holds no
// longer than the one that ends first. If one filter has a variant for a database, the others take
// part in that variant as they are.
func combine(join func([]Node) Node, filters []*Filter) *Filter {
	var nodes, foreign []Node
	var all Filter
	leave := false
	for _, f := range filters {
		if f == nil {
			continue
		}
		nodes = append(nodes, f.root)
		all.origins = append(all.origins, f.origins...)
		all.backtracks = all.backtracks || f.backtracks
		all.asks = all.asks || f.asks
		foreign = append(foreign, cmp.Or(f.foreign, f.root))
		leave = leave || f.foreign != nil
		if !f.until.IsZero() && (all.until.IsZero() || f.until.Before(all.until)) {
			all.until = f.until
		}
	}
	all.setRoot(join(nodes))
	if leave {
		all.foreign = join(foreign)
	}
	return &all
}

// valueOf encodes a value of the program. The two common cases need no reflection.
func valueOf(v any) bson.RawValue {
	switch v := v.(type) {
	case nil:
		return null
	case string:
		return raw.NewString(v)
	}
	t, data, err := bson.MarshalValue(v)
	if err != nil {
		panic(fmt.Sprintf("filter: value %v: %s", v, err))
	}
	return bson.RawValue{Type: t, Value: data}
}
