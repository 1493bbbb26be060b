package access_test

import (
	"reflect"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/rules/access"
)

func TestMay(t *testing.T) {
	r := access.New(access.Options{
		Anonymous: []access.Permission{access.PortfolioSpectrum},
		Roles: map[string][]access.Permission{
			"admin":  {access.ProjectsView, access.ProposalsView},
			"viewer": {access.ProjectsView},
		},
	})
	tests := []struct {
		name   string
		viewer access.Viewer
		ask    access.Permission
		want   bool
	}{
		{"no session, anonymous permission", access.Viewer{}, access.PortfolioSpectrum, true},
		{"no session, permission of a role", access.Viewer{}, access.ProjectsView, false},
		{"a person keeps what all callers have", access.Viewer{User: "ada", Roles: []string{"viewer"}},
			access.PortfolioSpectrum, true},
		{"a role brings its permission", access.Viewer{User: "ada", Roles: []string{"viewer"}}, access.ProjectsView,
			true},
		{"and no other", access.Viewer{User: "ada", Roles: []string{"viewer"}}, access.ProposalsView, false},
		{"roles add up", access.Viewer{User: "ada", Roles: []string{"viewer", "admin"}}, access.ProposalsView, true},
		{"an unknown role has no permissions", access.Viewer{User: "ada", Roles: []string{"Admin"}},
			access.ProposalsView, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := r.May(tt.viewer, tt.ask); got != tt.want {
				t.Errorf("May(%+v, %s) = %v, want %v", tt.viewer, tt.ask, got, tt.want)
			}
		})
	}
}

func TestVisible(t *testing.T) {
	r := access.New(access.Options{Restricted: map[string][]string{
		"review": {"admin", "editor"},
		"award":  {"admin"},
	}})
	tests := []struct {
		name   string
		viewer access.Viewer
		hidden []string
		filter string
	}{
		{"no session", access.Viewer{}, []string{"award", "review"}, `{"type":{"$nin":["award","review"]}}`},
		{"a person without roles still sees their own", access.Viewer{User: "ada"}, []string{"award", "review"},
			`{"$or":[{"type":{"$nin":["award","review"]}},{"rendered.users":{"$eq":"ada"}},{"user":{"$eq":"ada"}}]}`},
		{"a role opens a type", access.Viewer{User: "bob", Roles: []string{"editor"}}, []string{"award"},
			`{"$or":[{"type":{"$nin":["award"]}},{"rendered.users":{"$eq":"bob"}},{"user":{"$eq":"bob"}}]}`},
		{"a role opens all", access.Viewer{User: "eve", Roles: []string{"editor", "admin"}}, nil, ""},
		{"a username is never an operator", access.Viewer{User: "$where"}, []string{"award", "review"},
			`{"$or":[{"type":{"$nin":["award","review"]}},{"rendered.users":{"$eq":"$where"}},` +
				`{"user":{"$eq":"$where"}}]}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := r.Hidden(tt.viewer); !reflect.DeepEqual(got, tt.hidden) {
				t.Errorf("Hidden = %v, want %v", got, tt.hidden)
			}
			var got string
			if d := r.Visible(tt.viewer); d != nil {
				text, err := bson.MarshalExtJSON(d, false, false)
				if err != nil {
					t.Fatal(err)
				}
				got = string(text)
			}
			if got != tt.filter {
				t.Errorf("Visible = %s\nwant %s", got, tt.filter)
			}
		})
	}
}

func TestNothingRestrictedHidesNothing(t *testing.T) {
	r := access.New(access.Options{})
	if got := r.Visible(access.Viewer{User: "ada"}); got != nil {
		t.Errorf("Visible = %v, want nil", got)
	}
}

func TestMember(t *testing.T) {
	r := access.New(access.Options{
		Roles:      map[string][]access.Permission{"user": {access.ProjectsView}},
		Member:     []string{"user"},
		Restricted: map[string][]string{"review": {"user"}, "award": {"admin"}},
	})
	if got := r.May(access.Viewer{}, access.ProjectsView); got {
		t.Error("a viewer without a session is a member")
	}
	if got := r.May(access.Viewer{User: "ada"}, access.ProjectsView); !got {
		t.Error("a person without roles is a member")
	}
	if got := r.May(access.Viewer{User: "ada", Roles: []string{"admin"}}, access.ProjectsView); !got {
		t.Error("other roles do not end membership")
	}
	if got, want := r.Hidden(access.Viewer{User: "ada"}), []string{"award"}; !reflect.DeepEqual(got, want) {
		t.Errorf("hidden from members: %v, want %v", got, want)
	}
	if got, want := r.Hidden(access.Viewer{}), []string{"award", "review"}; !reflect.DeepEqual(got, want) {
		t.Errorf("hidden without a session: %v, want %v", got, want)
	}
}
