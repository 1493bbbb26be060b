package query_test

import (
	"errors"
	"net/url"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/proxy/query"
	"vitrine/rules"
	"vitrine/rules/ejson"
	"vitrine/rules/filter"
)

// read parses a query string as written in a URL; text that is not encoded stays as it is.
func read(text string) query.Params {
	return query.Read(func(yield func(name, value []byte) bool) {
		for pair := range strings.SplitSeq(text, "&") {
			name, value, _ := strings.Cut(pair, "=")
			if !yield(decoded(name), decoded(value)) {
				return
			}
		}
	})
}

func decoded(text string) []byte {
	if plain, err := url.QueryUnescape(text); err == nil {
		text = plain
	}
	return []byte(text)
}

func reader() query.Reader {
	return query.Reader{Now: func() time.Time { return time.Unix(1700000000, 0) }}
}

// TestBracketsAreConditions: a query in brackets means the same as in JSON.
func TestBracketsAreConditions(t *testing.T) {
	for brackets, json := range map[string]string{
		"filter[type]=lecture": `{"type":{"$eq":"lecture"}}`,
		"filter[year]=2021":    `{"year":{"$in":["2021",{"$numberLong":"2021"}]}}`,
		"filter[code]=007":     `{"code":{"$eq":"007"}}`,
		"filter[x]=null":       `{"x":{"$in":["null",null]}}`,
		"filter[year][$gt]=2020": `{"$or":[{"year":{"$gt":"2020"}},` +
			`{"year":{"$gt":{"$numberLong":"2020"}}}]}`,
		"filter[year][$ne]=1":                           `{"year":{"$nin":["1",{"$numberLong":"1"}]}}`,
		"filter[type][$in][1]=b&filter[type][$in][0]=a": `{"type":{"$in":["a","b"]}}`,
		"filter[type][$in][]=a&filter[type][$in][]=b":   `{"type":{"$in":["a","b"]}}`,
		"filter[$or][0][a]=x&filter[$or][1][b]=y":       `{"$or":[{"a":{"$eq":"x"}},{"b":{"$eq":"y"}}]}`,
		"filter[t][$regex]=^a&filter[t][$options]=i":    `{"t":{"$regex":"^a","$options":"i"}}`,
		"filter[a][$exists]=0":                          `{"a":{"$exists":false}}`,
		"filter[a][$all][]=x&filter[a][$all][]=y":       `{"$and":[{"a":{"$eq":"x"}},{"a":{"$eq":"y"}}]}`,
		"filter[a][$not][$regex]=x":                     `{"$nor":[{"a":{"$regex":"x"}}]}`,
		"filter[a][$elemMatch][b]=x":                    `{"a":{"$elemMatch":{"b":{"$eq":"x"}}}}`,
		"filter[a][$elemMatch][$gt]=1": `{"$or":[{"a":{"$elemMatch":{"$gt":"1"}}},` +
			`{"a":{"$elemMatch":{"$gt":{"$numberLong":"1"}}}}]}`,
		"filter[d][$gte][$date]=2018-02-03":                 `{"d":{"$gte":{"$date":"2018-02-03T00:00:00Z"}}}`,
		"filter[i][$oid]=64a000000000000000000008":          `{"i":{"$oid":"64a000000000000000000008"}}`,
		"filter[a]=x&json={\"b\":{\"$eq\":\"y\"}}&filter=z": `{"b":{"$eq":"y"}}`,
		"filter=":    `{}`,
		"other[a]=x": `{}`,
	} {
		p := read(brackets)
		got := reader().Filter(p, "")
		if err := p.Err(); err != nil {
			t.Errorf("%s: %v", brackets, err)
			continue
		}
		want, err := filter.Parse([]byte(json), filter.Options{HexIDs: true})
		if err != nil {
			t.Fatal(err)
		}
		if got.Key() != want.Key() {
			t.Errorf("%s is %q, want %q", brackets, got.Key(), want.Key())
		}
	}
}

