package api_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"
	"testing"

	"vitrine/proxy/proxytest"

	"vitrine/proxy/auth"
	"vitrine/rules"
	"vitrine/rules/access"
)

// last returns the last digits of the rows' ids.
func lastOf(e proxytest.Envelope, t testing.TB) string {
	t.Helper()
	var all []string
	for _, row := range e.Rows(t) {
		id, _ := row["id"].(string)
		if oid, ok := row["_id"].(map[string]any); ok {
			id, _ = oid["$oid"].(string)
		}
		all = append(all, strings.TrimLeft(id[2:], "bcdef0"))
	}
	return strings.Join(all, " ")
}

// TestFormatted: the answer is two documents, one after the other, or only the table.
func TestFormatted(t *testing.T) {
	two := proxytest.Open(t, holdings(t), holdingsOptions(t))
	o := holdingsOptions(t)
	o.Limits.KeptBytes = 1
	streaming := proxytest.Open(t, holdings(t), o)
	if got, want := streaming.Get("/api/projects?formatted").Body, two.Get("/api/projects?formatted").
		Body; string(got) != string(want) {
		t.Errorf("streamed %d bytes, cached %d", len(got), len(want))
	}
	o = holdingsOptions(t)
	o.Compat.FormattedSingle = true
	one := proxytest.Open(t, holdings(t), o)

	table := one.Get("/api/projects?formatted=0&limit=1&offset=2&raw&lang=de")
	compare(t, filepath.Join("testdata", "golden", "projects_formatted.json"), table.Body)
	if n := len(table.Envelope(t).Rows(t)); n != 4 {
		t.Errorf("the table has %d rows, want all 4: only the list is paged", n)
	}
	for _, query := range []string{"", "&limit=1&offset=2", "&raw", "&columns[]=name",
		"&json=" + url.QueryEscape(`{"name":"OWL"}`)} {
		both := two.Get("/api/projects?formatted" + query)
		if both.StatusCode != http.StatusOK || json.Valid(both.Body) {
			t.Errorf("%s: status %d; want two documents", query, both.StatusCode)
		}
		want := append(one.Get("/api/projects?formatted"+query).Body, two.Get("/api/projects?x"+query).Body...)
		if !bytes.Equal(both.Body, want) {
			t.Errorf("%s:\ngot  %s\nwant %s", query, both.Body, want)
		}
	}
}

// TestFormattedCountsAnew: the table counts activities, so it changes with them even if the
// projects do not change.
func TestFormattedCountsAnew(t *testing.T) {
	o := holdingsOptions(t)
	o.Compat.FormattedSingle = true
	s := proxytest.Open(t, holdings(t), o)
	const target = "/api/proposals?formatted"
	if rows := s.Get(target).Envelope(t).Rows(t); rows[1]["activities"] != 0.0 {
		t.Fatalf("before: %v", rows[1])
	}
	s.Refresh(rules.ViewActivities, proxytest.Documents(t, "testdata/holdings/later.jsonl")...)
	if rows := s.Get(target).Envelope(t).Rows(t); rows[1]["activities"] != 1.0 {
		t.Errorf("after: %v", rows[1])
	}
}

