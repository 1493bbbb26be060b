package api_test

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"vitrine/proxy/proxytest"

	"pgregory.net/rapid"
)

// TestBracketReadings: a value in brackets matches both as a string and as the value that its text
// denotes.
func TestBracketReadings(t *testing.T) {
	s := proxytest.Open(t, proxytest.Institute(t), proxytest.Options(t))
	tests := []struct {
		name, filter string // filter is the query string without escapes
		ids          string
	}{
		{"a string", "filter[type]=lecture", "8"},
		{"a number matches number and string", "filter[year]=2021", "7 1"},
		{"a number with an exponent", "filter[year]=2.021e3", "1"},
		{"a code matches only as text", "filter[code]=007", "42"},
		{"and is no number", "filter[room]=007", ""},
		{"a value that reads as a number", "filter[room]=7", "42"},
		{"a boolean", "filter[flag]=true", "42"},
		{"null matches null and missing", "filter[year]=null", "42 b"},
		{"two fields", "filter[type]=publication&filter[year]=2022", "2 3 5"},
		{"a dotted path", "filter[authors.user]=bob&filter[type]=publication", "2 3"},
		{"$gte on both readings", "filter[year][$gte]=2021", "7 8 9 2 3 5 1"},
		{"a range", "filter[year][$gt]=2020&filter[year][$lt]=2022", "7 1"},
		{"$ne on both readings", "filter[year][$ne]=2021&filter[type]=publication", "2 3 5 4 f 6"},
		{"$eq", "filter[year][$eq]=2021", "7 1"},
		{"$ne and $nin together", "filter[type]=publication&filter[year][$ne]=2021&filter[year][$nin][]=2022",
			"4 f 6"},
		{"$in", "filter[year][$in][]=2021&filter[year][$in][]=1989", "7 1 6"},
		{"$in by index", "filter[type][$in][1]=lecture&filter[type][$in][0]=review", "8 9 a"},
		{"$nin", "filter[type][$nin][]=publication&filter[type][$nin][]=misc", "8 9 a"},
		{"$or", "filter[$or][0][type]=lecture&filter[$or][1][year]=1989", "8 6"},
		{"$or by appending", "filter[$or][][type]=lecture&filter[$or][][year]=1989", "8 6"},
		{"$nor", "filter[$nor][0][type]=publication&filter[$nor][1][type]=misc", "8 9 a"},
		{"$and beside a field",
			"filter[type]=publication&filter[$and][0][year][$gte]=2022&filter[$and][1][year][$lte]=2022", "2 3 5"},
		{"$exists true", "filter[room][$exists]=1", "42"},
		{"$exists false", "filter[rendered][$exists]=false", "b"},
		{"$regex with $options", "filter[title][$regex]=^SOIL&filter[title][$options]=i", "2"},
		{"$regex of digits stays text", "filter[start_date][$regex]=2021", "1"},
		{"$size", "filter[authors][$size]=0", "a"},
		{"$type by name", "filter[year][$type]=string", "7"},
		{"$type by number", "filter[year][$type]=2", "7"},
		{"$mod", "filter[year][$mod][]=1000&filter[year][$mod][]=989", "6"},
		{"$all", "filter[units][$all][]=BIO&filter[units][$all][]=CHE", "1"},
		{"$not", "filter[year][$not][$gte]=2000&filter[type]=publication", "6"},
		{"$not around text and number", "filter[year][$not][$gte]=2021&filter[type]=publication", "4 f 6"},
		{"$elemMatch on documents", "filter[authors][$elemMatch][user]=bob&filter[authors][$elemMatch][affiliated]=1",
			"3"},
		{"$elemMatch with $or",
			"filter[authors][$elemMatch][$or][0][aoi]=1&filter[authors][$elemMatch][$or][1][aoi]=true", "2 4"},
		{"$elemMatch on values", "filter[units][$elemMatch][$gte]=C&filter[units][$elemMatch][$lt]=D", "8 1"},
		{"a whole document", "filter[workflow][status]=verified", "1"},
		{"a whole list", "filter[units][]=BIO&filter[units][]=CHE", "1"},
		{"a date", "filter[when][$gte][$date]=2018-02-03&filter[when][$lt][$date]=2018-02-03T05:00:00Z",
			"named-record"},
		{"an ObjectID in a list", "filter[_id][$in][0][$oid]=64a000000000000000000008", "8"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			res := s.Get("/api/activities?" + escaped(tt.filter))
			if res.StatusCode != 200 {
				t.Fatalf("status %d: %s", res.StatusCode, res.Body)
			}
			if got := res.Envelope(t).IDs(t); got != tt.ids {
				t.Errorf("ids = %q, want %q", got, tt.ids)
			}
		})
	}
}

