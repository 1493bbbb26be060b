// Package access decides which data a person may see. It turns the roles of a person into permissions, and the
// activity types hidden from these roles into a filter that is joined to the caller's (docs/decisions.md:
// Permissions). Fields names the fields that are left out of records.
//
// The package does not know requests, sessions or stores: the caller authenticates the person and passes a Viewer. A
// *Policy is read-only and safe for concurrent use.
package access

import (
	"maps"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// A Permission is a right that the configuration grants to roles, by its name.
type Permission string

// The permissions of the API, and the permission to see hidden fields.
const (
	ProjectsView      Permission = "projects.view"
	ProposalsView     Permission = "proposals.view"
	PortfolioSpectrum Permission = "portfolio-spectrum"
	FieldsHidden      Permission = "fields.hidden"
)

// Permissions returns every permission that the configuration may name.
func Permissions() []Permission {
	return []Permission{ProjectsView, ProposalsView, PortfolioSpectrum, FieldsHidden}
}

// Options assigns rights to roles. The zero value grants nothing and hides nothing.
type Options struct {
	Anonymous  []Permission            // permissions of every caller, with or without a session
	Roles      map[string][]Permission // permissions by role
	Member     []string                // roles that every caller with a session has in addition to their own
	Restricted map[string][]string     // roles that may see an activity type; all may see others
}

// Viewer is the person behind a request. The zero Viewer is a caller without a session.
type Viewer struct {
	User  string   // username; empty without a session
	Roles []string // the person's stored roles
	// Keyed are the permissions of the key in the request.
	Keyed []Permission
}

// Policy answers questions about rights.
type Policy struct {
	Options
	types []string // the keys of Restricted, sorted, so that filters are canonical
}

// New returns the policy of options, which must not change afterwards. The reader of the configuration checks that
// they name known permissions.
func New(o Options) *Policy { return &Policy{o, slices.Sorted(maps.Keys(o.Restricted))} }

// May reports whether v has the permission, by a role, a key, or because every caller has it.
func (p *Policy) May(v Viewer, right Permission) bool {
	if slices.Contains(p.Anonymous, right) || slices.Contains(v.Keyed, right) {
		return true
	}
	return slices.ContainsFunc(p.RolesOf(v), func(role string) bool {
		return slices.Contains(p.Roles[role], right)
	})
}

// RolesOf returns a viewer's own roles and, with a session, the roles of every member.
func (p *Policy) RolesOf(v Viewer) []string {
	if v.User == "" || len(p.Member) == 0 {
		return v.Roles
	}
	return slices.Concat(v.Roles, p.Member)
}

// Hidden returns the activity types that none of v's roles may see, sorted.
func (p *Policy) Hidden(v Viewer) []string {
	var hidden []string
	roles := p.RolesOf(v)
	for _, kind := range p.types {
		seen := slices.ContainsFunc(roles, func(role string) bool {
			return slices.Contains(p.Restricted[kind], role)
		})
		if !seen {
			hidden = append(hidden, kind)
		}
	}
	return hidden
}

// Types is the setting that the filter of Policy.Visible comes from.
const Types = "access.types"

// Visible returns the filter for the activities v may see: activities of a type that v's roles may see, and
// activities of any type that name v in rendered.users or user. It is nil when nothing is hidden. The same viewer
// always gets the same filter, so it can be part of a cache key.
func (p *Policy) Visible(v Viewer) bson.D {
	hidden := p.Hidden(v)
	if len(hidden) == 0 {
		return nil
	}
	open := bson.D{{Key: "type", Value: bson.D{{Key: "$nin", Value: hidden}}}}
	if v.User == "" {
		return open
	}
	own := bson.D{{Key: "$eq", Value: v.User}} // $eq: a username is data and must never be read as an operator
	return bson.D{{Key: "$or", Value: bson.A{
		open,
		bson.D{{Key: "rendered.users", Value: own}},
		bson.D{{Key: "user", Value: own}},
	}}}
}