// TestCasts: some top-level fields have their own type.
func TestCasts(t *testing.T) {
	projects := func(p query.Params) *filter.Filter { return reader().Filter(p, "projects") }
	for _, tt := range []struct {
		read       func(query.Params) *filter.Filter
		text, json string
	}{
		{projects, "filter[projects]=64a000000000000000000008", `{"projects":{"$oid":"64a000000000000000000008"}}`},
		{projects, `json={"projects":"64a000000000000000000008"}`,
			`{"projects":{"$oid":"64a000000000000000000008"}}`},
		{projects, "filter[projects]=SOIL", `{"projects":"SOIL"}`},
		{projects, `json={"projects":{"$ne":1}}`, `{"projects":{"$ne":1}}`},
		{reader().SearchFilter, "filter[public]=false", `{"public":true}`},
		{reader().SearchFilter, "filter[public]=0", `{"public":false}`},
		{reader().SearchFilter, `json={"public":0}`, `{"public":false}`},
		{reader().SearchFilter, `json={"public":null}`, `{"public":false}`},
		{reader().SearchFilter, `json={"public":{"$ne":1}}`, `{"public":{"$ne":1}}`},
		{reader().SearchFilter, `search=so.l&json={`, `{"title":{"$regex":"so.l","$options":"i"}}`},
		{reader().SearchFilter, `filter[public]=x`, `{"public":true}`},
		{reader().SearchFilter, `json={"$and":[]}`, `{}`},
		{reader().SearchFilter, `json={"$and":[],"a":1}`, `{"a":1}`},
		{reader().SearchFilter, `json={"$and":[{"a":1}]}`, `{"a":1}`},
	} {
		p := read(tt.text)
		got := tt.read(p)
		if err := p.Err(); err != nil {
			t.Errorf("%s: %v", tt.text, err)
			continue
		}
		want, err := filter.Parse([]byte(tt.json), filter.Options{HexIDs: true})
		if err != nil {
			t.Fatal(err)
		}
		if got.Key() != want.Key() {
			t.Errorf("%s is %q, want %q", tt.text, got.Key(), want.Key())
		}
	}
}

// TestRefusals: the error for a wrong query names the parameter at fault.
func TestRefusals(t *testing.T) {
	many := strings.Repeat("&filter[a][$in][]=x", 513)[1:]
	for text, want := range map[string]string{
		"limit=x":                              "limit: want an integer",
		"limit=99999999999999999999":           "limit: \"99999999999999999999\" is out of range",
		"limit[]=1":                            "limit: takes one value",
		"limit=%ff":                            "limit: is not valid UTF-8",
		"full=maybe":                           "full: want 1 or 0",
		"lang=tlh":                             "lang: want one of",
		"columns[a]=x":                         "columns: [a]: want columns[]=value",
		"columns=a..b":                         "columns: a..b: is not the path",
		"columns=$a":                           "columns: $a: is not the path",
		"columns=a,a.b":                        "columns: a.b: collides",
		"columns=id,id.x":                      "columns: id.x: collides",
		"columns=" + strings.Repeat("a", 257):  "is longer than 256 bytes",
		"columns=" + strings.Repeat("a.", 16):  "has more than 16 parts",
		"columns=" + strings.Repeat("a,", 65):  "columns: asks for more than 64",
		"filter=x":                             "filter: want bracket notation",
		"filter[0]=x":                          "filter: want named conditions",
		"filter[a=x":                           "filter: filter[a: brackets do not match",
		"filter[a]=x&filter[a]=y":              "filter[a]: is given twice",
		"filter[a]=x&filter[a][b]=y":           "is given both a value and conditions",
		"filter[a][]=x&filter[a][b]=y":         "mixes [] with named brackets",
		"filter[%00]=x":                        "has a zero byte",
		"filter" + strings.Repeat("[a]", 13):   "is nested deeper than 12 brackets",
		"filter[a]=%ff":                        "filter: is not valid UTF-8",
		"filter[a][$oid]=x":                    "filter: a.$oid: want 24 hex digits",
		"filter[a][$gt][$date]=x":              "filter: a.$gt.$date: want a date",
		"filter[a][$nope]=x":                   "filter: a.$nope",
		many:                                   "filter: has more than 512 conditions",
		"json={":                               "json: ",
		"aggregate=a b&columns=b&aggregate[]=": "aggregate: takes one value",
	} {
		if err := everything(read(text)); err == nil || !strings.Contains(err.Error(), want) ||
			!errors.Is(err, rules.ErrWrongCall) {
			t.Errorf("%.60s: %v, want %s", text, err, want)
		}
	}
}

