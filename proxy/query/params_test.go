package query_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"vitrine/proxy/query"
)

// TestParameters: the values that each reader reads from a query string.
func TestParameters(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		read       func(query.Params) any
		want       any
	}{
		{"the last of several texts", "a=1&a=2", func(p query.Params) any { return p.Text("a") }, "2"},
		{"no text", "b=1", func(p query.Params) any { return p.Text("a") }, ""},
		{"given without a value", "a", func(p query.Params) any { return p.Has("a") }, true},
		{"given as a list", "a[]=1", func(p query.Params) any { return p.Has("a") }, true},
		{"not given", "aa=1", func(p query.Params) any { return p.Has("a") }, false},
		{"a flag without a value", "a", func(p query.Params) any { return p.Flag("a") }, true},
		{"a flag that is on", "a= Yes ", func(p query.Params) any { return p.Flag("a") }, true},
		{"a flag that is off", "a=OFF", func(p query.Params) any { return p.Flag("a") }, false},
		{"no flag", "", func(p query.Params) any { return p.Flag("a") }, false},
		{"an integer", "a=%2B7 ", func(p query.Params) any { return p.Integer("a") }, 7},
		{"an empty integer", "a= ", func(p query.Params) any { return p.Integer("a") }, 0},
		{"a page", "limit=10&offset=20", func(p query.Params) any { return p.Page() },
			query.Page{Limit: 10, Offset: 20}},
		{"an offset below 0", "limit=10&offset=-1", func(p query.Params) any { return p.Page() },
			query.Page{Limit: 10}},
		{"an offset without a limit", "offset=5", func(p query.Params) any { return p.Page() }, query.Page{}},
		{"a limit below 0", "limit=-1&offset=5", func(p query.Params) any { return p.Page() }, query.Page{}},
		{"a language", "lang=de", func(p query.Params) any { p.CheckLanguage(); return p.Language() }, "de"},
		{"the path of a field", "a= b.c ", func(p query.Params) any { return p.Field("a") }, "b.c"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := read(tt.text)
			if got := tt.read(p); got != tt.want || p.Err() != nil {
				t.Errorf("%q is %v, %v, want %v", tt.text, got, p.Err(), tt.want)
			}
		})
	}
}

// TestValues: the three ways to write several values.
func TestValues(t *testing.T) {
	for text, want := range map[string][]string{
		"a[]=x&b[]=z&a[]=y": {"x", "y"},
		"a[0]=x&a[12]=y":    {"x", "y"},
		"a=x,y":             {"x", "y"},
		"a=x,,&a[]=y,z":     {"x", "", "", "y,z"},
		"b=x":               nil,
	} {
		p := read(text)
		if got := p.Values("a"); !slices.Equal(got, want) || p.Err() != nil {
			t.Errorf("%q has %q, %v, want %q", text, got, p.Err(), want)
		}
	}
}

// TestFirstErrorCounts: later reads change neither the error nor the values read before it.
func TestFirstErrorCounts(t *testing.T) {
	p := read("limit=x&full=maybe&filter[a=1&columns=a,a.b&offset=7")
	if page := p.Page(); page != (query.Page{}) {
		t.Errorf("page = %v", page)
	}
	p.Flag("full")
	p.Columns()
	if f := reader().Filter(p, ""); f == nil {
		t.Error("no filter")
	}
	if err := p.Err(); err == nil || !strings.HasPrefix(err.Error(), "limit: want an integer") {
		t.Errorf("err = %v", err)
	}
	if p := read("limit=1"); p.Page().Limit != 1 || p.Err() != nil {
		t.Errorf("another query string: %v", p.Err())
	}
}

// TestColumns: two lists of columns have the same key exactly if they mean the same columns.
func TestColumns(t *testing.T) {
	groups := [][]string{
		{"a,b", "a, b ,,", "a,b,a"},
		{"b,a"},
		{"a.b,c,a.d.e", "a.d.e,a.b,c", "a.b,a.d.e,c"},
		{"a.b,c,a.d"},
		{"a.b.d.e,c"},
		{"a"},
		{"a b"},
		{`a" "b`},
		{"a:b"},
	}
	keys := map[string]int{}
	for i, group := range groups {
		for _, names := range group {
			p := read("columns=" + names)
			key := p.Columns().Key()
			if key != p.StoredColumns("x").Key() || p.Err() != nil {
				t.Errorf("%s: stored columns differ: %v", names, p.Err())
			}
			if other, known := keys[key]; known && other != i {
				t.Errorf("%s has the key of %s", names, groups[other])
			}
			keys[key] = i
		}
	}
	if len(keys) != len(groups) {
		t.Errorf("%d keys of %d groups", len(keys), len(groups))
	}
}

