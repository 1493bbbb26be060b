package api_test

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"vitrine/proxy/proxytest"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/rules"
)

// The records below have every field that the API's description lists for their kind.
const (
	wholeActivity = `{"_id":{"$oid":"64a0000000000000000000aa"},"id":"own","type":"publication","subtype":"article","year":2024,` +
		`"title":"T","authors":[{"last":"Ahn","user":"ada","affiliated":true}],"editors":[{"last":"Bee"}],` +
		`"doi":"10.5555/1","pubmed":1,` +
		`"start_date":"2024-01-01","end_date":"2024-01-02","units":["BIO"],"epub":true,"topics":["t1"],` +
		`"affiliated":true,` +
		`"workflow":{"status":"verified"},"tags":["green"],"projects":["P"],"spectrum":[{"display_name":"Soil",` +
		`"score":0.5}],` +
		`"rendered":{"web":"w","print":"p","icon":"i","type":"Publications","subtype":"Article","quarter":"2024Q1",` +
		`"users":["ada"]},"hide":true}`
	wholeProject = `{"_id":{"$oid":"64a0000000000000000000bb"},"id":"own","name":"P","acronym":"A","title":"T","type":"third-party","funder":"eu",` +
		`"role":"partner","status":"ongoing","start_date":"2024-01-01","end_date":"2024-12-31","applicant":"ada",` +
		`"units":["BIO"],"topics":["t1"],` +
		`"tags":["green"],"persons":[{"user":"ada","name":"Ada"}],"scholarship":"s",` +
		`"funding_organization":{"$oid":"64d000000000000000000001"},` +
		`"proposal_id":{"$oid":"64a0000000000000000000cc"},"subproject":true,"timeline":[{"event":"e"}],` +
		`"funding_number":["N 1","N2"],` +
		`"created_by":"ada","public":true,"collaborators":[{"name":"C"}]}`
	wholeJournal = `{"_id":{"$oid":"64a0000000000000000000dd"},"id":"own","journal":"Moth","issn":["1111-1111"],"publisher":"Owl","title":"Moth, a journal"}`
	wholePerson  = `{"_id":{"$oid":"64a0000000000000000000ee"},"first":"Ada","last":"Ahn","username":"ada",` +
		`"units":[{"unit":"BIO","start":"2020-01-01","end":null,"scientific":true}],"is_active":true,` +
		`"display_activities":"print"}`
	wholeEvent = `{"_id":{"$oid":"64a0000000000000000000ff"},"title":"E","description":"D","type":"conference","url":"https://e.example","start":"2024-01-01",` +
		`"end":"2024-01-02","location":"Oslo","country":"NO","participants":["ada"],` +
		`"activities":[{"$oid":"64a0000000000000000000aa"}],"topics":["t1"]}`
)

// wholeRecords is a store with one record of each kind.
func wholeRecords(t testing.TB) *proxytest.Store {
	t.Helper()
	s := proxytest.NewStore()
	for view, record := range map[string]string{
		rules.ViewActivities: wholeActivity, rules.ViewProjects: wholeProject, rules.ViewProposals: wholeProject,
		rules.ViewJournals: wholeJournal, rules.ViewPersons: wholePerson, rules.ViewEvents: wholeEvent,
	} {
		s.Publish(view, proxytest.Parse(t, record)...)
	}
	return s
}

// TestFieldsOfRecords: every field that the API's description lists is answered as stored, in whole records and as
// a column.
func TestFieldsOfRecords(t *testing.T) {
	s := proxytest.Open(t, wholeRecords(t), holdingsOptions(t))
	// A search shows these fields of the rendered document, which has neither title nor persons.
	shownActivity := strings.NewReplacer(`"type":"publication","subtype":"article"`,
		`"type":"Publications","subtype":"Article"`,
		`"title":"T","authors":[{"last":"Ahn","user":"ada","affiliated":true}],"editors":[{"last":"Bee"}],`, "",
	).Replace(wholeActivity)
	tests := []struct {
		name, whole, columns string // whole is "" if the endpoint returns no whole records
		record               string
	}{
		{"activity", "/api/activities?full=1", "", wholeActivity},
		{"activity, searched", "", "/api/search/activities?", shownActivity},
		{"project", "/api/projects?full", "/api/projects?raw&", wholeProject},
		{"proposal", "/api/proposals?full", "/api/proposals?raw&", wholeProject},
		{"proposal, searched", "", "/api/search/proposals?raw&", wholeProject},
		{"journal", "", "/api/search/journals?", wholeJournal},
		{"person", "/api/users/ada", "/api/search/persons?", wholePerson},
		{"event", "/api/events", "/api/search/conferences?", wholeEvent},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if tt.whole != "" {
				got := string(s.Get(tt.whole).Envelope(t).Data)
				// Events get an id at the end.
				got = strings.Replace(strings.Trim(got, "[]"), `,"id":"64a0000000000000000000ff"}`, "}", 1)
				if got != tt.record {
					t.Errorf("got  %s\nwant %s", got, tt.record)
				}
			}
			if tt.columns != "" {
				checkColumns(t, s, tt.columns, tt.record)
			}
		})
	}
}

