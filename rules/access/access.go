// Package access decides which data a person may see. It turns the roles of a
// person into permissions, and the activity types hidden from these roles into a
// filter that is joined to the caller's own (API.md: Authentication; DESIGN.md,
// decision 10). Fields names the fields that are left out of records.
//
// It knows no request, no session and no store: the caller authenticates the
// person and passes a Viewer. A *Rules is read-only after New and safe for
// concurrent use.
package access

import (
	"fmt"
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// A Permission is a right that configuration grants to roles, by its name.
type Permission string

// The permissions of API.md, and that to see hidden fields.
const (
	ProjectsView      Permission = "projects.view"
	ProposalsView     Permission = "proposals.view"
	PortfolioSpectrum Permission = "portfolio-spectrum"
	FieldsHidden      Permission = "fields.hidden"
)

// Permissions returns every permission that configuration may name.
func Permissions() []Permission {
	return []Permission{ProjectsView, ProposalsView, PortfolioSpectrum, FieldsHidden}
}

// Options assigns rights to roles. The zero value grants nothing and hides nothing.
type Options struct {
	// Anonymous lists the permissions of every caller, with or without a session.
	Anonymous []Permission
	// Roles maps a role to the permissions it grants.
	Roles map[string][]Permission
	// Member lists the roles that every caller with a session has beside their own.
	Member []string
	// Restricted maps an activity type to the roles that may see it; a type that
	// is not listed is seen by all.
	Restricted map[string][]string
}

// Viewer is the person behind a request. The zero Viewer is a caller without a session.
type Viewer struct {
	User  string   // username; empty without a session
	Roles []string // the person's stored roles
}

// Rules answers questions about rights.
type Rules struct {
	anonymous  []Permission
	roles      map[string][]Permission
	member     []string
	restricted map[string][]string
	types      []string // the keys of restricted, sorted, so that filters are canonical
}

// New checks and copies the options. An unknown permission or an empty role or
// type name is an error: a typing mistake must not silently take a right away.
func New(o Options) (*Rules, error) {
	r := &Rules{
		anonymous:  slices.Clone(o.Anonymous),
		roles:      make(map[string][]Permission, len(o.Roles)),
		member:     slices.Clone(o.Member),
		restricted: make(map[string][]string, len(o.Restricted)),
	}
	if err := checkPermissions("anonymous", o.Anonymous); err != nil {
		return nil, err
	}
	for role, permissions := range o.Roles {
		if err := checkPermissions("role "+role, permissions); err != nil {
			return nil, err
		}
		if strings.TrimSpace(role) == "" {
			return nil, fmt.Errorf("access: a role has no name")
		}
		r.roles[role] = slices.Clone(permissions)
	}
	for kind, roles := range o.Restricted {
		if strings.TrimSpace(kind) == "" {
			return nil, fmt.Errorf("access: a restricted activity type has no name")
		}
		r.restricted[kind] = slices.Clone(roles)
		r.types = append(r.types, kind)
	}
	slices.Sort(r.types)
	return r, nil
}

func checkPermissions(owner string, permissions []Permission) error {
	for _, p := range permissions {
		if !slices.Contains(Permissions(), p) {
			return fmt.Errorf("access: %s: unknown permission %q, want one of %v", owner, p, Permissions())
		}
	}
	return nil
}

// May reports whether v has the permission, by a role or as every caller does.
func (r *Rules) May(v Viewer, p Permission) bool {
	if slices.Contains(r.anonymous, p) {
		return true
	}
	return slices.ContainsFunc(r.rolesOf(v), func(role string) bool {
		return slices.Contains(r.roles[role], p)
	})
}

// rolesOf returns a viewer's own roles and, with a session, those of every member.
func (r *Rules) rolesOf(v Viewer) []string {
	if v.User == "" || len(r.member) == 0 {
		return v.Roles
	}
	return slices.Concat(v.Roles, r.member)
}

// Hidden returns the activity types none of v's roles may see, sorted.
func (r *Rules) Hidden(v Viewer) []string {
	var hidden []string
	roles := r.rolesOf(v)
	for _, kind := range r.types {
		seen := slices.ContainsFunc(roles, func(role string) bool {
			return slices.Contains(r.restricted[kind], role)
		})
		if !seen {
			hidden = append(hidden, kind)
		}
	}
	return hidden
}

// Visible returns the filter for the activities v may see: activities of a type that
// v's roles may see, and activities of any type that name v in rendered.users or user.
// It is nil when nothing is hidden. The same viewer always gets the same filter, so it
// can be part of a cache key.
func (r *Rules) Visible(v Viewer) bson.D {
	hidden := r.Hidden(v)
	if len(hidden) == 0 {
		return nil
	}
	open := bson.D{{Key: "type", Value: bson.D{{Key: "$nin", Value: hidden}}}}
	if v.User == "" {
		return open
	}
	return bson.D{{Key: "$or", Value: bson.A{
		open,
		bson.D{{Key: "rendered.users", Value: equals(v.User)}},
		bson.D{{Key: "user", Value: equals(v.User)}},
	}}}
}

// equals writes equality as $eq: a username is data and must never be read as an operator.
func equals(s string) bson.D { return bson.D{{Key: "$eq", Value: s}} }