// TestPublicCast: a top-level value of public is cast to a boolean, also in ways in which only PHP
// casts it.
func TestPublicCast(t *testing.T) {
	s := proxytest.Open(t, holdings(t), holdingsOptions(t))
	j := func(filter string) string { return "json=" + url.QueryEscape(filter) }
	const yes, no = "3 1", "2"
	tests := []struct{ name, query, want string }{
		{"true", j(`{"public":true}`), yes},
		{"false", j(`{"public":false}`), no},
		{"one", j(`{"public":1}`), yes},
		{"a half", j(`{"public":0.5}`), yes},
		{"zero", j(`{"public":0}`), no},
		{"decimal zero", j(`{"public":{"$numberDecimal":"0.0"}}`), no},
		{"long zero", j(`{"public":{"$numberLong":"0"}}`), no},
		{"null", j(`{"public":null}`), no},
		{"empty text", j(`{"public":""}`), no},
		{"text zero", j(`{"public":"0"}`), no},
		{"text false", j(`{"public":"false"}`), yes},
		{"text true", j(`{"public":"true"}`), yes},
		{"beside others", j(`{"year":2022,"public":"false","type":"third-party"}`), "1"},
		{"a condition stays", j(`{"public":{"$ne":true}}`), "2 4"},
		{"deeper it stays", j(`{"$or":[{"public":"false"}]}`), ""},
		{"brackets", "filter[public]=false", yes},
		{"brackets one", "filter[public]=1", yes},
		{"brackets zero", "filter[public]=0", no},
		{"brackets nothing", "filter[public]=", no},
		{"brackets with another", "filter[public]=true&filter[year]=2022", "1"},
		{"brackets condition", "filter[public][$exists]=0", "4"},
		{"no filter", "filter=", "3 1 2 4"},
		{"json before filter", j(`{"public":false}`) + "&filter[public]=1", no},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := lastOf(s.Get("/api/projects?"+tt.query).Envelope(t), t); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
	for query, want := range map[string]string{
		j(`{"public":"false"}`): yes, "filter[public]=0": no, // searches cast as OSIRIS does
		j(`{"$and":[]}`): "3 1 2 4", j(`{"$and":[],"public":true}`): yes, // what its search form sends
	} {
		if got := lastOf(s.Get("/api/search/projects?"+query).Envelope(t), t); got != want {
			t.Errorf("search, %s: got %q, want %q", query, got, want)
		}
	}
}

// TestFundingNumbers: values are decoded twice, never trimmed, and match exactly.
func TestFundingNumbers(t *testing.T) {
	s := proxytest.Open(t, holdings(t), holdingsOptions(t))
	tests := []struct{ name, query, want string }{
		{"in an array and alone", "number=EU-1", "1 2"},
		{"of several values", "number=unheard,EU-1", "1 2"},
		{"a comma separates", "number=A,B", ""},
		{"a comma decoded last does not", "number=A%252CB", "1"},
		{"nor one in a repeated value", "number[]=A,B", "1"},
		{"repeated", "number[]=nothing&number[1]=EU-1", "1 2"},
		{"a repeated value decoded twice", "number[]=A%252CB", "1"},
		{"not trimmed", "number=EU-1%20", ""},
		{"not trimmed behind a comma", "number=unheard,%20EU-1", ""},
		{"spaces stored in the value", "number=%207%20", "3"},
		{"plus is a space, also in the second place", "number=%2B7%2B", "3"},
		{"a lone percent stays", "number=EU-1,100%25", "1 2"},
		{"case counts", "number=eu-1", ""},
		{"no pattern", "number=EU.1", ""},
		{"no number", "number=7", ""},
		{"a page", "number=EU-1&limit=1&offset=1", "2"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			res := s.Get("/api/projects-by-funding-number?" + tt.query)
			e := res.Envelope(t)
			if got := lastOf(e, t); got != tt.want || e.Status != http.StatusOK {
				t.Errorf("got %q (%d), want %q", got, e.Status, tt.want)
			}
		})
	}
	if e := s.Get("/api/projects-by-funding-number?number=EU-1&limit=1").Envelope(t); *e.Count != 2 ||
		*e.Limit != 1 || *e.Offset != 0 {
		t.Errorf("count %d, limit %d, offset %d", *e.Count, *e.Limit, *e.Offset)
	}
}

