package openapitest_test

import (
	"net/http"
	"strings"
	"testing"

	"vitrine/proxy/openapi"
	"vitrine/proxy/openapi/openapitest"
)

func TestCheck(t *testing.T) {
	c, err := openapitest.New(openapi.Load().JSON)
	if err != nil {
		t.Fatal(err)
	}
	full := http.Header{}
	for _, name := range []string{"ETag", "Cache-Control", "Age", "Cache-Status", "Vary", "X-Request-Id"} {
		full.Set(name, "x")
	}
	const none = `{"status":200,"count":0,"data":[]}`
	const row = `{"status":200,"count":1,"data":[{"id":"1","shoe":"left"}]}`
	const table = `{"status":200,"count":0,"data":[]}`
	tests := []struct {
		name   string
		answer openapitest.Answer
		want   string // part of the objection; "" for none
	}{
		{"as described", openapitest.Answer{Target: "/api/activities", Status: 200, Body: []byte(none)}, ""},
		{"with its headers", openapitest.Answer{Target: "/api/activities", Status: 200, Header: full, Body: []byte(none)}, ""},
		{"without them", openapitest.Answer{Target: "/api/activities", Status: 200, Header: http.Header{}, Body: []byte(none)}, "is missing"},
		{"an unknown field", openapitest.Answer{Target: "/api/activities", Status: 200, Body: []byte(row)}, "shoe"},
		{"a field asked for", openapitest.Answer{Target: "/api/activities?columns[]=shoe", Status: 200, Body: []byte(row)}, ""},
		{"a field asked for by index", openapitest.Answer{Target: "/api/activities?columns%5B0%5D=shoe", Status: 200, Body: []byte(row)}, ""},
		{"no field asked for", openapitest.Answer{Target: "/api/activities?columns[]=,", Status: 200, Body: []byte(row)}, "shoe"},
		{"a flag that is off", openapitest.Answer{Target: "/api/activities?full=0", Status: 200, Body: []byte(row)}, "shoe"},
		{"a flag by its presence", openapitest.Answer{Target: "/api/projects?full=0", Status: 200, Body: []byte(row)}, "_id"},
		{"pages where there are none", openapitest.Answer{Target: "/api/events", Status: 200, Body: []byte(`{"status":200,"count":0,"data":[],"limit":1,"offset":0}`)}, "limit"},
		{"limit without offset", openapitest.Answer{Target: "/api/activities", Status: 200, Body: []byte(`{"status":200,"count":0,"data":[],"limit":1}`)}, "offset"},
		{"two documents", openapitest.Answer{Target: "/api/projects?formatted", Status: 200, Body: []byte(table + none)}, ""},
		{"one of two documents", openapitest.Answer{Target: "/api/projects?formatted", Status: 200, Body: []byte(table)}, ""},
		{"three documents", openapitest.Answer{Target: "/api/projects?formatted", Status: 200, Body: []byte(table + none + none)}, "after the end"},
		{"a second document that is wrong", openapitest.Answer{Target: "/api/projects?formatted", Status: 200, Body: []byte(table + row)}, "shoe"},
		{"two documents where there is one", openapitest.Answer{Target: "/api/activities", Status: 200, Body: []byte(none + none)}, "after the end"},
		{"no JSON", openapitest.Answer{Target: "/api/activities", Status: 200, Body: []byte("oops")}, "document 1"},
		{"nothing", openapitest.Answer{Target: "/api/activities", Status: 200}, "document 1"},
		{"nothing where there is to be nothing", openapitest.Answer{Target: "/api/citation-index", Status: 200}, ""},
		{"something where there is to be nothing", openapitest.Answer{Target: "/api/citation-index?user=", Status: 200, Body: []byte("{}")}, "body"},
		{"not modified", openapitest.Answer{Target: "/api/html", Status: 304}, ""},
		{"not modified, with a body", openapitest.Answer{Target: "/api/html", Status: 304, Body: []byte("{}")}, "body"},
		{"HEAD", openapitest.Answer{Method: "HEAD", Target: "/api/html", Status: 200}, ""},
		{"HEAD with a body", openapitest.Answer{Method: "HEAD", Target: "/api/html", Status: 200, Body: []byte(none)}, "body"},
		{"a status that is not described", openapitest.Answer{Target: "/api/html", Status: 201, Body: []byte(none)}, "status"},
		{"another status in the envelope", openapitest.Answer{Target: "/api/html", Status: 403, Body: []byte(`{"status":400,"count":0,"error":"PermissionDenied","msg":"x"}`)}, "status"},
		{"another error", openapitest.Answer{Target: "/api/html", Status: 403, Body: []byte(`{"status":403,"count":0,"error":"WrongCall","msg":"x"}`)}, "error"},
		{"an error of its class", openapitest.Answer{Target: "/api/html", Status: 429, Body: []byte(`{"status":429,"count":0,"error":"WrongCall","msg":"x"}`)}, ""},
		{"a path with a variable", openapitest.Answer{Target: "/api/users/a%2Fb", Status: 404, Body: []byte(`{"status":404,"count":0,"error":"DataNotFound","msg":"x"}`)}, ""},
		{"an unknown path", openapitest.Answer{Target: "/api/shoes", Status: 404, Body: []byte(`{"status":404,"count":0,"error":"DataNotFound","msg":"x"}`)}, ""},
		{"an unknown path that answers", openapitest.Answer{Target: "/api/shoes", Status: 200, Body: []byte(none)}, "nothing is described"},
		{"another method that answers", openapitest.Answer{Method: "POST", Target: "/api/html", Status: 200, Body: []byte(none)}, "nothing is described"},
		{"a preflight", openapitest.Answer{Method: "OPTIONS", Target: "/api/html", Status: 204}, ""},
		{"another type", openapitest.Answer{Target: "/docs", Status: 200, Header: pageHeader("text/plain"), Body: []byte("x")}, "text/plain"},
		{"the right type", openapitest.Answer{Target: "/docs", Status: 200, Header: pageHeader("text/html; charset=utf-8"), Body: []byte("x")}, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := c.Check(tt.answer)
			switch {
			case tt.want == "" && err != nil:
				t.Errorf("objects: %v", err)
			case tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)):
				t.Errorf("err = %v, want something about %q", err, tt.want)
			}
		})
	}
}

func pageHeader(kind string) http.Header {
	h := http.Header{"Content-Type": {kind}}
	for _, name := range []string{"ETag", "Cache-Control", "Vary", "X-Request-Id"} {
		h.Set(name, "x")
	}
	return h
}

func TestNewRefuses(t *testing.T) {
	for _, document := range []string{"", "[]", "{"} {
		if _, err := openapitest.New([]byte(document)); err == nil {
			t.Errorf("New took %q", document)
		}
	}
}
