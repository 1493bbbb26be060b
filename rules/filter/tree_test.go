package filter_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/rules"
	"vitrine/rules/filter"
	"vitrine/rules/pcre"
)

// read parses a filter.
func read(t *testing.T, query string, o filter.Options) *filter.Filter {
	t.Helper()
	f, err := filter.Parse([]byte(query), o)
	if err != nil {
		t.Fatalf("Parse(%s): %v", query, err)
	}
	return f
}

func TestPaths(t *testing.T) {
	tests := []struct {
		query string
		paths []string
		all   bool
	}{
		{`{}`, nil, true},
		{`{"a": 1, "b.c": {"$gt": 2}}`, []string{"a", "b.c"}, true},
		{`{"a": 1, "$or": [{"a": 2}, {"$nor": [{"c": 1}, {"d.0": null}]}]}`, []string{"a", "c", "d.0"}, true},
		{`{"a": {"$not": {"$gt": 1}}, "b": {"$ne": 2}}`, []string{"a", "b"}, true},
		{`{"a": {"$elemMatch": {"b": 1, "c.d": 2}}}`, []string{"a.b", "a.c.d"}, true},
		{`{"a": {"$elemMatch": {"b": {"$elemMatch": {"c": 1}}}}}`, []string{"a.b.c"}, true},
		{`{"a": {"$elemMatch": {"b": {"$elemMatch": {}}}}}`, []string{"a.b"}, true},
		{`{"a.b": {"$elemMatch": {"$gt": 1}}}`, []string{"a.b"}, true},
		{`{"a": {"$all": [1, 2]}}`, []string{"a"}, true},
		{`{"a": 1, "$expr": {"$gt": ["$b", 1]}}`, []string{"a"}, false},
		{`{"a": {"$geoWithin": {}}}`, nil, false},
	}
	for _, tt := range tests {
		t.Run(tt.query, func(t *testing.T) {
			f := read(t, tt.query, filter.Options{Foreign: true})
			if got, all := filter.Paths(f.Root()); !slices.Equal(got, tt.paths) || all != tt.all {
				t.Errorf("Paths = %q, %t, want %q, %t", got, all, tt.paths, tt.all)
			}
		})
	}
}

// TestNecessary: the leaves are true for every document that matches an $elemMatch.
func TestNecessary(t *testing.T) {
	tests := []struct {
		query string
		want  []string // the paths of the leaves
	}{
		{`{"a": {"$elemMatch": {"b": 1, "c.d": {"$gt": 2}}}}`, []string{"a.b", "a.c.d"}},
		{`{"a": {"$elemMatch": {"b": 1, "$or": [{"c": 1}, {"c": 2}]}}}`, []string{"a.b"}},
		{`{"a": {"$elemMatch": {"b": null, "c": {"$ne": 1}}}}`, nil},
		{`{"a": {"$elemMatch": {"b": {"$exists": true}}}}`, []string{"a.b"}},
		{`{"a.0": {"$elemMatch": {"b": 1}}}`, nil},
		{`{"a": {"$elemMatch": {"0": 1}}}`, nil},
		{`{"a": {"$elemMatch": {"$gt": 1}}}`, nil},
		{`{"a": {"$elemMatch": {}}}`, nil},
		{`{"` + strings.Repeat("a.", 199) + `a": {"$elemMatch": {"b": 1}}}`, nil},
	}
	for _, tt := range tests {
		t.Run(tt.query, func(t *testing.T) {
			elem, ok := read(t, tt.query, filter.Options{}).Root().(*filter.Elem)
			if !ok {
				t.Fatal("the root is not an Elem")
			}
			var got []string
			for _, leaf := range filter.Necessary(elem) {
				got = append(got, leaf.(*filter.Leaf).Path.String())
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("Necessary = %q, want %q", got, tt.want)
			}
		})
	}
}

// TestEvaluationOrder: cheap conditions come first and expressions last, so that an expression does
// not fail on a document that another condition already rejects.
func TestEvaluationOrder(t *testing.T) {
	const fails = `{"$expr": {"$divide": [1, "$zero"]}}`
	for query, want := range map[string]bool{
		`{"$and": [` + fails + `, {"a": 2}]}`:                               false,
		`{"$or": [` + fails + `, {"a": 1}]}`:                                true,
		`{"$nor": [` + fails + `, {"a": 1}]}`:                               false,
		`{"$or": [{"$and": [` + fails + `, {"b": 1}]}, {"a": 1}]}`:          true,
		`{"$and": [{"$or": [` + fails + `, {"b": 1}]}, {"a": {"$gt": 1}}]}`: false,
	} {
		ok, err := read(t, query, filter.Options{}).Match(doc(t, `{"a": 1, "zero": 0}`))
		if ok != want || err != nil {
			t.Errorf("%s: %t, %v, want %t", query, ok, err, want)
		}
	}
	_, err := read(t, `{"$and": [`+fails+`, {"a": 1}]}`, filter.Options{}).Match(doc(t, `{"a": 1, "zero": 0}`))
	if !errors.Is(err, rules.ErrWrongCall) {
		t.Errorf("error = %v, want a wrong call", err)
	}
}

