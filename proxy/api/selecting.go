package api

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/proxy/query"
	"vitrine/rules/filter"
	"vitrine/rules/raw"
)

// where compiles a query that a parameter asks for; "" for none. An error is that of the
// request's parameters.
func (e *Env) where(p query.Params, param string, d bson.D) *filter.Filter {
	return p.Checked(e.query.Compile(d, param))
}

// condition selects the records with something at a path that meets an operator.
func condition(path, operator string, operand any) bson.D {
	return bson.D{{Key: path, Value: bson.D{{Key: operator, Value: operand}}}}
}

// namedIn selects the records that name a user at one of some paths; none without a user,
// also of those that name nobody (DESIGN.md: 17).
func namedIn(user string, paths ...string) bson.D {
	if user == "" {
		return condition("_id", "$in", bson.A{})
	}
	var all bson.A
	for _, path := range paths {
		all = append(all, condition(path, "$eq", user))
	}
	return bson.D{{Key: "$or", Value: all}}
}

// newestFirst is the order of lists that API.md gives none: by year descending,
// ties by _id (DESIGN.md: 3).
func newestFirst() raw.Sort { return raw.Sort{{Path: mustPath("year"), Desc: true}} }

// idOrder is the order by _id alone.
func idOrder(descending bool) raw.Sort {
	return raw.Sort{{Path: mustPath("_id"), Desc: descending}}
}

// mustPath parses a path written in this package.
func mustPath(s string) raw.Path {
	p, err := raw.ParsePath(s)
	if err != nil {
		panic(err)
	}
	return p
}
