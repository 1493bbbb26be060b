package proxy

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/rules/access"
	"vitrine/rules/filter"
)

// ownOnly restricts a list to what a caller without a permission may see: records that
// name the session's user in persons or as creator (API.md: projects, 8). An API key
// does not give the permission.
func (l listing) ownOnly(e *Env, r Request, needed access.Permission) (listing, error) {
	if e.o.Access.May(r.Viewer, needed) {
		return l, nil
	}
	own, err := e.query.Compile(linkedTo(r.Viewer.User), "")
	l.filter, l.restricted = filter.And(l.filter, own), string(needed)
	return l, err
}

// linkedTo selects the records of a user; none for nobody, also of those that
// name nobody (DESIGN.md: 17).
func linkedTo(user string) bson.D {
	if user == "" {
		return bson.D{{Key: "_id", Value: bson.D{{Key: "$in", Value: bson.A{}}}}}
	}
	is := bson.D{{Key: "$eq", Value: user}}
	return bson.D{{Key: "$or", Value: bson.A{
		bson.D{{Key: "persons.user", Value: is}},
		bson.D{{Key: "created_by", Value: is}},
	}}}
}