// TestColumnNames: which columns lead a row, and which are the default.
func TestColumnNames(t *testing.T) {
	for _, tt := range []struct{ text, columns, stored string }{
		{"", "", "x y"},
		{"columns[]=b&columns[]=a&columns[]=b", "b a", "b a"},
		{"columns=a.b,c,a.d.e", "a c", "a c"},
		{"columns=id", "id", "id"},
		{"columns=id,a", "a", "id a"},
	} {
		p := read(tt.text)
		names := func(columns query.Columns) string {
			var all []string
			for _, c := range columns {
				all = append(all, c.Name)
			}
			return strings.Join(all, " ")
		}
		if got := names(p.Columns()); got != tt.columns || p.Err() != nil {
			t.Errorf("%q: columns %s, %v, want %s", tt.text, got, p.Err(), tt.columns)
		}
		if got := names(p.StoredColumns("x", "y.z")); got != tt.stored || p.Err() != nil {
			t.Errorf("%q: stored columns %s, %v, want %s", tt.text, got, p.Err(), tt.stored)
		}
	}
}

// TestPaths: an answer depends on the stored fields that its parameters name.
func TestPaths(t *testing.T) {
	p := read("columns=id,web,doi&aggregate=type&filter[authors.user]=a&filter[$or][0][year][$gt]=1")
	p.Columns("web")
	p.Field("aggregate")
	reader().Filter(p, "")
	got := p.Paths()
	slices.Sort(got)
	if want := []string{"authors.user", "doi", "type", "year"}; !slices.Equal(slices.Compact(got), want) ||
		p.Err() != nil {
		t.Errorf("paths %q, %v, want %q", got, p.Err(), want)
	}
	many := make([]string, 12)
	for i := range many {
		many[i] = strings.Repeat("x", i+1)
	}
	ignored := query.IgnoredPaths(append(many, "x"))
	if !strings.HasPrefix(ignored, "x (no record has it), xx (no record has it)") ||
		!strings.HasSuffix(ignored, ", and 4 more") {
		t.Errorf("ignored %s", ignored)
	}
}

// TestCut: a page lies within its rows, however large limit and offset are.
func TestCut(t *testing.T) {
	for _, tt := range []struct{ limit, offset, rows, from, to int }{
		{0, 0, 5, 0, 5}, {2, 0, 5, 0, 2}, {2, 4, 5, 4, 5}, {2, 5, 5, 5, 5}, {2, 9, 5, 5, 5}, {3, 0, 0, 0, 0},
		{math.MaxInt, math.MaxInt, 5, 5, 5}, {math.MaxInt, 3, 5, 3, 5},
	} {
		if from, to := (query.Page{Limit: tt.limit, Offset: tt.offset}).Cut(tt.rows); from != tt.from || to != tt.to {
			t.Errorf("limit %d, offset %d of %d: %d to %d, want %d to %d", tt.limit, tt.offset, tt.rows, from, to,
				tt.from, tt.to)
		}
	}
}

// TestPrintable: a message quotes client text shortened and as valid UTF-8.
func TestPrintable(t *testing.T) {
	for text, want := range map[string]string{
		"":                              "",
		"short":                         "short",
		"a\xffb":                        "a\uFFFDb",
		strings.Repeat("a", 60):         strings.Repeat("a", 60),
		strings.Repeat("a", 61):         strings.Repeat("a", 60) + "…",
		strings.Repeat("a", 59) + "äbc": strings.Repeat("a", 59) + "…",
		strings.Repeat("ä", 31):         strings.Repeat("ä", 30) + "…",
	} {
		if got := query.Printable(text); got != want {
			t.Errorf("%q is printed as %q, want %q", text, got, want)
		}
	}
}