// checkColumns requests every field of a record as the only column. For unwound arrays it compares
// the first element.
func checkColumns(t *testing.T, s *proxytest.Site, target, record string) {
	t.Helper()
	var fields map[string]json.RawMessage
	if err := json.Unmarshal([]byte(record), &fields); err != nil {
		t.Fatal(err)
	}
	for name, want := range fields {
		if name == "id" { // the server generates it, except for projects and proposals
			continue
		}
		var rows []map[string]json.RawMessage
		if err := json.Unmarshal(s.Get(target+"columns[]="+name).Envelope(t).Data, &rows); err != nil ||
			len(rows) == 0 {
			t.Fatalf("%s: %v", name, err)
		}
		var list []json.RawMessage
		got := string(rows[0][name])
		if json.Unmarshal(want, &list) == nil && got == string(list[0]) {
			continue
		}
		if got != string(want) {
			t.Errorf("%s = %s, want %s", name, got, want)
		}
	}
}

// TestIDs: id is the string form of _id, and _id an Extended JSON object.
func TestIDs(t *testing.T) {
	s := proxytest.Open(t, wholeRecords(t), holdingsOptions(t))
	tests := []struct{ target, id string }{
		{"/api/activities", "aa"}, {"/api/activities?columns[]=_id", "aa"}, {"/api/all-activities", "aa"},
		{"/api/html", "aa"},
		{"/api/spectrum-activities?spectrum=Soil", "aa"}, {"/api/search/activities?columns[]=_id&columns[]=id", "aa"},
		{"/api/projects?raw&columns[]=_id", "bb"}, {"/api/proposals", "bb"},
		{"/api/search/proposals?columns[]=id", "bb"},
		{"/api/search/journals?columns[]=id", "dd"}, {"/api/search/persons", "ee"},
		{"/api/events", "ff"}, {"/api/conferences", "ff"},
	}
	for _, tt := range tests {
		t.Run(tt.target, func(t *testing.T) {
			want := "64a0000000000000000000" + tt.id
			row := s.Get(tt.target).Envelope(t).Rows(t)[0]
			if row["id"] != want {
				t.Errorf("id = %v, want %s", row["id"], want)
			}
			if stored, there := row["_id"]; there && fmt.Sprint(stored) != "map[$oid:"+want+"]" {
				t.Errorf("_id = %v", stored)
			}
		})
	}
}

// paged are calls of every endpoint with pages, and the number of their rows.
var paged = []struct {
	name, target string
	rows         int
	noOffset     bool // the endpoint has only limit
}{
	{"activities", "/api/activities", 3, false},
	{"activities, columns", "/api/activities?columns=title", 3, false},
	{"activities, groups", "/api/activities?aggregate=title", 3, false},
	{"activities, records", "/api/activities?full=1", 3, false},
	{"html", "/api/html", 1, true},
	{"projects", "/api/projects", 3, false},
	{"projects, raw", "/api/projects?raw", 3, false},
	{"projects, groups", "/api/projects?aggregate=name", 3, false},
	{"proposals", "/api/proposals", 2, false},
	{"search of proposals", "/api/search/proposals", 2, false},
	{"search of proposals, groups", "/api/search/proposals?aggregate=name", 2, false},
	{"search of projects", "/api/search/projects", 3, false},
	{"search of persons", "/api/search/persons", 3, false},
	{"search of activities", "/api/search/activities", 3, false},
	{"search of journals", "/api/search/journals", 1, false},
	{"search of conferences", "/api/search/conferences", 1, false},
	{"funding number", "/api/projects-by-funding-number?number=N1", 3, false},
	{"spectrum", "/portfolio/spectrum", 2, false},
}