// everything calls all readers and returns their errors.
func everything(p query.Params) error {
	p.Page()
	p.CheckLanguage()
	p.Flag("full")
	p.Columns()
	p.StoredColumns()
	p.Field("aggregate")
	reader().Filter(p, "projects")
	reader().SearchFilter(p)
	return p.Err()
}

// TestProject: columns select what MongoDB's inclusion projection selects.
func TestProject(t *testing.T) {
	doc, err := ejson.Parse([]byte(`{"v":[{"b":1,"c":{"d":2,"e":3}},4,[{"b":5},6],{"x":7}]}`), ejson.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for columns, want := range map[string]string{
		"v":          `[{"b":1,"c":{"d":2,"e":3}},4,[{"b":5},6],{"x":7}]`,
		"v.b":        `[{"b":1},[{"b":5}],{}]`,
		"v.c.e":      `[{"c":{"e":3}},[{}],{}]`,
		"v.c.d,v.b":  `[{"b":1,"c":{"d":2}},[{"b":5}],{}]`,
		"v.nope":     `[{},[{}],{}]`,
		"w.b":        ``,
		"v.c.d,v.cc": `[{"c":{"d":2}},[{}],{}]`,
	} {
		p := read("columns=" + columns)
		all := p.Columns()
		if p.Err() != nil || len(all) != 1 {
			t.Fatalf("%s: %v, %v", columns, all, p.Err())
		}
		got := ""
		if v, ok := all[0].Project(doc.Lookup(all[0].Name)); ok {
			got = string(ejson.Append(nil, v))
		}
		if got != want {
			t.Errorf("%s shows %s, want %s", columns, got, want)
		}
	}
	all := read("columns=n.b").Columns()
	if v, ok := all[0].Project(bson.RawValue{Type: bson.TypeNull}); ok {
		t.Errorf("part of a scalar: %v", v)
	}
}

// TestIgnored: the answer names parameters that nothing reads, with suggestions.
func TestIgnored(t *testing.T) {
	for text, want := range map[string]string{
		"limit=1&columns[]=a":          "",
		"limit=1&columns[]=a&apikey=x": "apikey",
		"limit=-5&offset=-1":           "limit=-5 (is negative), offset=-1 (is negative)",
		"limit=0&offset=-1":            "offset=-1 (is negative)",
		"limt=1":                       "limt (did you mean limit?)",
		"full=1&full=0":                "full",
		"page=mine":                    "page=mine (did you mean page=mines?)",
		"":                             "",
	} {
		p := read(text)
		_ = everything(p)
		p.MarkUnused("full")
		page := p.Text("page")
		p.MarkUnknown("page", page, "mines")
		if got := p.Ignored(); got != want {
			t.Errorf("%q ignores %q, want %q", text, got, want)
		}
	}
}

// FuzzRead: no query string makes the readers panic, every error names the mistake, and a page lies
// within its rows.
func FuzzRead(f *testing.F) {
	for _, seed := range []string{
		"", "limit=1&offset=2", "full&lang=de", "columns[]=authors.user&columns=web,print", "aggregate=authors.user",
		"filter[year][$gte]=2020&filter[$or][0][type]=x",
		"filter[type][$in][]=a&filter[_id][$oid]=64a000000000000000000001",
		"filter[a][$elemMatch][$gte]=1&filter[a][$not][$all][]=x", "filter[%00]=1&columns[]=%ff",
		"filter[public]=0&filter[projects]=64a000000000000000000001",
		`json={"public":{"$ne":1},"projects":"64a000000000000000000001"}`, "search=^a", "&&=&a[=]&[]=1",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		p := read(text)
		if err := everything(p); err != nil && !errors.Is(err, rules.ErrWrongCall) {
			t.Fatalf("%q: %v", text, err)
		}
		p = read(text)
		if g := p.Page(); p.Err() == nil {
			if from, to := g.Cut(7); from < 0 || from > to || to > 7 {
				t.Fatalf("%q: rows %d to %d of 7", text, from, to)
			}
		}
		_ = p.Ignored()
	})
}
