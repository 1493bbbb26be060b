package api_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"vitrine/proxy/proxytest"
)

// TestBadInput: the response to a bad request is an envelope with status 4xx that names the wrong
// parameter.
func TestBadInput(t *testing.T) {
	j := func(filter string) string { return "/api/activities?json=" + url.QueryEscape(filter) }
	f := func(query string) string { return "/api/activities?" + query }
	repeat := strings.Repeat
	tests := []struct {
		name, target string
		want         int
		msg          string // contained in the message
	}{
		{"limit is a word", f("limit=ten"), 400, "limit"},
		{"limit is a fraction", f("limit=1.5"), 400, "limit"},
		{"limit is an exponent", f("limit=1e3"), 400, "limit"},
		{"limit is hexadecimal", f("limit=0x10"), 400, "limit"},
		{"limit overflows", f("limit=99999999999999999999"), 400, "limit"},
		{"limit underflows", f("limit=-99999999999999999999"), 400, "limit"},
		{"limit is a list", f("limit[]=1"), 400, "limit"},
		{"limit is a map", f("limit[a]=1"), 400, "limit"},
		{"limit is not UTF-8", f("limit=%ff"), 400, "limit"},
		{"limit with a NUL", f("limit=1%00"), 400, "limit"},
		{"limit is arabic digits", f("limit=%D9%A1"), 400, "limit"},
		{"offset is a word", f("limit=1&offset=x"), 400, "offset"},
		{"offset overflows", f("limit=1&offset=9223372036854775808"), 400, "offset"},
		{"offset is wrong without limit", f("offset=x"), 400, "offset"},
		{"limit of html", "/api/html?limit=many", 400, "limit"},
		{"full is a word", f("full=perhaps"), 400, "full"},
		{"full is a list", f("full[]=1"), 400, "full"},
		{"json is cut off", j(`{"year":`), 400, "json"},
		{"json is a list", j(`[1,2]`), 400, "json"},
		{"json is a number", j(`12`), 400, "json"},
		{"json is a string", j(`"x"`), 400, "json"},
		{"json is null", j(`null`), 400, "json"},
		{"json has something after it", j(`{} {}`), 400, "json"},
		{"json has a comment", j(`{/**/}`), 400, "json"},
		{"json with single quotes", j(`{'a':1}`), 400, "json"},
		{"json is not UTF-8", f("json=%7B%22a%22%3A%22%ff%22%7D"), 400, "json"},
		{"json is given as a list", f("json[]=%7B%7D"), 400, "json"},
		{"json repeats a key", j(`{"a":1,"a":2}`), 400, "json"},
		{"json nests without end", j(repeat(`{"a":`, 500) + "1" + repeat("}", 500)), 400, "json"},
		{"json of open brackets", j(repeat(`[`, 20000)), 400, "json"},
		{"json is too long", j(`{"a":"` + repeat("x", 40000) + `"}`), 400, "json"},
		{"json asks too much", j(`{"$or":[` + repeat(`{"a":1},`, 2500) + `{"a":1}]}`), 400, "json"},
		{"a URL beyond the limit", j(`{"$or":[` + repeat(`{"a":1},`, 4000) + `{"a":1}]}`), 414, "65536"},
		{"unknown operator", j(`{"year":{"$foo":1}}`), 400, "$foo"},
		{"unknown top operator", j(`{"$foo":1}`), 400, "$foo"},
		{"$where runs nothing", j(`{"$where":"sleep(1)"}`), 400, "$where"},
		{"$text is not in memory", j(`{"$text":{"$search":"x"}}`), 400, "$text"},
		{"$or of nothing", j(`{"$or":[]}`), 400, "$or"},
		{"$or of numbers", j(`{"$or":[1]}`), 400, "$or"},
		{"$in of no list", j(`{"year":{"$in":1}}`), 400, "$in"},
		{"$size of a word", j(`{"authors":{"$size":"two"}}`), 400, "$size"},
		{"$mod by zero", j(`{"year":{"$mod":[0,1]}}`), 400, "$mod"},
		{"$type of nothing known", j(`{"year":{"$type":"integerish"}}`), 400, "$type"},
		{"$regex cannot be read", j(`{"title":{"$regex":"("}}`), 400, "$regex"},
		{"$regex is a number", j(`{"title":{"$regex":5}}`), 400, "$regex"},
		{"$regex is too long", j(`{"title":{"$regex":"` + repeat("a", 5000) + `"}}`), 400, "$regex"},
		{"$options alone", j(`{"title":{"$options":"i"}}`), 400, "$options"},
		{"$oid is too short", j(`{"_id":{"$oid":"12"}}`), 400, "json"},
		{"$date is no date", j(`{"d":{"$date":"yesterday"}}`), 400, "json"},
		{"filter is plain text", f("filter=publication"), 400, "filter"},
		{"filter is JSON", f("filter=%7B%7D"), 400, "json"},
		{"filter is a list", f("filter[]=x"), 400, "filter"},
		{"filter is an indexed list", f("filter[0]=x"), 400, "filter"},
		{"filter with an open bracket", f("filter[year=2020"), 400, "filter"},
		{"filter with nested brackets", f("filter[a[b]]=1"), 400, "filter"},
		{"filter with text after brackets", f("filter[a]b=1"), 400, "filter"},
		{"filter with a value and conditions", f("filter[year]=1&filter[year][$gte]=2"), 400, "filter"},
		{"filter with conditions and a value", f("filter[year][$gte]=2&filter[year]=1"), 400, "filter"},
		{"filter given twice", f("filter[year]=1&filter[year]=2"), 400, "filter"},
		{"filter mixes list and map", f("filter[a][]=1&filter[a][b]=2"), 400, "filter"},
		{"filter too deep", f("filter" + repeat("[a]", 40) + "=1"), 400, "filter"},
		{"filter of too many", f(repeat("filter[$or][][a]=1&", 600)), 400, "filter"},
		{"filter with an unknown operator", f("filter[a][$foo]=1"), 400, "$foo"},
		{"filter with a top-level operator", f("filter[$where]=sleep"), 400, "$where"},
		{"filter with $or of no list", f("filter[$or][type]=x"), 400, "$or"},
		{"filter with $or of texts", f("filter[$or][]=x"), 400, "$or"},
		{"filter with $in of a text", f("filter[a][$in]=x"), 400, "$in"},
		{"filter with a wrong $oid", f("filter[_id][$oid]=12"), 400, "$oid"},
		{"filter with a wrong $date", f("filter[d][$gte][$date]=soon"), 400, "$date"},
		{"filter whose name is not UTF-8", f("filter[%ff]=1"), 400, "filter"},
		{"filter whose name has a NUL", f("filter[a%00b]=1"), 400, "filter"},
		{"filter whose value is not UTF-8", f("filter[a]=%c3"), 400, "filter"},
		{"filter with an empty regular expression group", f("filter[a][$regex]=(?"), 400, "$regex"},
		{"column with an empty part", f("columns[]=authors..user"), 400, "columns"},
		{"column with an operator", f("columns[]=$where"), 400, "columns"},
		{"column ends in a dot", f("columns[]=authors."), 400, "columns"},
		{"column is too long", f("columns[]=" + repeat("a", 300)), 400, "columns"},
		{"column is too deep", f("columns[]=a" + repeat(".a", 30)), 400, "columns"},
		{"column with a NUL", f("columns[]=a%00"), 400, "columns"},
		{"column is not UTF-8", f("columns[]=%ff"), 400, "columns"},
		{"columns collide", f("columns=authors,authors.user"), 400, "columns"},
		{"columns collide the other way", f("columns=a.b.c,a.b"), 400, "columns"},
		{"columns of nested brackets", f("columns[a][b]=1"), 400, "columns"},
		{"columns by name", f("columns[x]=1"), 400, "columns"},
		{"too many columns", f(repeat("columns[]=a1&columns[]=b2&", 40)), 400, "columns"},
		{"aggregate by an operator", f("aggregate=$type"), 400, "aggregate"},
		{"aggregate by an empty part", f("aggregate=.a"), 400, "aggregate"},
		{"aggregate is too long", f("aggregate=" + repeat("b", 300)), 400, "aggregate"},
		{"aggregate is a list", f("aggregate[]=type"), 400, "aggregate"},
		{"spectrum is missing", "/api/spectrum-activities", 400, "spectrum"},
		{"spectrum is empty", "/api/spectrum-activities?spectrum=", 400, "spectrum"},
		{"spectrum is a list", "/api/spectrum-activities?spectrum[]=Soil", 400, "spectrum"},
		{"spectrum is not UTF-8", "/api/spectrum-activities?spectrum=%fe", 400, "spectrum"},
		{"path is a script", "/api/all-activities?path=javascript:alert(1)", 400, "path"},
		{"path breaks out of the attribute", "/api/all-activities?path=%22%3E%3Cscript%3E", 400, "path"},
		{"type is a list", "/api/all-activities?type[]=x", 400, "type"},
		{"user is not UTF-8", "/api/all-activities?page=my-activities&user=%ff", 400, "user"},
		{"json of all-activities", "/api/all-activities?json=%7B", 400, "json"},
		{"no such path", "/api/nothing", 404, "path"},
		{"path in capitals", "/API/activities", 404, "path"},
		{"path with dots", "/api/../etc/passwd", 404, "path"},
	}
	if len(tests) < 60 {
		t.Errorf("only %d cases", len(tests))
	}
	o := proxytest.Options(t)
	o.Limits.FilterNodes = 1000
	s := proxytest.Open(t, proxytest.Institute(t), o)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			res := s.Get(tt.target)
			e := res.Envelope(t)
			if res.StatusCode != tt.want {
				t.Errorf("status = %d, want %d: %s", res.StatusCode, tt.want, res.Body)
			}
			if !strings.Contains(e.Msg, tt.msg) {
				t.Errorf("msg = %q, want it to name %q", e.Msg, tt.msg)
			}
			if *e.Count != 0 {
				t.Errorf("count = %d", *e.Count)
			}
			if got := res.Header.Get("Cache-Control"); got != "no-store" {
				t.Errorf("Cache-Control = %q", got)
			}
		})
	}
}

