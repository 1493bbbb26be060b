package bench

import (
	"net/url"
	"slices"
	"strings"
	"testing"
)

// few are the words of a small institute.
func few() *vocabulary {
	return &vocabulary{rows: 35, words: map[string][]string{
		"type": {"lecture", "publication"}, "authors.user": {"a", "b"}, "units": {"N&S"},
		"spectrum.display_name": {"Light / Night"},
		"start_date":            {"2020-01-01", "2021-01-01", "2022-01-01"}, "authors.position": {"first"},
		"title":    {"The (nights lights) side"},
		"username": {"juk20re"}, "_id": {"6222925f11fe5694aadce6b7"}, "funding_number": {"DFG 1/2"},
	}}
}

// TestCases checks the paths that a case requests.
func TestCases(t *testing.T) {
	tests := []struct{ name, path string }{ // one of the case's paths, unescaped
		{"list", "/api/activities?limit=20"},
		{"list-filtered", `/api/activities?limit=20&json={"type":"publication","year":{"$gte":2020}}`},
		{"list-304", "/api/activities?limit=20"},
		{"list-pages", "/api/activities?limit=20&offset=20"},
		{"filter-equality",
			`/api/activities?limit=20&json={"authors.user":"b","type":"lecture","units":"N\u0026S","affiliated":true}`},
		{"filter-range", `/api/activities?limit=20&json={"start_date":{"$gte":"2021-01-01","$lt":"2022-01-01"}}`},
		{"filter-in", `/api/activities?limit=20&json={"authors.user":{"$in":["a","b"]}}`},
		{"filter-prefix", `/api/activities?limit=20&json={"title":{"$regex":"^The \\(n"}}`},
		{"filter-scan", `/api/activities?limit=20&json={"title":{"$regex":"[n-o][`},
		{"filter-infix", `/api/activities?limit=20&json={"title":{"$regex":"nights light","$options":"i"}}`},
		{"filter-elem",
			`/api/activities?limit=20&json={"authors":{"$elemMatch":{"user":"b","position":"first"}},` +
				`"start_date":{"$gte":"2020-01-01"}}`},
		{"filter-mixed", `/api/activities?limit=20&json={"start_date":{"$gte":"2020-01-01","$lt":"2022-01-01"}}`},
		{"columns", "/api/activities?limit=20&columns[]=title&columns[]=year&columns[]=doi"},
		{"aggregate-fresh",
			`/api/activities?aggregate=authors.user&json={"start_date":{"$gte":"2021-01-01","$lt":"2022-01-01"}}`},
		{"all-gzip", "/api/all-activities"},
		{"full", "/api/activities?full=1"},
		{"users", "/api/users/juk20re"},
		{"users-id", "/api/users/6222925f11fe5694aadce6b7"},
		{"spectrum-activities", "/api/spectrum-activities?spectrum=Light / Night"},
		{"levenshtein", "/api/levenshtein?title=The (nights side"},
		{"funding", "/api/projects-by-funding-number?number=DFG 1/2"},
		{"search-journals", "/api/search/journals?limit=20"},
		{"events", "/api/events"},
	}
	v, dice := few(), dice()
	for _, tt := range tests {
		c, path := caseNamed(tt.name), ""
		for tries := 0; tries < 5000 && !strings.HasPrefix(path, tt.path); tries++ {
			path, _ = v.question(c, dice)
			path, _ = url.PathUnescape(strings.ReplaceAll(path, "+", " "))
		}
		if !strings.HasPrefix(path, tt.path) {
			t.Errorf("%s: never requests %s, but %s", tt.name, tt.path, path)
		}
	}
}

// TestDraw checks how many paths of a case are drawn.
func TestDraw(t *testing.T) {
	tests := []struct {
		name  string
		words *vocabulary
		want  int // the test draws at most 50
	}{
		{"list", few(), 1},       // always the same path
		{"list-pages", few(), 2}, // all pages
		{"users", few(), 1},
		{"filter-range", few(), 3},
		{"levenshtein", few(), 50}, // more than enough
		{"filter-range", &vocabulary{}, 0},
		{"filter-in", &vocabulary{}, 0},
		{"filter-infix", &vocabulary{}, 0},
		{"levenshtein", &vocabulary{}, 0},
		{"users-id", &vocabulary{}, 0},
		{"list-pages", &vocabulary{}, 1},
	}
	for _, tt := range tests {
		b := benchOf(tt.words)
		c := caseNamed(tt.name)
		if got := b.draw(c, 50); len(got) != tt.want {
			t.Errorf("%s: drew %q, want %d", tt.name, got, tt.want)
		}
		again := b.draw(c, 50)
		if c.Fresh && tt.want < 50 && len(again) > 0 {
			t.Errorf("%s: drew %q again", tt.name, again)
		}
	}
}

// TestTraffic: one request in ten is new, and no round repeats the new requests of another.
func TestTraffic(t *testing.T) {
	b := benchOf(words(t))
	popular := b.draw(Case{Mixes: popularCases}, 50)
	seen := map[string]bool{}
	for round := range 2 {
		paths := b.traffic(popular)[:2000]
		fresh := 0
		for _, path := range paths {
			if slices.Contains(popular, path) {
				continue
			}
			if fresh++; seen[path] {
				t.Errorf("round %d repeats %s", round, path)
			}
			seen[path] = true
		}
		if fresh != len(paths)/10 {
			t.Errorf("round %d: %d of %d requests are new", round, fresh, len(paths))
		}
	}
	if len(popular) < 30 {
		t.Errorf("%d popular paths", len(popular))
	}
	none := benchOf(&vocabulary{})
	if paths := none.traffic(none.draw(Case{Mixes: popularCases}, 50)); len(paths) == 0 {
		t.Error("without words there is no traffic")
	}
}
