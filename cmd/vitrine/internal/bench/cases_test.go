package bench

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// words of a small institute, one or more in each list.
func few() *vocabulary {
	return &vocabulary{rows: 45, words: map[string][]string{
		"types": {"lecture", "publication"}, "users": {"a", "b", "c", "d", "e", "f", "g", "h", "i", "j"}, "units": {"N&S", "X"},
		"spectra": {"Light / Night"}, "days": {"2020-01-01", "2021-01-01", "2022-01-01", "2023-01-01"}, "positions": {"first", "last"},
		"titles": {"The dark side of the light"}, "prefixes": {"The da", "The dark (", "Thx"}, "infixes": {"dark side", "dark sid"},
		"patterns": {"dark[a-z]* side", "dark[a-z]* sid"}, "persons": {"juk20re"}, "ids": {"6222925f11fe5694aadce6b7"}, "numbers": {"DFG 1/2"},
	}}
}

// TestCases checks what a case asks over HTTP and of another server.
func TestCases(t *testing.T) {
	tests := []struct {
		name       string
		path       string // of the second request, unescaped
		collection string // "": no server is asked
		filter     string // Extended JSON; "": none
		limit      int64
		index      string
	}{
		{"list", "/api/activities?limit=20", "activities", "", 20, "year"},
		{"list-filtered", `/api/activities?limit=20&json={"type":"publication","year":{"$gte":2020}}`, "activities", `{"type":"publication","year":{"$gte":2020}}`, 20, "year"},
		{"list-304", "/api/activities?limit=20", "", "", 0, ""},
		{"list-pages", "/api/activities?limit=20&offset=20", "activities", "", 20, "year"},
		{"filter-equality", `/api/activities?limit=20&json={"authors.user":"b","type":"lecture","units":"N\u0026S","affiliated":true}`,
			"activities", `{"authors.user":"b","type":"lecture","units":"N&S","affiliated":true}`, 20, "authors.user"},
		{"filter-range", `/api/activities?limit=20&json={"start_date":{"$gte":"2021-01-01","$lt":"2022-01-01"}}`,
			"activities", `{"start_date":{"$gte":"2021-01-01","$lt":"2022-01-01"}}`, 20, "start_date"},
		{"filter-in", `/api/activities?limit=20&json={"authors.user":{"$in":["b","c","d","e","f"]}}`,
			"activities", `{"authors.user":{"$in":["b","c","d","e","f"]}}`, 20, "authors.user"},
		{"filter-prefix", `/api/activities?limit=20&json={"title":{"$regex":"^The dark \\("}}`, "activities", `{"title":{"$regex":"^The dark \\("}}`, 20, "title"},
		{"filter-infix", `/api/activities?limit=20&json={"title":{"$regex":"dark sid","$options":"i"}}`,
			"activities", `{"title":{"$regex":"dark sid","$options":"i"}}`, 20, ""},
		{"filter-elem", `/api/activities?limit=20&json={"authors":{"$elemMatch":{"user":"b","position":"first"}},"start_date":{"$gte":"2020-01-01"}}`,
			"activities", `{"authors":{"$elemMatch":{"user":"b","position":"first"}},"start_date":{"$gte":"2020-01-01"}}`, 20, "authors.user"},
		{"filter-mixed", `/api/activities?limit=20&json={"start_date":{"$gte":"2020-01-01","$lt":"2023-01-01"}}`, "", "", 0, ""},
		{"columns", "/api/activities?limit=20&columns[]=title&columns[]=year&columns[]=doi", "activities", "", 20, "year"},
		{"aggregate-fresh", `/api/activities?aggregate=authors.user&json={"start_date":{"$gte":"2021-01-01","$lt":"2022-01-01"}}`, "", "", 0, ""},
		{"all-gzip", "/api/all-activities", "", "", 0, ""},
		{"full", "/api/activities?full=1", "", "", 0, ""},
		{"users", "/api/users/juk20re", "persons", `{"username":"juk20re"}`, 1, "username"},
		{"users-id", "/api/users/6222925f11fe5694aadce6b7", "persons", `{"_id":{"$oid":"6222925f11fe5694aadce6b7"}}`, 1, "_id"},
		{"spectrum-activities", "/api/spectrum-activities?spectrum=Light / Night", "", "", 0, ""},
		{"levenshtein", "/api/levenshtein?title=The side of the light 1", "", "", 0, ""},
		{"funding", "/api/projects-by-funding-number?number=DFG 1/2", "projects", `{"funding_number":"DFG 1/2"}`, 0, "funding_number"},
		{"search-journals", "/api/search/journals?limit=20", "", "", 0, ""},
		{"events", "/api/events", "", "", 0, ""},
	}
	cases := few().cases()
	for _, tt := range tests {
		i := slices.IndexFunc(cases, func(c Case) bool { return c.Name == tt.name })
		if i < 0 {
			t.Errorf("there is no case %s", tt.name)
			continue
		}
		c := cases[i]
		path, err := url.PathUnescape(strings.ReplaceAll(c.Path(1), "+", " "))
		if err != nil || path != tt.path {
			t.Errorf("%s: path %s, %v; want %s", tt.name, path, err, tt.path)
		}
		if (c.Query == nil) != (tt.collection == "") || strings.Join(c.Index, ",") != tt.index {
			t.Errorf("%s: asks a server: %t, index %v", tt.name, c.Query != nil, c.Index)
		}
		if c.Query == nil {
			continue
		}
		q, err := c.Query(1)
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
		}
		if got := c.Server.Collection; got != tt.collection && (got != "" || tt.collection != collectionActivities) {
			t.Errorf("%s: collection %q", tt.name, got)
		}
		var want bson.Raw
		if tt.filter != "" {
			if err := bson.UnmarshalExtJSON([]byte(tt.filter), false, &want); err != nil {
				t.Fatal(err)
			}
		}
		if !slices.Equal(q.Filter, want) || q.Limit != tt.limit {
			t.Errorf("%s: filter %v, limit %d; want %v, %d", tt.name, q.Filter, q.Limit, want, tt.limit)
		}
	}
}

