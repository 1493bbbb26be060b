package filter_test

import (
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"vitrine/rules"
	"vitrine/rules/ejson"
	"vitrine/rules/filter"
)

// TestExpressions runs the hand-checked table of expressions: type and value.
func TestExpressions(t *testing.T) {
	table, err := os.ReadFile("testdata/expressions.txt")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(table)) {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		columns := strings.Split(line, " | ")
		if len(columns) != 3 {
			t.Fatalf("not three columns: %s", line)
		}
		t.Run(line,
			func(t *testing.T) { checkExpression(t, columns[0], strings.TrimPrefix(columns[1], "-"), columns[2]) })
	}
}

func checkExpression(t *testing.T, expression, document, want string) {
	if document == "" {
		document = "{}"
	}
	if kind, reason, fails := strings.Cut(want, " "); fails && (kind == "!" || kind == "?") {
		_, err := evaluate(t, `{"$expr": {"$eq": [`+expression+`, 0]}}`, document)
		var fault *rules.Error
		if !errors.As(err, &fault) || !errors.Is(err, rules.ErrWrongCall) {
			t.Fatalf("error = %v, want a *rules.Error of kind ErrWrongCall", err)
		}
		if fault.Param != "json" || !strings.HasPrefix(fault.Where, "$expr.$eq.0.") ||
			!strings.Contains(fault.Reason, reason) {
			t.Errorf("error = %q, want %q below $expr.$eq.0", fault, reason)
		}
		if got := errors.Is(err, filter.ErrNotInMemory); got != (kind == "?") {
			t.Errorf("errors.Is(%q, ErrNotInMemory) = %v", err, got)
		}
		return
	}
	if want == "missing" {
		expression, want = `{"$type": `+expression+`}`, `"missing"`
	}
	value, err := parseValue([]byte(want), ejson.Options{})
	if err != nil {
		t.Fatal(err)
	}
	alias := map[string]string{"32-bit integer": "int", "64-bit integer": "long", "128-bit decimal": "decimal",
		"embedded document": "object", "boolean": "bool", "UTC datetime": "date", "objectID": "objectId"}
	typ := value.Type.String()
	if short, ok := alias[typ]; ok {
		typ = short
	}
	for _, query := range []string{
		`{"$expr": {"$eq": [` + expression + `, {"$literal": ` + want + `}]}}`,
		`{"$expr": {"$eq": [{"$type": ` + expression + `}, "` + typ + `"]}}`,
	} {
		if ok, err := evaluate(t, query, document); err != nil || !ok {
			t.Errorf("%s does not hold: %v", query, err)
		}
	}
}

// evaluate also returns the error of parsing a filter, because a constant expression fails there.
func evaluate(t *testing.T, query, document string) (bool, error) {
	t.Helper()
	f, err := filter.Parse([]byte(query), filter.Options{})
	if err != nil {
		return false, err
	}
	return f.Match(doc(t, document))
}

// TestNow: $$NOW is the second in which the filter was parsed, and filters of different seconds
// have different keys.
func TestNow(t *testing.T) {
	at := time.Date(2024, 5, 31, 12, 0, 0, 0, time.UTC)
	read := func(query string, now time.Time) *filter.Filter {
		f, err := filter.Parse([]byte(query), filter.Options{Now: now, Foreign: true})
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	for _, query := range []string{
		`{"$expr": {"$lt": ["$a", "$$NOW"]}}`,
		`{"$expr": {"$lt": ["$a", {"$dateTrunc": {"date": "$$NOW", "unit": "week"}}]}}`,
		`{"$text": {"$search": "x"}, "$expr": {"$lt": ["$a", "$$NOW"]}}`,
	} {
		first, same, later := read(query, at), read(query, at.Add(999*time.Millisecond)), read(query,
			at.Add(time.Second))
		if first.Key() != same.Key() || first.Key() == later.Key() {
			t.Errorf("%s: keys %q, %q within the second, %q after it", query, first.Key(), same.Key(), later.Key())
		}
		joined := filter.And(filter.All(), later, first)
		if !first.Until().Equal(at.Add(time.Second)) || !joined.Until().Equal(first.Until()) {
			t.Errorf("%s: until %v, joined %v", query, first.Until(), joined.Until())
		}
	}
	f := read(`{"$expr": {"$lt": ["$a", "$$NOW"]}}`, at.Add(time.Millisecond))
	for document, want := range map[string]bool{`{"a": {"$date": "2024-05-31T11:59:59.999Z"}}`: true,
		`{"a": {"$date": "2024-05-31T12:00:00Z"}}`: false} {
		if got := match(t, f, doc(t, document)); got != want {
			t.Errorf("%s: %v, want %v", document, got, want)
		}
	}
	if until := read(`{"$expr": {"$lt": ["$a", 5]}}`, at).Until(); !until.IsZero() {
		t.Errorf("a filter without a time is valid until %v", until)
	}
}

// TestExpressionIsBounded: nested loops over one document end with an error.
func TestExpressionIsBounded(t *testing.T) {
	many := `[` + strings.Repeat(`{"b": 1},`, 2999) + `{"b": 1}]`
	loop := func(as, cond string) string {
		return `{"$filter": {"input": "$a", "as": "` + as + `", "cond": ` + cond + `}}`
	}
	for name, query := range map[string]string{
		"three loops":  loop("x", loop("y", loop("z", "1"))),
		"paths inside": loop("x", `{"$in": [1, "$a.b"]}`),
		"long texts":   loop("x", `{"$concat": ["$t", "$t", "$t", "$t"]}`),
		"one text":     `{"$concat": [` + strings.Repeat(`"$t", `, 999) + `"$t"]}`,
	} {
		_, err := evaluate(t, `{"$expr": `+query+`}`, `{"a": `+many+`, "t": "`+strings.Repeat("x", 100_000)+`"}`)
		var fault *rules.Error
		if !errors.As(err, &fault) || !strings.Contains(fault.Reason, "too much work") {
			t.Errorf("%s: error = %v", name, err)
		}
	}
	query := `{"$expr": ` + loop("x", `{"$eq": [{"$add": ["$$x.b", 1]}, 2]}`) + `}`
	if ok, err := evaluate(t, query, `{"a": `+many+`}`); !ok || err != nil {
		t.Errorf("one loop over 3,000 elements: %v", err)
	}
}
