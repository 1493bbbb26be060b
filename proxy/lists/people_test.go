package lists_test

import (
	"slices"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/view"
	"vitrine/configs"
	"vitrine/proxy/proxytest"
	"vitrine/rules"
)

// TestListsOfPeople: a list of persons is in the order of family names, unless another one is requested, and shows
// names rather than usernames; persons have no page but their list. A list of projects sorts by the family names of
// their first persons.
func TestListsOfPeople(t *testing.T) {
	t.Run("memory", listsOfPeople)
	proxytest.ViewsAre = view.Store
	defer func() { proxytest.ViewsAre = view.Memory }()
	t.Run("store", listsOfPeople)
}

func listsOfPeople(t *testing.T) {
	records := map[string][]string{
		"persons": {
			`{"_id":1,"username":"u1","first":"Ann","last":"Zebra"}`,
			`{"_id":2,"username":"u2","first":"Zoe","last":"Ärzt","displayname":"Dr. Zoe Ärzt"}`,
			`{"_id":3,"username":"u3","last":"Moth"}`, `{"_id":4,"first":"Bob","last":"Moth"}`,
			`{"_id":5,"username":"only"}`,
		},
		"projects": {
			`{"_id":1,"name":"A","title":"Owls","public":true,"year":2020,"persons":[{"user":"u1"}]}`,
			`{"_id":2,"name":"B","title":"Bats","public":true,"year":2021}`,
			`{"_id":3,"name":"C","title":"Moths","public":true,"year":2022,"persons":[{"user":"gone"},{"user":"u2"}]}`,
		},
	}
	store := proxytest.ListStore(t, func(collection string, docs []bson.Raw) []bson.Raw {
		if records[collection] == nil {
			return docs
		}
		return proxytest.Parse(t, records[collection]...)
	})
	o := proxytest.ListOptions(t)
	o.Lists.Named = proxytest.Named(map[string]configs.NamedList{"people": {View: rules.ViewPersons}})
	s := proxytest.OpenViews(t, store, o, proxytest.ListViews(t), 0)
	up := []string{"Dr. Zoe Ärzt", "Moth", "Bob Moth", "only", "Ann Zebra"}
	down := slices.Clone(up)
	slices.Reverse(down)
	for target, want := range map[string][]string{
		"/lists/people.json": up, "/lists/people.json?sort=year": up, "/lists/people.json?sort=title": up,
		"/lists/people.json?sort=author": up,
		"/lists/people.json?sort=-title": down, "/lists/people.json?sort=-author": down,
		"/lists/projects.json?sort=author":  {"Moths", "Owls", "Bats"},
		"/lists/projects.json?sort=-author": {"Owls", "Moths", "Bats"},
	} {
		var got []string
		for _, item := range getList(s, target).Items {
			got = append(got, item.Title)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s has %q, want %q", target, got, want)
		}
	}
	for suffix, empty := range map[string]string{".atom": `href=""`, ".rss": "<link></link>", ".jsonld": `/items/`} {
		if body := string(s.Get("/lists/people" + suffix).Body); strings.Contains(body, empty) ||
			!strings.Contains(body, "/lists/person/u1") {
			t.Errorf("people%s has an address without a page, or lacks one: %s", suffix, body)
		}
	}
}