// everything lets a session see all of the matrix's records.
func everything(t testing.TB) (s *proxytest.Site, session []string) {
	t.Helper()
	secret := []byte("session secret")
	s = proxytest.Open(t, matrixStore(t), matrixOptions(t, secret, false, "10.0.0.0/8"))
	return s, []string{"Authorization", "Bearer " + proxytest.Token(t, admin, secret)}
}

// TestEveryPage: count is the number of rows before paging, limit and offset are in the envelope, a
// negative offset is 0, and a page past the end is empty.
func TestEveryPage(t *testing.T) {
	s, session := everything(t)
	for _, tt := range paged {
		t.Run(tt.name, func(t *testing.T) {
			ask := func(query string) (proxytest.Envelope, int) {
				separator := "?"
				if strings.Contains(tt.target, "?") {
					separator = "&"
				}
				e := s.Get(tt.target+separator+query, session...).Envelope(t)
				if *e.Count != tt.rows {
					t.Errorf("%s: count = %d, want %d", query, *e.Count, tt.rows)
				}
				return e, len(e.Rows(t))
			}
			if e, n := ask("x"); n != tt.rows || e.Limit != nil || e.Offset != nil {
				t.Errorf("not paged: %d rows, limit %v, offset %v", n, e.Limit, e.Offset)
			}
			if e, n := ask("limit=1"); n != 1 || *e.Limit != 1 || *e.Offset != 0 {
				t.Errorf("the first: %d rows, limit %d, offset %d", n, *e.Limit, *e.Offset)
			}
			if e, n := ask("limit=1&offset=-7"); n != 1 || *e.Offset != 0 {
				t.Errorf("a negative offset: %d rows, offset %d", n, *e.Offset)
			}
			if tt.noOffset {
				return
			}
			if e, n := ask("limit=5&offset=1"); n != tt.rows-1 || *e.Limit != 5 || *e.Offset != 1 {
				t.Errorf("the rest: %d rows, limit %d, offset %d", n, *e.Limit, *e.Offset)
			}
			if _, n := ask("limit=5&offset=50"); n != 0 {
				t.Errorf("past the end: %d rows", n)
			}
		})
	}
}

// TestNoPages: endpoints without pages ignore limit and offset, even malformed ones.
func TestNoPages(t *testing.T) {
	s, session := everything(t)
	for _, target := range []string{
		"/api/all-activities?x", "/api/users/linda?x", "/api/user-units/linda?x", "/api/levenshtein?title=World",
		"/api/spectrum-activities?spectrum=Soil", "/api/events?x", "/api/conferences?x", "/api/deadlines?x",
		"/api/citation-index?user=Known", "/api/projects?full", "/api/proposals?full",
	} {
		t.Run(target, func(t *testing.T) {
			want := string(s.Get(target, session...).Body)
			for _, query := range []string{"&limit=1", "&limit=1&offset=1", "&limit=x&offset=y"} {
				if got := string(s.Get(target+query, session...).Body); got != want ||
					strings.Contains(got, `"limit"`) {
					t.Errorf("%s\ngot  %s\nwant %s", query, got, want)
				}
			}
		})
	}
}

// TestFilterForms: json overrides filter, search replaces both, and both forms of a filter mean the
// same, at every endpoint that has them.
func TestFilterForms(t *testing.T) {
	s := proxytest.Open(t, holdings(t), holdingsOptions(t))
	q := url.QueryEscape
	const moth, other = `{"title":{"$regex":"^Moth"}}`, `{"title":"nothing of that title"}`
	for _, path := range []string{"/api/projects", "/api/proposals", "/api/search/projects",
		"/api/search/proposals"} {
		t.Run(path, func(t *testing.T) {
			want := string(s.Get(path + "?json=" + q(moth)).Body)
			if !strings.Contains(want, `"count":1`) {
				t.Fatalf("the filter selects %s", want)
			}
			for name, query := range map[string]string{
				"in brackets":           "filter[title][$regex]=" + q("^Moth"),
				"json before filter":    "filter[title]=none&json=" + q(moth),
				"search before json":    "search=%20MOTHS%20&json=" + q(other),
				"search before filter":  "filter[title]=none&search=moths",
				"json with white space": "json=" + q(" \n"+moth+" "),
			} {
				if got := string(s.Get(path + "?" + query).Body); got != want {
					t.Errorf("%s: got %s, want %s", name, got, want)
				}
			}
		})
	}
}