// TestForeign: a filter that only a database evaluates is one node.
func TestForeign(t *testing.T) {
	tests := []struct{ query, refused string }{
		{`{"a": 1, "$text": {"$search": "moth"}}`, "$text"},
		{`{"b": {"$near": [1, 2]}, "$jsonSchema": {}}`, "$near"},
		{`{"$expr": {"$gt": [{"$strLenBytes": "$a"}, 2]}}`, "$strLenBytes"},
		{`{"$expr": "$$CLUSTER_TIME"}`, "CLUSTER_TIME"},
		{`{"a": {"$regex": "a(?R)?"}}`, "(?R"},
	}
	for _, tt := range tests {
		t.Run(tt.query, func(t *testing.T) {
			if _, err := filter.Parse([]byte(tt.query), filter.Options{}); !errors.Is(err, filter.ErrNotInMemory) {
				t.Fatalf("Parse error = %v, want ErrNotInMemory", err)
			}
			f := read(t, tt.query, filter.Options{Foreign: true})
			node, ok := f.Root().(*filter.ForeignNode)
			if !ok || string(node.Doc) != string(doc(t, tt.query)) ||
				!strings.Contains(node.Refusal.Reason, tt.refused) {
				t.Fatalf("root = %#v, want a ForeignNode with the filter that refuses %s", f.Root(), tt.refused)
			}
			if ok, err := f.Match(doc(t, `{"a": 1}`)); ok || !errors.Is(err, filter.ErrNotInMemory) {
				t.Errorf("Match = %t, %v, want ErrNotInMemory", ok, err)
			}
			if query, exact := filter.Query(f.Root(), "_view"); exact || query.String() != "{}" {
				t.Errorf("Query = %s, exact %t, want everything", query, exact)
			}
			joined := filter.And(f, read(t, `{"b": 1}`, filter.Options{}))
			if ok, err := joined.Match(doc(t, `{"b": 2}`)); ok || err != nil {
				t.Errorf("joined to a condition that fails: %t, %v", ok, err)
			}
		})
	}
}

// TestBounds: a filter that may run long matches the same documents with bounds as without.
func TestBounds(t *testing.T) {
	if read(t, `{"a": {"$regex": "^x"}}`, filter.Options{}).Backtracks() {
		t.Error("a plain expression backtracks")
	}
	bounds := pcre.NewBudget(time.Second)
	for _, query := range []string{
		`{"a": {"$regex": "(?=x)x"}}`, `{"$or": [{"a": {"$not": {"$regex": "(?=y)y"}}}, {"b": 1}]}`,
		`{"a": {"$in": [1, {"$regularExpression": {"pattern": "(?=x)", "options": "i"}}]}}`,
		`{"b": {"$elemMatch": {"c": {"$regex": "(?=x)"}}}}`,
		`{"b": {"$elemMatch": {"$regex": "(?=x)"}}}`,
		`{"$expr": {"$regexMatch": {"input": "$a", "regex": "(?=x)x"}}}`,
	} {
		f := read(t, query, filter.Options{})
		if !f.Backtracks() {
			t.Errorf("%s does not backtrack", query)
		}
		for _, d := range []string{`{"a": "x", "b": [{"c": "x"}, "x"]}`, `{"a": "y", "b": []}`, `{}`} {
			want := match(t, f, doc(t, d))
			if got, err := filter.Match(f.Root(), doc(t, d), bounds); got != want || err != nil {
				t.Errorf("%s on %s: %t, %v within bounds, want %t", query, d, got, err, want)
			}
		}
	}
}

// TestMatchNode: a node of the tree matches like a filter.
func TestMatchNode(t *testing.T) {
	f := read(t, `{"$or": [{"a": 1}, {"b": {"$elemMatch": {"$gt": 1, "$lt": 5}}}]}`, filter.Options{})
	for d, want := range map[string]bool{`{"a": 1}`: true, `{"b": [0, 3]}`: true, `{"b": [0, 6]}`: false,
		`{"b": 3}`: false} {
		got, err := filter.Match(f.Root(), doc(t, d), nil)
		if got != want || err != nil {
			t.Errorf("Match(%s) = %t, %v, want %t", d, got, err, want)
		}
	}
}

