package api_test

import (
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"vitrine/proxy/proxytest"
)

// TestExpressionErrors: the answer to a wrong filter names parameter, place and reason, even if
// only a record reveals the mistake.
func TestExpressionErrors(t *testing.T) {
	s := shelf(t, `{"title":"moths","a":[1,2],"n":1}`, `{"n":2,"d":{"$numberDecimal":"2"}}`)
	for filter, want := range map[string]string{
		`{"$expr":{"$foo":1}}`: "json: $expr.$foo: the expression $foo " +
			"is not evaluated in memory",
		`{"$expr":{"$toInt":"abc"}}`: "json: $expr.$toInt: the expression $toInt is not evaluated in memory",
		`{"$expr":{"$concat":["$title",1]}}`: "json: $expr.$concat: $concat takes a " +
			"string as argument, not int",
		`{"$expr":{"$gt":[{"$add":["$d",1]},2]}}`: "json: $expr.$gt.0.$add: $add of a decimal " +
			"is not evaluated in memory",
		`{"$expr":{"$lt":["$n",{"$add":[1,{"$numberDecimal":"1"}]}]}}`: "json: $expr.$lt.1.$add: $add of a decimal " +
			"is not evaluated in memory",
		`{"n":{"$size":4294967296}}`: "json: n.$size: $size needs a whole number from 0 to 2147483647",
		`{"$expr":"$$nope"}`:         "json: $expr: the variable $$nope is not defined",
		`{"$expr":{"$in":[1,"$nope"]}}`: "json: $expr.$in: $in takes an array, " +
			"not missing",
		`{"$expr":{"$size":"$a"}}`: "json: $expr.$size: $size takes an " +
			"array, not missing",
		`{"$or":[{"n":1},{"$expr":{"$size":"$a"}}]}`: "json: $or.1.$expr.$size: $size takes " +
			"an array, not missing",
		`{"$expr":{"$gt":[{"$divide":["$n",{"$subtract":["$n",1]}]},0]}}`: "json: $expr.$gt.0.$divide: $divide " +
			"cannot divide by zero",
		`{"$text":{"$search":"x"}}`: "json: $text: $text is not evaluated in memory",
		`{"$jsonSchema":{}}`: "json: $jsonSchema: $jsonSchema is not " +
			"evaluated in memory",
		`{"a":{"$near":[1,2]}}`: "json: a.$near: $near is not evaluated in memory",
	} {
		if r := s.Get("/api/search/journals?json=" + url.QueryEscape(filter)); r.StatusCode != 400 ||
			!strings.Contains(string(r.Body), want) {
			t.Errorf("%s: status %d %.300s, want %s", filter, r.StatusCode, r.Body, want)
		}
	}
	// The expression is evaluated only on records that match the other conditions.
	for _, filter := range []string{`{"$expr":{"$size":"$a"},"title":"moths"}`,
		`{"$or":[{"$expr":{"$size":"$a"}},{"n":2}]}`} {
		if r := s.Get("/api/search/journals?json=" + url.QueryEscape(filter)); r.StatusCode != 200 {
			t.Errorf("%s: status %d %.300s", filter, r.StatusCode, r.Body)
		}
	}
}

// TestNow: an answer computed with $$NOW is valid for one second, and its headers say so.
func TestNow(t *testing.T) {
	o := holdingsOptions(t)
	o.Fresh.MaxAge = time.Minute
	start := time.Date(2024, 5, 31, 12, 0, 0, 0, time.UTC)
	clock := proxytest.NewClock(start)
	o.Now = clock.Now
	s := proxytest.Open(t, journals(t, `{"until":{"$date":"2024-05-31T12:00:10Z"}}`), o)
	path := "/api/search/journals?json=" + url.QueryEscape(`{"$expr":{"$gt":["$until","$$NOW"]}}`)
	for _, tt := range []struct {
		at   int64
		want int
	}{{0, 1}, {0, 1}, {9, 1}, {10, 0}, {11, 0}, {8, 1}} {
		clock.Set(start.Add(time.Duration(tt.at) * time.Second)) // the last one is set back
		r := s.Get(path)
		if got := len(r.Envelope(t).Rows(t)); got != tt.want {
			t.Errorf("at second %d: %d rows, want %d", tt.at, got, tt.want)
		}
		if control := r.Header.Get("Cache-Control"); !strings.HasSuffix(control, "max-age=1") {
			t.Errorf("Cache-Control %q", control)
		}
	}
}

// TestGroupsSkipWhatIsNoDocument: inside an array a path follows only documents, for groups,
// figures and unwound rows, as in MongoDB's aggregation.
func TestGroupsSkipWhatIsNoDocument(t *testing.T) {
	s := shelf(t,
		`{"z":[[{"v":9}]],"a":[[{"b":1}],{"b":2},3],"topics":[[{"b":[[{"c":1}],{"c":2}]}],{"b":[[{"c":3}],{"c":4}]}`+
			`],"n":1}`)
	for path, value := range map[string]string{"z.v": `[]`, "a.b": `[2]`} {
		for function, more := range map[string]string{"count": "", "sum": `,"sum":1`} {
			query := fmt.Sprintf("/api/search/journals?aggregate=%s&aggregate_function=%s&aggregate_value=n", path,
				function)
			want := fmt.Sprintf(`[{"count":1,"value":%s%s}]`, value, more)
			if got := string(s.Get(query).Envelope(t).Data); got != want {
				t.Errorf("%s: got %s, want %s", query, got, want)
			}
		}
		filter := url.QueryEscape(fmt.Sprintf(`{"$expr":{"$eq":["$%s",%s]}}`, path, value))
		if got := len(s.Get("/api/search/journals?json=" + filter).Envelope(t).Rows(t)); got != 1 {
			t.Errorf("a filter by $%s finds %d rows", path, got)
		}
	}
	// An element that replaces its array by unwinding is a value like any other.
	got := string(s.Get("/api/search/journals?aggregate=topics.b.c").Envelope(t).Data)
	if want := `[{"count":1,"value":[4]},{"count":1,"value":[[2]]}]`; got != want {
		t.Errorf("unwound: got %s, want %s", got, want)
	}
}
