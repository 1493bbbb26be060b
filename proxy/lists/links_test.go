package lists_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"vitrine/proxy/lists"
	"vitrine/rules"
	"vitrine/rules/cite"
)

func TestLinks(t *testing.T) {
	activity := &cite.Item{View: rules.ViewActivities, ID: "a/b", DOI: "10.1234/x(1)<2>"}
	without := &cite.Item{View: rules.ViewActivities, ID: "a/b"}
	project := &cite.Item{View: rules.ViewProjects, ID: "p", Name: "N&N"}
	for _, tt := range []struct {
		name string
		l    lists.Links
		want [5]string // activity, activity without DOI, project, person, hidden person
	}{
		{"built in", lists.Links{Base: "https://x.org"},
			[5]string{"https://doi.org/10.1234/x(1)%3C2%3E", "https://x.org/items/a%2Fb",
				"https://x.org/lists/project/N&N", "https://x.org/lists/person/u%3Fv", ""}},
		{"none", lists.Links{Base: "https://x.org", Activity: "none", Person: "none", Project: "none"}, [5]string{}},
		{
			"templates",
			lists.Links{Activity: "https://y.org/pub/{id}", Person: "/p?u={id}#{id}", Project: "/q/{id}"},
			[5]string{"https://y.org/pub/a%2Fb", "https://y.org/pub/a%2Fb", "/q/N&N", "/p?u=u%3Fv#u%3Fv", ""},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			assert.Equal(t, tt.want, [5]string{
				tt.l.ToItem(activity), tt.l.ToItem(without), tt.l.ToItem(project), tt.l.ToPerson("u?v"),
				tt.l.ToPerson(""),
			})
		})
	}
}