func TestErrorNames(t *testing.T) {
	o := proxytest.Options(t)
	o.Auth.APIKey = "key"
	s := proxytest.Open(t, proxytest.Institute(t), o)
	tests := []struct {
		method, target string
		status         int
		error          string
		allow          string
	}{
		{http.MethodGet, "/api/activities?apikey=key&limit=x", 400, "WrongCall", ""},
		{http.MethodGet, "/api/activities", 403, "PermissionDenied", ""},
		{http.MethodGet, "/api/nothing", 404, "DataNotFound", ""},
		{http.MethodPost, "/api/activities", 405, "WrongCall", "GET, HEAD"},
		{http.MethodPut, "/api/activities", 405, "WrongCall", "GET, HEAD"},
		{http.MethodDelete, "/api/html", 405, "WrongCall", "GET, HEAD"},
		{http.MethodOptions, "/api/html", 405, "WrongCall", "GET, HEAD"},
		{"PROPFIND", "/api/html", 405, "WrongCall", "GET, HEAD"},
		{http.MethodPost, "/healthz", 405, "WrongCall", "GET, HEAD"},
		{http.MethodPost, "/livez", 405, "WrongCall", "GET, HEAD"},
		{http.MethodPost, "/api/nothing", 404, "DataNotFound", ""},
	}
	for _, tt := range tests {
		t.Run(tt.method+" "+tt.target, func(t *testing.T) {
			res := s.Do(tt.method, tt.target)
			e := res.Envelope(t)
			if res.StatusCode != tt.status || e.Error != tt.error {
				t.Errorf("status %d, error %q, want %d, %q", res.StatusCode, e.Error, tt.status, tt.error)
			}
			if got := res.Header.Get("Allow"); got != tt.allow {
				t.Errorf("Allow = %q, want %q", got, tt.allow)
			}
		})
	}
}