// TestFirstFault: of several faults the first is reported, with its place.
func TestFirstFault(t *testing.T) {
	for query, want := range map[string]string{
		`{"a": {"$foo": 1}, "b": {"$in": 1}}`:                                                          "a.$foo: unknown operator $foo",
		`{"a": {"$in": [{"$gt": 1}, {"$undefined": true}]}}`:                                           "a.$in.0: $in takes values, not operators",
		`{"a": {"$mod": ["x"]}, "$where": "1"}`:                                                        "a.$mod: $mod takes numbers only",
		`{"$expr": {"$regexMatch": {"input": "$a", "regex": "a", "options": 5}}}`:                      "$expr.$regexMatch: $regexMatch takes a string as options",
		`{"$expr": {"$regexMatch": {"input": "$a", "regex": 5}}}`:                                      "$expr.$regexMatch: $regexMatch takes a string or a regular expression as regex",
		`{"$text": "x", "$or": []}`:                                                                    "$text: $text needs a document",
		`{"a": {"$regex": {"$regularExpression": {"pattern": "(", "options": "i"}}, "$options": "m"}}`: "a.$regex: options are set both in $regex and in $options",
		`{"a": {"$all": [{"$elemMatch": {"b": {"$size": -1}}}, 1]}}`:                                   "a.$all.0.$elemMatch.b.$size: $size needs",
		`{"$expr": {"$add": ["$a", {"$divide": [1, 0]}, {"$nope": 1}]}}`:                               "$expr.$add.1.$divide: $divide cannot divide by zero",
		`{"$expr": {"$filter": {"input": "$a", "as": "X", "having": 1}}}`:                              "$expr.$filter: $filter takes as name",
		`{"$expr": {"$dateToString": {"date": "$a", "format": "%", "x": 1}}}`:                          `$expr.$dateToString: $dateToString has no argument "x"`,
	} {
		_, err := filter.Parse([]byte(query), filter.Options{Param: "json"})
		if err == nil || !strings.HasPrefix(err.Error(), "json: "+want) {
			t.Errorf("%s: error %v, want %s", query, err, want)
		}
	}
}

// TestExpressionFaults: a value that an operator does not accept is an error at the operator's
// place, and does not affect the next document.
func TestExpressionFaults(t *testing.T) {
	tests := []struct{ expression, document, want string }{
		{`{"$add": ["$a", 1]}`, `{"a": "x"}`, "$expr.$add: $add takes numbers, not string"},
		{`{"$and": [{"$gt": [{"$size": "$a"}, 0]}, true]}`, `{"a": 5}`,
			"$expr.$and.0.$gt.0.$size: $size takes an array, not int"},
		{`{"$filter": {"input": "$a", "cond": {"$abs": "$$this"}}}`, `{"a": [1, "x"]}`,
			"$expr.$filter.cond.$abs: $abs takes numbers, not string"},
		{`{"$cond": ["$b", {"$year": "$a"}, 1]}`, `{"a": "x", "b": true}`,
			"$expr.$cond.1.$year: $year takes a date, not string"},
		{`{"$concat": ["$a", {"$toUpper": ["$b"]}]}`, `{"a": "x", "b": []}`,
			"$expr.$concat.1.$toUpper: $toUpper takes a string, number or date, not array"},
		{`[1, {"x": {"$abs": "$a"}}]`, `{"a": true}`, "$expr.1.x.$abs: $abs takes numbers, not bool"},
		{`{"$ifNull": ["$z", {"$mod": ["$a", 0]}]}`, `{"a": 1}`, "$expr.$ifNull.1.$mod: $mod cannot divide by zero"},
		{`{"$year": {"date": "$a", "timezone": "$b"}}`, `{"a": {"$date": "2024-01-01"}, "b": "Nowhere"}`,
			`$expr.$year: $year in the time zone "Nowhere" is not evaluated in memory`},
		{`{"$dateTrunc": {"date": "$a", "unit": "$b"}}`, `{"a": {"$date": "2024-01-01"}, "b": "era"}`,
			`$expr.$dateTrunc: $dateTrunc by "era" is not evaluated in memory`},
	}
	for _, tt := range tests {
		t.Run(tt.expression, func(t *testing.T) {
			f := read(t, `{"$expr": `+tt.expression+`}`, filter.Options{})
			_, err := f.Match(doc(t, tt.document))
			if err == nil || !errors.Is(err, rules.ErrWrongCall) ||
				!strings.HasPrefix(err.Error(), "json: "+tt.want) {
				t.Errorf("Match error = %v, want %s", err, tt.want)
			}
			if _, err := read(t, `{"$expr": {"$gt": ["$a", 0]}}`, filter.Options{}).Match(doc(t, `{"a": 1}`)); err !=
				nil {
				t.Errorf("the next match fails too: %v", err)
			}
		})
	}
}

