package api

import (
	"context"

	"vitrine/proxy/auth"
	"vitrine/proxy/response"
	"vitrine/rules"
	"vitrine/rules/access"
	"vitrine/rules/display"
	"vitrine/rules/filter"
)

// Users looks up the users of sessions. It is not part of Env, so that no answer can be made from views other than
// those that its plan names.
type Users struct {
	Views response.Views
}

// Person looks up the user of a session; known reports whether the user has a record. A user without a record has no
// roles. Citations are in the print form if the user's display_activities says so.
func (u Users) Person(ctx context.Context, user string) (who auth.Caller, known bool, err error) {
	snapshot, err := u.Views.Snapshot(rules.ViewPersons)
	if err != nil {
		return auth.Caller{}, false, err
	}
	doc, err := snapshot.First(ctx, filter.OneOf("username", user))
	if err != nil || doc == nil {
		return auth.Caller{Viewer: access.Viewer{User: user}}, false, err
	}
	setting, ok := doc.Lookup("display_activities").StringValueOK()
	return auth.Caller{
		Viewer:    access.Viewer{User: user, Roles: display.Texts(doc.Lookup("roles"))},
		PrintForm: ok && setting != "web",
	}, true, nil
}
