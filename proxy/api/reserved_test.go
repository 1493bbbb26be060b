package api_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"vitrine/proxy/proxytest"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/rules"
	"vitrine/rules/ejson"
	"vitrine/rules/views"
)

// TestReservedFields: no answer of the API contains the fields that jobs add to rows for this
// program, in any form, and no parameter may name them.
func TestReservedFields(t *testing.T) {
	s := proxytest.NewStore()
	note, err := ejson.Parse([]byte(`{"_id":"1","id":"one","username":"ann","name":"N","title":"T <i>x</i>","year":2021,"start":"2021-01-01","public":true,"affiliated":true,
		"units":[],"authors":[{"user":"ann"}],"rendered":{"web":"w","print":"p"},"catalog":{"topics":[{"id":"T1"}]},
		"_list":{"public":true,"persons":[{"id":"ann","name":"reserved"}]},"_resolved":{"persons":[{"user":"ann","name":"reserved"}]}}`), ejson.Options{})
	if err != nil {
		t.Fatal(err)
	}
	other, err := ejson.Parse(
		[]byte(`{"_id":"2","username":"bob","title":"T","_list":{"public":true,"type":"reserved"}}`), ejson.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, view := range views.All() {
		if view.Name != rules.ViewSpectrum {
			s.Publish(view.Name, []bson.Raw{note, other}...)
		}
	}
	site := proxytest.Open(t, s, holdingsOptions(t))
	for _, target := range []string{
		"/api/activities", "/api/activities?full", "/api/activities?full&limit=1",
		"/api/activities?columns=title,authors", "/api/activities?aggregate=title",
		"/api/html", "/api/all-activities", "/api/spectrum-activities?spectrum=T1", "/api/levenshtein?title=T",
		"/api/projects", "/api/projects?full", "/api/projects?raw", "/api/projects?formatted", "/api/proposals?full",
		"/api/projects?aggregate=title",
		"/api/users/ann", "/api/users/bob", "/api/users/ann?columns=title", "/api/user-units/ann", "/api/events",
		"/api/conferences", "/api/deadlines",
		"/api/search/persons?search=T", "/api/search/projects?search=T", "/api/search/journals?search=T",
		"/api/search/activities?search=T", "/api/search/activities?aggregate=title",
	} {
		got := site.Get(target)
		if body := string(got.Body); got.StatusCode != http.StatusOK || strings.Contains(body, "_list") ||
			strings.Contains(body, "reserved") || strings.Contains(body, "_resolved") {
			t.Errorf("%s: %d %s", target, got.StatusCode, body)
		}
	}
	for _, target := range []string{
		"/api/activities?columns=_list.type", "/api/activities?aggregate=_list.type",
		"/api/activities?filter[_list.type]=reserved",
		"/api/activities?json=" + url.QueryEscape(`{"$or":[{"_list":{"$exists":true}}]}`),
		"/api/activities?json=" + url.QueryEscape(`{"$expr":{"$eq":["$_list.type","reserved"]}}`),
		"/api/activities?json=" + url.QueryEscape(`{"$or":[{"$expr":{"$gt":["$$ROOT._list",1]}}]}`),
		"/api/activities?json=" + url.QueryEscape(`{"$nor":[{"year":1},{"_resolved.persons":1}]}`),
		"/api/search/persons?json=" + url.QueryEscape(`{"$expr":{"$ne":["$$CURRENT._resolved.persons.name",[]]}}`),
		"/api/users/ann?columns=_list", "/api/projects?columns=_list",
		"/api/projects?filter[_resolved.persons.name]=reserved", "/api/projects?aggregate=_list.persons.name",
		"/api/search/persons?columns=_list.persons", "/api/search/activities?aggregate=_list.type",
		"/api/search/activities?json=" + url.QueryEscape(`{"_list":{"$elemMatch":{"public":true}}}`),
	} {
		if got := site.Get(target); got.StatusCode != http.StatusBadRequest ||
			!strings.Contains(string(got.Body), "is not the path of a stored field") {
			t.Errorf("%s: %d %s", target, got.StatusCode, got.Body)
		}
	}
}