// escaped turns a readable query string into a valid one.
func escaped(query string) string {
	pairs := strings.Split(query, "&")
	for i, pair := range pairs {
		name, value, _ := strings.Cut(pair, "=")
		pairs[i] = url.QueryEscape(name) + "=" + url.QueryEscape(value)
	}
	return strings.Join(pairs, "&")
}

// TestBracketsEqualJSON: a filter of strings means the same in brackets and in JSON. Each value
// here has only one reading.
func TestBracketsEqualJSON(t *testing.T) {
	s := proxytest.Open(t, proxytest.Institute(t), proxytest.Options(t))
	rapid.Check(t, func(rt *rapid.T) {
		f := conditions(rt, 3)
		text, err := json.Marshal(f)
		if err != nil {
			rt.Fatal(err)
		}
		query := strings.Join(spell("filter", f), "&")
		brackets := s.Get("/api/activities?" + query)
		spelled := s.Get("/api/activities?json=" + url.QueryEscape(string(text)))
		if string(brackets.Body) != string(spelled.Body) {
			rt.Fatalf("%s\n%s\nbrackets: %s\njson:     %s", text, query, brackets.Body, spelled.Body)
		}
	})
}

var (
	paths = rapid.SampledFrom([]string{"type", "subtype", "title", "units", "authors.user", "rendered.users", "year",
		"tags"})
	values = rapid.SampledFrom([]string{"publication", "lecture", "article", "BIO", "CHE", "ada", "bob", "Soil", "",
		"x y&z=[1]"})
)

// conditions draws a document of conditions.
func conditions(t *rapid.T, depth int) map[string]any {
	f := map[string]any{}
	for range rapid.IntRange(1, 3).Draw(t, "conditions") {
		kind := rapid.IntRange(0, 8).Draw(t, "kind")
		path := paths.Draw(t, "path")
		switch {
		case kind == 0 && depth > 0:
			op := rapid.SampledFrom([]string{"$and", "$or", "$nor"}).Draw(t, "op")
			f[op] = []any{conditions(t, depth-1), conditions(t, depth-1)}
		case kind == 1 && depth > 0:
			f["authors"] = map[string]any{
				"$elemMatch": map[string]any{"user": values.Draw(t, "user"), "last": values.Draw(t, "last")}}
		case kind == 2:
			f[path] = map[string]any{"$not": operation(t)}
		case kind < 6:
			f[path] = operation(t)
		default:
			f[path] = values.Draw(t, "value")
		}
	}
	return f
}

func operation(t *rapid.T) map[string]any {
	op := rapid.SampledFrom([]string{"$eq", "$ne", "$gt", "$gte", "$lt", "$lte", "$in", "$nin", "$all"}).Draw(t, "op")
	if op == "$in" || op == "$nin" || op == "$all" {
		return map[string]any{op: []any{values.Draw(t, "first"), values.Draw(t, "second")}}
	}
	return map[string]any{op: values.Draw(t, "operand")}
}

// spell writes a value in bracket notation.
func spell(name string, v any) []string {
	var pairs []string
	switch v := v.(type) {
	case map[string]any:
		for key, value := range v {
			pairs = append(pairs, spell(name+"["+key+"]", value)...)
		}
	case []any:
		for i, value := range v {
			pairs = append(pairs, spell(fmt.Sprintf("%s[%d]", name, i), value)...)
		}
	case string:
		pairs = append(pairs, url.QueryEscape(name)+"="+url.QueryEscape(v))
	}
	return pairs
}
