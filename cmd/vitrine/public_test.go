package main

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/configs"
)

// hides has values of the flag hide, by the id of the record that has them, and whether they hide it.
var hides = map[string]struct {
	value any
	hide  bool
}{
	"absent": {}, "null": {nil, false}, "false": {false, false}, "zero": {int32(0), false},
	"double-zero": {0.0, false},
	"text-zero":   {"0", false}, "text-false": {"false", false}, "empty": {"", false},
	"true": {true, true}, "one": {int32(1), true}, "long": {int64(1), true}, "double": {1.0, true},
	"text-one": {"1", true}, "text-true": {"true", true}, "capitals": {"TRUE", true}, "spaces": {" True", true},
	"two":  {int32(2), true},
	"list": {bson.A{true}, true}, "document": {bson.D{}, true},
}

// TestHiddenInEveryForm: by default a record is hidden whatever the type of its flag, wherever it could be seen.
func TestHiddenInEveryForm(t *testing.T) {
	t.Parallel()
	r := runConfigured(t, configs.Default(), func(r *running) {
		all := bson.E{Key: "units", Value: slices.Collect(maps.Keys(hides))} // a list of a unit needs a public record
		r.put("activities", append(activity("of-all", "Of all"), all))
		for id, flag := range hides {
			mine := func(fields ...bson.E) bson.D {
				d := append(bson.D{{Key: "_id", Value: id}}, fields...)
				if id != "absent" {
					d = append(d, bson.E{Key: "hide", Value: flag.value})
				}
				return d
			}
			author := bson.D{{Key: "user", Value: id}, {Key: "last", Value: "X"}}
			r.put("activities",
				mine(bson.E{Key: "title", Value: "Of " + id}, bson.E{Key: "authors", Value: bson.A{author}}))
			r.put("persons", mine(bson.E{Key: "username", Value: id}, bson.E{Key: "last", Value: "Of " + id}))
			r.put("projects", mine(bson.E{Key: "name", Value: id}, bson.E{Key: "public", Value: true}))
			r.put("conferences", mine(bson.E{Key: "title", Value: "Of " + id}))
			r.put("groups", mine(bson.E{Key: "id", Value: id}, bson.E{Key: "name", Value: "Of " + id}))
		}
	})
	r.checked()
	_, sitemap := fetch(t, http.MethodGet, r.base+"/sitemap.xml", "Host", "localhost")
	for id, flag := range hides {
		want := map[bool]int{false: http.StatusOK, true: http.StatusNotFound}[flag.hide]
		for _, page := range []string{"/items/", "/lists/person/", "/lists/project/", "/lists/unit/"} {
			path := page + id + ".json"
			if got, body := fetch(t, http.MethodGet, r.base+path); got != want {
				t.Errorf("%s: status %d, want %d: %.200s", path, got, want, body)
			}
		}
		if got := strings.Contains(sitemap, "/items/"+id+"<"); got == flag.hide {
			t.Errorf("%s is in the sitemap: %v", id, got)
		}
	}
	for path, shows := range map[string]string{
		"/lists/activities": "/items/%s\"", "/lists/activities.atom": "Of %s<", "/lists/events.json": "Of %s\"",
	} {
		_, body := fetch(t, http.MethodGet, r.base+path)
		for id, flag := range hides {
			if got := strings.Contains(body, fmt.Sprintf(shows, id)); got == flag.hide {
				t.Errorf("%s has %s: %v", path, id, got)
			}
		}
	}
}