// TestWithoutRaw: only projects and proposals are rendered, with raw or without.
func TestWithoutRaw(t *testing.T) {
	s := proxytest.Open(t, holdings(t), holdingsOptions(t))
	for _, name := range []string{"journals", "persons", "activities", "conferences"} {
		target := "/api/search/" + name
		if got, want := string(s.Get(target+"?raw").Body), string(s.Get(target).Body); got != want ||
			strings.Contains(want, `"-"`) {
			t.Errorf("%s: raw %s\nelse %s", name, got, want)
		}
	}
}

// TestSearchReadsNoModes: searches ignore full and formatted.
func TestSearchReadsNoModes(t *testing.T) {
	s := proxytest.Open(t, holdings(t), holdingsOptions(t))
	for _, name := range []string{"proposals", "projects", "journals", "persons", "activities", "conferences"} {
		target := "/api/search/" + name
		if got, want := string(s.Get(target+"?full=1&formatted=1").Body), string(s.Get(target).Body); got != want {
			t.Errorf("%s: got %s, want %s", name, got, want)
		}
	}
}

// TestHiddenIsNoFilter: no endpoint of the API omits records because of their fields hide and
// workflow.
func TestHiddenIsNoFilter(t *testing.T) {
	s := proxytest.NewStore()
	s.Publish(rules.ViewActivities, proxytest.Parse(t,
		`{"_id":1,"type":"publication","year":2024,"hide":true,"authors":[{"affiliated":true}],`+
			`"rendered":{"web":"w"}}`,
		`{"_id":2,"type":"publication","year":2024,"workflow":{"status":"rejected"},"authors":[{"affiliated":true}`+
			`],"rendered":{"web":"w"}}`)...)
	front := proxytest.Open(t, s, proxytest.Options(t))
	for _, target := range []string{"/api/activities", "/api/html", "/api/all-activities", "/api/search/activities"} {
		if e := front.Get(target).Envelope(t); *e.Count != 2 {
			t.Errorf("%s: count = %d, want 2", target, *e.Count)
		}
	}
}

// TestNoAddedIDWithoutColumns: a whole person has only the stored id.
func TestNoAddedIDWithoutColumns(t *testing.T) {
	s := proxytest.Open(t, wholeRecords(t), proxytest.Options(t))
	tests := []struct {
		target string
		id     any
	}{
		{"/api/users/ada", nil},
		{"/api/users/ada?columns[]=last", "64a0000000000000000000ee"},
	}
	for _, tt := range tests {
		var person bson.M
		if err := json.Unmarshal(s.Get(tt.target).Envelope(t).Data, &person); err != nil {
			t.Fatal(err)
		}
		if person["id"] != tt.id || person["_id"] == nil {
			t.Errorf("%s: id = %v, _id = %v", tt.target, person["id"], person["_id"])
		}
	}
}

// TestAllPersonsAreFound: searches include persons that are inactive, have no username or belong to
// no unit.
func TestAllPersonsAreFound(t *testing.T) {
	s := proxytest.NewStore()
	s.Publish(rules.ViewPersons, proxytest.Parse(t,
		`{"_id":1,"last":"A","username":"a","is_active":true,"units":[{"unit":"BIO","start":"2020-01-01",`+
			`"end":null}]}`,
		`{"_id":2,"last":"B","username":"b","is_active":false,"units":[{"unit":"BIO","start":"1990-01-01",`+
			`"end":"1991-01-01"}]}`,
		`{"_id":3,"last":"C","username":null}`,
		`{"_id":4,"last":"D","hide":true}`)...)
	e := proxytest.Open(t, s, proxytest.Options(t)).Get("/api/search/persons").Envelope(t)
	if rows := e.Rows(t); *e.Count != 4 || len(rows) != 4 {
		t.Errorf("count = %d, rows = %v", *e.Count, rows)
	}
}