// TestPaths checks that the rounds of a fresh case share no question, and that none asks
// the very first one, which was asked already.
func TestPaths(t *testing.T) {
	numbered := func(n int) string { return fmt.Sprint(n) }
	tests := []struct {
		name string
		c    Case
		want []string // by round
	}{
		{"fresh", Case{Supply: 8, Fresh: true, Path: numbered}, []string{"1 2 3", "4 5 6"}},
		{"fresh, with one left over", Case{Supply: 6, Fresh: true, Path: numbered}, []string{"1 2", "3 4"}},
		{"fresh, one alone", Case{Supply: 1, Fresh: true, Path: numbered}, []string{"", ""}},
		{"again and again", Case{Supply: 1, Path: numbered}, []string{"0", "0"}},
		{"in turn", Case{Supply: 3, Path: numbered}, []string{"0 1 2", "0 1 2"}},
	}
	for _, tt := range tests {
		b := &bench{Options: Options{Rounds: 2}}
		for round, want := range tt.want {
			if got := strings.Join(b.paths(tt.c, round), " "); got != want {
				t.Errorf("%s, round %d: got %q, want %q", tt.name, round, got, want)
			}
		}
	}
	if n := len((&bench{Options: Options{Rounds: 2}}).paths(Case{Supply: 1 << 30, Fresh: true, Path: numbered}, 1)); n != mostPaths {
		t.Errorf("a round is given %d paths, want %d", n, mostPaths)
	}
}

// TestTraffic checks that one request in ten is new, and that no round repeats another's.
func TestTraffic(t *testing.T) {
	v := words(t)
	popular := v.popular()
	seen := map[string]int{}
	for round := range 2 {
		paths := v.traffic(round)[:2000]
		fresh := 0
		for _, path := range paths {
			if slices.Contains(popular, path) {
				continue
			}
			fresh++
			if before, ok := seen[path]; ok && before != round {
				t.Errorf("round %d repeats %s of round %d", round, path, before)
			}
			seen[path] = round
		}
		if fresh != len(paths)/10 {
			t.Errorf("round %d: %d of %d requests are new", round, fresh, len(paths))
		}
	}
	if len(popular) < 30 {
		t.Errorf("%d popular paths", len(popular))
	}
	if paths := (&vocabulary{}).traffic(0); len(paths) == 0 {
		t.Error("without words there is no traffic")
	}
}