// TestMatchDoesNotAllocate: the reference matcher allocates nothing on documents of any size.
func TestMatchDoesNotAllocate(t *testing.T) {
	d := doc(t, activity)
	for _, query := range []string{
		`{"type": "publication", "year": {"$gte": 2015, "$lt": 2030}}`, `{"authors.user": {"$in": ["ann", "zoe"]}}`,
		`{"authors": {"$elemMatch": {"user": "ann", "affiliated": true}}}`, `{"units": {"$elemMatch": {"$gt": "a"}}}`,
		`{"title": {"$regex": "NORTH", "$options": "i"}}`,
		`{"$nor": [{"topics": {"$size": 0}}, {"month": {"$mod": [2, 0]}}]}`,
	} {
		f := read(t, query, filter.Options{})
		if !match(t, f, d) {
			t.Errorf("%s does not match", query)
		}
		if n := testing.AllocsPerRun(100, func() { _, _ = f.Match(d) }); n > 0 {
			t.Errorf("%s: %v allocations", query, n)
		}
	}
}

// TestQueryOperators: we write an operator for a database only if all databases evaluate it alike.
func TestQueryOperators(t *testing.T) {
	for query, want := range map[string]string{
		`{"a": {"$gt": 5}}`:          `{"a": {"$gt": {"$numberInt":"5"}}}`,
		`{"a": {"$exists": false}}`:  `{"$nor": [{"a": {"$exists": true}}]}`,
		`{"a": {"$type": "string"}}`: `{"a": {"$type": "string"}}`,
		`{"a": {"$size": 2}}`:        `{"a": {"$size": {"$numberLong":"2"}}}`,
		`{"a": null}`:                `{"a": {"$eq": null}}`,
		`{"a": {"$nin": [1, "x"]}}`:  `{"$nor": [{"a": {"$in": [{"$numberInt":"1"},"x"]}}]}`,
		`{"$or": [{"a": 1}, {"b": {"$lte": 2}}]}`: `{"$or": [{"a": {"$eq": {"$numberInt":"1"}}},{"b": {"$lte": ` +
			`{"$numberInt":"2"}}}]}`,
		`{"a": {"$all": []}}`: `{"_id": {"$in": []}}`,
	} {
		got, exact := filter.Query(read(t, query, filter.Options{}).Root(), "_view")
		if got.String() != want || !exact {
			t.Errorf("%s: %s, exact %t, want %s", query, got, exact, want)
		}
	}
	for _, query := range []string{
		`{"a": {"$gt": null}}`, `{"a": {"$numberDouble": "NaN"}}`, `{"a": {"$numberDecimal": "1"}}`, `{"a": [1]}`,
		`{"a": {"b": 1}}`,
		`{"a.0": 1}`, `{"a..b": 1}`, `{"": 1}`, `{"_view": 1}`, `{"a": {"$type": "number"}}`,
		`{"a": {"$mod": [2, 0]}}`, `{"a": {"$bitsAllSet": 1}}`,
		`{"a": {"$minKey": 1}}`, `{"a": {"$regex": "x|y"}}`, `{"$expr": true}`, `{"a": {"$elemMatch": {"$gt": 1}}}`,
		`{"a": {"$in": [1, {"$regularExpression": {"pattern": "x", "options": ""}}]}}`,
	} {
		if got, exact := filter.Query(read(t, query, filter.Options{}).Root(), "_view"); got.String() != "{}" ||
			exact {
			t.Errorf("%s: %s, exact %t, want everything and a match of each document", query, got, exact)
		}
	}
}

// TestFilterKeepsItsDocument: a filter made from BSON keeps reading the caller's document, and
// parsing does not change it.
func TestFilterKeepsItsDocument(t *testing.T) {
	query := doc(t, `{"a": {"$in": [3, 1, 2]}, "$expr": {"$eq": ["$b", {"$add": [1, 2]}]}}`)
	before := bson.Raw(slices.Clone(query))
	f, err := filter.FromBSON(query, filter.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if !match(t, f, doc(t, `{"a": 2, "b": 3}`)) || match(t, f, doc(t, `{"a": 2, "b": 4}`)) {
		t.Error("the filter does not match its document")
	}
	if !slices.Equal(query, before) {
		t.Error("parsing changed the document")
	}
}
