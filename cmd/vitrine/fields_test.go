package main

import (
	"net/http"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// TestUnknownFields: what settings name and no record has is reported with the nearest, until a record has it or the
// setting changes.
func TestUnknownFields(t *testing.T) {
	t.Parallel()
	const lists = "lists:\n  public: '{\"hidde\": {\"$ne\": true}}'\n" +
		"  named:\n    one: {filter: '{\"titel\": \"First\"}'}\n" +
		"    two: {filter: '{\"$or\": [{\"title\": \"First\"}, {\"authors.lost\": 1}]}'}\n"
	r := runFile(t,
		lists+"access: {types: {publicatoin: [admin], publication: [admin]}}\naffiliation: {fields: [aio]}\n")
	reported := func(want string) {
		t.Helper()
		await(t, "status reports "+want, func() string {
			_, body := fetch(t, http.MethodGet, r.admin+"/admin/views")
			_, found, _ := strings.Cut(body, `"unknown_fields":`)
			if found = strings.TrimSuffix(found, "}"); found == want {
				return ""
			}
			return found
		})
	}
	// The harness has set the configuration; a reload checks it.
	if status, _, msg := r.reload(t, lists+
		"access: {types: {publicatoin: [admin], publication: [admin]}}\n"); status != http.StatusOK {
		t.Fatalf("%d %s", status, msg)
	}
	const types, author, first, second, public = `"access.types.publicatoin: type publicatoin: no record has it, did you mean publication?"`,
		`"affiliation.fields: authors.aio: no record has it, or it is hidden"`,
		`"lists.named.one.filter: titel: no record has it, or it is hidden, did you mean title?"`,
		`"lists.named.two.filter: authors.lost: no record has it, or it is hidden"`,
		`"lists.public: hidde: no record has it, or it is hidden"`
	reported("[" + types + "," + author + "," + first + "," + second + "," + public + "]")
	r.put("activities", append(activity("a4", "Fourth"), bson.E{Key: "titel", Value: "x"}))
	if status, body := fetch(t, http.MethodPost, r.admin+"/admin/refresh?wait=1"); status != http.StatusOK {
		t.Fatalf("%d %s", status, body)
	}
	reported("[" + types + "," + author + "," + second + "," + public + "]")
	if status, _, msg := r.reload(t, "lists: {public: '{}'}\naccess: {types: {}}\n"); status != http.StatusOK {
		t.Fatalf("%d %s", status, msg)
	}
	reported("[" + author + "]")
}