// TestSearch: search replaces the filter and becomes an expression on the title.
func TestSearch(t *testing.T) {
	s := proxytest.Open(t, holdings(t), holdingsOptions(t))
	q := url.QueryEscape
	tests := []struct{ name, target, want string }{
		{"any case", "/api/projects?search=MOTHS", "1"},
		{"trimmed", "/api/projects?search=%20dust%20", "3"},
		{"an expression", "/api/projects?search=" + q(`^(owls|dust)\b`), "3 2"},
		{"an empty search is ignored", "/api/projects?search=%20&json=" + q(`{"name":"OWL"}`), "2"},
		{"a wrong filter is not read", "/api/projects?search=dust&json=" + q(`{"$foo":1}`), "3"},
		{"brackets neither", "/api/search/projects?search=dust&filter[name]=OWL", "3"},
		{"title, not journal", "/api/search/journals?search=dusk", "2"},
		{"not the name", "/api/search/journals?search=dawn", ""},
		{"the journal by json", "/api/search/journals?json=" + q(`{"journal":{"$regex":"dawn","$options":"i"}}`),
			"3"},
		{"title, not last name", "/api/search/persons?search=ada", ""},
		{"a person's title", "/api/search/persons?search=" + q(`DR\.`), "3"},
		{"grouped", "/api/projects?search=zzz&aggregate=type", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := lastOf(s.Get(tt.target).Envelope(t), t); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

// TestOwnOnly: without the permission a session sees only records that its user is linked to or has
// created, whatever the caller's filter.
func TestOwnOnly(t *testing.T) {
	o := holdingsOptions(t)
	rights := access.New(access.Options{Roles: map[string][]access.Permission{"reader": {access.ProjectsView}}})
	secret := []byte("0123456789abcdef0123456789abcdef")
	o.Access = rights
	o.Auth.APIKey = "right"
	o.Auth.Session = auth.SessionOptions{Secret: secret, UnknownUsers: true}
	s := proxytest.Open(t, holdings(t), o)
	or := "&json=" + url.QueryEscape(`{"$or":[{"name":"DUST"},{"name":"OWL"}]}`)
	created := "&json=" + url.QueryEscape(`{"created_by":"bob"}`)
	tests := []struct{ name, user, target, want string }{
		{"no session", "", "/api/projects?apikey=right", ""},
		{"no session, proposals", "", "/api/proposals?apikey=right", ""},
		{"no session, whole records", "", "/api/projects?full&apikey=right", ""},
		{"no session, groups", "", "/api/projects?aggregate=type&apikey=right", ""},
		{"no session, search", "", "/api/search/proposals?apikey=right", ""},
		{"no session, funding numbers are not restricted", "",
			"/api/projects-by-funding-number?number=EU-1&apikey=right", "1 2"},
		{"linked or created", "ann", "/api/projects?x", "3 1"},
		{"a key gives no permission", "ann", "/api/projects?apikey=right", "3 1"},
		{"whole records", "ann", "/api/projects?full", "3 1"},
		{"joined to a filter", "ann", "/api/projects?x" + or, "3"},
		{"a filter that does not widen it", "ann", "/api/projects?x" + created, ""},
		{"the role has the permission", "bob", "/api/projects?x", "3 1 2 4"},
		{"for projects only", "bob", "/api/proposals?x", "2 1"},
		{"and their search", "bob", "/api/search/projects?x", "3 1 2 4"},
		{"not that of proposals", "bob", "/api/search/proposals?x", "2 1"},
		{"search unwinds them", "ann", "/api/search/proposals?columns[]=persons.user", "1 1"},
		{"a user without a record", "eve", "/api/projects?x", "1"},
		{"no operator", `{"$ne":null}`, "/api/projects?x", ""},
		{"journals need no permission", "", "/api/search/journals?apikey=right", "1 2 3"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var headers []string
			if tt.user != "" {
				headers = []string{"Authorization", "Bearer " + proxytest.Token(t, tt.user, secret)}
			}
			res := s.Get(tt.target, headers...)
			if got := lastOf(res.Envelope(t), t); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
			if private := strings.HasPrefix(res.Header.Get("Cache-Control"), "private"); !private {
				// for a key, or one person
				t.Errorf("Cache-Control = %q", res.Header.Get("Cache-Control"))
			}
		})
	}
	if res := s.Get("/api/projects"); res.StatusCode != http.StatusForbidden {
		t.Errorf("without a key: %d", res.StatusCode)
	}
}

// TestHoldingsBadInput: the response to a bad request names the wrong parameter.
func TestHoldingsBadInput(t *testing.T) {
	o := holdingsOptions(t)
	o.Limits.FilterNodes = 1000
	s := proxytest.Open(t, holdings(t), o)
	q := url.QueryEscape
	tests := []struct{ name, target, msg string }{
		{"no number", "/api/projects-by-funding-number", "no funding number provided"},
		{"an empty number", "/api/projects-by-funding-number?number=", "no funding number provided"},
		{"only commas", "/api/projects-by-funding-number?number=,,", "no funding number provided"},
		{"empty repeated", "/api/projects-by-funding-number?number[]=", "no funding number provided"},
		{"a map", "/api/projects-by-funding-number?number[a]=1", "number"},
		{"no UTF-8", "/api/projects-by-funding-number?number=%25ff", "number"},
		{"too many numbers", "/api/projects-by-funding-number?number=" + strings.Repeat("1,", 20000) + "1", "number"},
		{"search is not an expression", "/api/projects?search=" + q("a(b"), "search"},
		{"search is a list", "/api/projects?search[]=a", "search"},
		{"search is too long", "/api/search/persons?search=" + strings.Repeat("a", 4097), "search"},
		{"search is not UTF-8", "/api/search/persons?search=%ff", "search"},
		{"unknown language", "/api/projects?lang=fr", "lang"},
		{"unknown language, raw", "/api/search/proposals?raw&lang=fr", "lang"},
		{"unknown language, formatted", "/api/projects?formatted&lang=fr", "lang"},
		{"limit", "/api/projects?limit=x", "limit"},
		{"limit of a search", "/api/search/journals?limit=x", "limit"},
		{"column", "/api/projects?columns[]=$name", "columns"},
		{"column twice over", "/api/projects?columns=persons,persons.user", "columns"},
		{"our own notes", "/api/projects?columns[]=_resolved.persons", "columns"},
		{"our own notes grouped", "/api/projects?aggregate=_resolved.persons.name", "aggregate"},
		{"our own notes as figures",
			"/api/search/projects?aggregate=type&aggregate_function=sum&aggregate_value=_resolved.x",
			"aggregate_value"},
		{"column of a search", "/api/search/persons?columns[]=a..b", "columns"},
		{"aggregate is a list", "/api/projects?aggregate[]=type", "aggregate"},
		{"aggregate of an operator", "/api/search/projects?aggregate=$type", "aggregate"},
		{"unknown function", "/api/search/projects?aggregate=type&aggregate_function=max&aggregate_value=budget",
			"aggregate_function"},
		{"functions are lower case",
			"/api/search/projects?aggregate=type&aggregate_function=Sum&aggregate_value=budget",
			"aggregate_function"},
		{"sum of nothing", "/api/search/projects?aggregate=type&aggregate_function=sum", "aggregate_value"},
		{"mean of an empty path", "/api/search/projects?aggregate=type&aggregate_function=mean&aggregate_value=%20",
			"aggregate_value"},
		{"json", "/api/proposals?json=" + q(`{"public":`), "json"},
		{"json of an operator", "/api/projects?json=" + q(`{"public":{"$foo":1}}`), "public.$foo"},
		{"json is a list", "/api/projects?json=[]", "json"},
		{"brackets", "/api/projects?filter[public]=1&filter[public][x]=1", "filter"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			e := s.Get(tt.target).Envelope(t)
			if e.Status != http.StatusBadRequest || e.Error != "WrongCall" || !strings.Contains(e.Msg, tt.msg) {
				t.Errorf("got %d %s %q, want a WrongCall that contains %q", e.Status, e.Error, e.Msg, tt.msg)
			}
		})
	}
	if e := s.Get("/api/search/unheard").Envelope(t); e.Status != http.StatusNotFound {
		t.Errorf("unknown search: %d", e.Status)
	}
	// Parameters that a mode does not read are not checked in it.
	for _, target := range []string{"/api/projects?full&limit=x&columns[]=$a",
		"/api/search/projects?aggregate_function=max"} {
		if e := s.Get(target).Envelope(t); e.Status != http.StatusOK {
			t.Errorf("%s: %d %s", target, e.Status, e.Msg)
		}
	}
}
