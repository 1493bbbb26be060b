package proxytest_test

import (
	"net/http"
	"strings"
	"testing"

	"vitrine/proxy/proxytest"

	"vitrine/proxy/openapi"
)

func TestCheck(t *testing.T) {
	c, err := proxytest.NewChecker(openapi.Load().JSON)
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
		answer proxytest.CheckedAnswer
		want   string // part of the error; "" for none
	}{
		{"as described", proxytest.CheckedAnswer{Target: "/api/activities", Status: 200, Body: []byte(none)}, ""},
		{"with its headers",
			proxytest.CheckedAnswer{Target: "/api/activities", Status: 200, Header: full, Body: []byte(none)}, ""},
		{"without them", proxytest.CheckedAnswer{Target: "/api/activities", Status: 200, Header: http.Header{},
			Body: []byte(none)}, "is missing"},
		{"an unknown field", proxytest.CheckedAnswer{Target: "/api/activities", Status: 200, Body: []byte(row)},
			"shoe"},
		{"a field asked for",
			proxytest.CheckedAnswer{Target: "/api/activities?columns[]=shoe", Status: 200, Body: []byte(row)}, ""},
		{"a field requested by index", proxytest.CheckedAnswer{Target: "/api/activities?columns%5B0%5D=shoe",
			Status: 200, Body: []byte(row)}, ""},
		{"no field asked for",
			proxytest.CheckedAnswer{Target: "/api/activities?columns[]=,", Status: 200, Body: []byte(row)}, "shoe"},
		{"a flag that is off",
			proxytest.CheckedAnswer{Target: "/api/activities?full=0", Status: 200, Body: []byte(row)}, "shoe"},
		{"a flag by its presence",
			proxytest.CheckedAnswer{Target: "/api/projects?full=0", Status: 200, Body: []byte(row)}, "_id"},
		{"pages where there are none", proxytest.CheckedAnswer{Target: "/api/events", Status: 200,
			Body: []byte(`{"status":200,"count":0,"data":[],"limit":1,"offset":0}`)}, "limit"},
		{"limit without offset", proxytest.CheckedAnswer{Target: "/api/activities", Status: 200,
			Body: []byte(`{"status":200,"count":0,"data":[],"limit":1}`)}, "offset"},
		{"two documents",
			proxytest.CheckedAnswer{Target: "/api/projects?formatted", Status: 200, Body: []byte(table + none)}, ""},
		{"one of two documents",
			proxytest.CheckedAnswer{Target: "/api/projects?formatted", Status: 200, Body: []byte(table)}, ""},
		{"three documents", proxytest.CheckedAnswer{Target: "/api/projects?formatted", Status: 200,
			Body: []byte(table + none + none)}, "after the end"},
		{"a second document that is wrong",
			proxytest.CheckedAnswer{Target: "/api/projects?formatted", Status: 200, Body: []byte(table + row)},
			"shoe"},
		{"two documents where there is one",
			proxytest.CheckedAnswer{Target: "/api/activities", Status: 200, Body: []byte(none + none)},
			"after the end"},
		{"no JSON", proxytest.CheckedAnswer{Target: "/api/activities", Status: 200, Body: []byte("oops")},
			"document 1"},
		{"nothing", proxytest.CheckedAnswer{Target: "/api/activities", Status: 200}, "document 1"},
		{"nothing where there is to be nothing", proxytest.CheckedAnswer{Target: "/api/citation-index", Status: 200},
			""},
		{"a body where none is described",
			proxytest.CheckedAnswer{Target: "/api/citation-index?user=", Status: 200, Body: []byte("{}")}, "body"},
		{"not modified", proxytest.CheckedAnswer{Target: "/api/html", Status: 304}, ""},
		{"not modified, with a body", proxytest.CheckedAnswer{Target: "/api/html", Status: 304, Body: []byte("{}")},
			"body"},
		{"HEAD", proxytest.CheckedAnswer{Method: "HEAD", Target: "/api/html", Status: 200}, ""},
		{"HEAD with a body",
			proxytest.CheckedAnswer{Method: "HEAD", Target: "/api/html", Status: 200, Body: []byte(none)}, "body"},
		{"a status that is not described",
			proxytest.CheckedAnswer{Target: "/api/html", Status: 201, Body: []byte(none)}, "status"},
		{"another status in the envelope",
			proxytest.CheckedAnswer{Target: "/api/html", Status: 403,
				Body: []byte(`{"status":400,"count":0,"error":"PermissionDenied","msg":"x"}`)}, "status"},
		{"another error", proxytest.CheckedAnswer{Target: "/api/html", Status: 403,
			Body: []byte(`{"status":403,"count":0,"error":"WrongCall","msg":"x"}`)}, "error"},
		{"an error of its class", proxytest.CheckedAnswer{Target: "/api/html", Status: 429,
			Body: []byte(`{"status":429,"count":0,"error":"TooManyRequests","msg":"x"}`)}, ""},
		{"a path with a variable", proxytest.CheckedAnswer{Target: "/api/users/a%2Fb", Status: 404,
			Body: []byte(`{"status":404,"count":0,"error":"DataNotFound","msg":"x"}`)}, ""},
		{"an unknown path", proxytest.CheckedAnswer{Target: "/api/shoes", Status: 404,
			Body: []byte(`{"status":404,"count":0,"error":"DataNotFound","msg":"x"}`)}, ""},
		{"a success on an unknown path",
			proxytest.CheckedAnswer{Target: "/api/shoes", Status: 200, Body: []byte(none)}, "nothing is described"},
		{"a success for an unknown method",
			proxytest.CheckedAnswer{Method: "POST", Target: "/api/html", Status: 200, Body: []byte(none)},
			"nothing is described"},
		{"a preflight", proxytest.CheckedAnswer{Method: "OPTIONS", Target: "/api/html", Status: 204}, ""},
		{"another type", proxytest.CheckedAnswer{Target: "/docs", Status: 200, Header: pageHeader("text/plain"),
			Body: []byte("x")}, "text/plain"},
		{"the right type", proxytest.CheckedAnswer{Target: "/docs", Status: 200,
			Header: pageHeader("text/html; charset=utf-8"), Body: []byte("x")}, ""},
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

func TestCheckerRefuses(t *testing.T) {
	for _, document := range []string{"", "[]", "{"} {
		if _, err := proxytest.NewChecker([]byte(document)); err == nil {
			t.Errorf("New took %q", document)
		}
	}
}

// TestMeets: the states of parameters, for each form of a parameter.
func TestMeets(t *testing.T) {
	for _, tt := range []struct {
		query, state string
		want         bool
	}{
		{"", "present", false}, {"b=1", "present", false}, {"a", "present", true}, {"a[]=", "present", true},
		{"%61=0", "present", true},
		{"a=", "filled", false}, {"a=,%20", "filled", false}, {"a[0]=x", "filled", true}, {"a=%zz", "filled", true},
		{"", "empty", true}, {"a=", "empty", true}, {"a=1", "empty", false},
		{"a", "on", true}, {"a=1", "on", true}, {"a=OFF", "on", false}, {"a=1&a=0", "on", false},
		{"a=0&a=1", "on", true}, {"", "on", false},
		{"a=1", "unknown", false},
	} {
		q := proxytest.ReadQuery(tt.query)
		if got := q.Meets(map[string]any{"a": tt.state}); got != tt.want {
			t.Errorf("%q, %s: %v", tt.query, tt.state, got)
		}
		if q.Without("a").Meets(map[string]any{"a": "present"}) {
			t.Errorf("%q still has a", tt.query)
		}
	}
	if q := proxytest.ReadQuery("a=1&b=2"); !q.Meets(map[string]any{"a": "on", "b": "filled"}) ||
		q.Meets(map[string]any{"a": "on", "c": "filled"}) || !q.Meets(nil) {
		t.Error("several states are not all met")
	}
}
