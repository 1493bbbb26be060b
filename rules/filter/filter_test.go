package filter_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/rules"
	"vitrine/rules/filter"
)

func TestParseLimits(t *testing.T) {
	many := func(n int, part string) string { return strings.TrimSuffix(strings.Repeat(part+",", n), ",") }
	tests := map[string]struct {
		query   string
		options filter.Options
		want    string // part of the error; "" if the filter is valid
	}{
		"long":             {`{"a": "` + strings.Repeat("x", 32768) + `"}`, filter.Options{}, "32768"},
		"as long as given": {`{"a": 12}`, filter.Options{MaxBytes: 9}, ""},
		"longer":           {`{"a": 123}`, filter.Options{MaxBytes: 9}, "9"},
		"deep value": {`{"a": ` + strings.Repeat(`[`, 70) + strings.Repeat(`]`, 70) + `}`, filter.Options{},
			"deeper than 64"},
		"deep operators": {strings.Repeat(`{"$and":[`, 40) + `{}` + strings.Repeat(`]}`, 40), filter.Options{},
			"deeper than 64"},
		"as deep as given": {`{"$and": [{"a": 1}]}`, filter.Options{MaxDepth: 3}, ""},
		"deeper":           {`{"$and": [{"a": [1]}]}`, filter.Options{MaxDepth: 3}, "deeper than 3"},
		"many conditions": {`{"$or": [` + many(600, `{"a": 1}`) + `]}`, filter.Options{MaxNodes: 1000},
			"more than 1000 conditions"},
		"many values": {`{"a": {"$in": [` + many(10001, "1") + `]}}`, filter.Options{MaxNodes: 1000},
			"more than 10000 values"},
		"values enough": {`{"a": {"$in": [` + many(10000, "1") + `]}}`, filter.Options{MaxNodes: 1000}, ""},
		"long expression": {`{"a": {"$regex": "` + strings.Repeat("x", 4097) + `"}}`, filter.Options{},
			"longer than 4096 bytes"},
		"own parameter": {`{"a": {"$foo": 1}}`, filter.Options{Param: "filter"},
			"filter: a.$foo: unknown operator"},
		"no JSON":   {`{"a": `, filter.Options{}, "json: offset"},
		"no object": {`[1]`, filter.Options{}, "json: offset 0"},
		"long path": {`{"` + strings.Repeat("a.", 200) + `a": 1}`, filter.Options{}, "more than 200 parts"},
		"wide classes": {`{"a": {"$regex": "` + strings.Repeat(`\\pL`, 333) + `"}}`, filter.Options{},
			"too large"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := filter.Parse([]byte(tt.query), tt.options)
			if tt.want == "" {
				if err != nil {
					t.Fatalf("Parse: %v", err)
				}
				return
			}
			if !errors.Is(err, rules.ErrWrongCall) || !strings.Contains(err.Error(), tt.want) {
				t.Fatalf("Parse error = %v, want a wrong call with %q", err, tt.want)
			}
		})
	}
}

func TestFromBSONRefusesMalformedDocuments(t *testing.T) {
	whole := doc(t,
		`{"a": {"$in": [1, "text", {"b": 2}]}, "c": {"$regularExpression": {"pattern": "x", "options": "i"}}}`)
	if _, err := filter.FromBSON(whole, filter.Options{}); err != nil {
		t.Fatal(err)
	}
	for n := range len(whole) {
		if _, err := filter.FromBSON(whole[:n], filter.Options{}); !errors.Is(err, rules.ErrWrongCall) {
			t.Fatalf("cut to %d bytes: error = %v, want a wrong call", n, err)
		}
	}
}

func TestHexIDs(t *testing.T) {
	const hex = "5f0000000000000000000001"
	oid, text := doc(t, `{"_id": {"$oid": "`+hex+`"}, "x": {"_id": {"$oid": "`+hex+`"}}}`), doc(t,
		`{"_id": "`+hex+`"}`)
	other := doc(t, `{"_id": 1, "x": [{"_id": {"$oid": "`+hex+`"}}], "user": {"$oid": "`+hex+`"}}`)
	tests := []struct {
		query            string
		oid, text, other bool
	}{
		{`{"_id": "%s"}`, true, true, false},
		{`{"_id": {"$eq": "%s"}}`, true, true, false},
		{`{"_id": {"$ne": "%s"}}`, false, false, true},
		{`{"_id": {"$in": ["%s", 1]}}`, true, true, true},
		{`{"_id": {"$nin": ["%s"]}}`, false, false, true},
		{`{"$or": [{"_id": {"$not": {"$eq": "%s"}}}]}`, false, false, true},
		{`{"_id": {"$oid": "%s"}}`, true, false, false},
		{`{"_id": {"$gte": "%s"}}`, true, true, false},
		{`{"_id": {"$gt": "%s"}}`, false, false, false},
		{`{"_id": {"$all": ["%s"]}}`, false, true, false},
		{`{"x._id": "%s"}`, false, false, false},
		{`{"user": "%s"}`, false, false, false},
		{`{"x": {"$elemMatch": {"_id": "%s"}}}`, false, false, false},
	}
	for _, tt := range tests {
		t.Run(tt.query, func(t *testing.T) {
			f, err := filter.Parse(fmt.Appendf(nil, tt.query, hex), filter.Options{HexIDs: true})
			if err != nil {
				t.Fatal(err)
			}
			got := [3]bool{match(t, f, oid), match(t, f, text), match(t, f, other)}
			if want := [3]bool{tt.oid, tt.text, tt.other}; got != want {
				t.Errorf("ObjectID, text and other match = %v, want %v", got, want)
			}
		})
	}
	f, err := filter.Parse([]byte(`{"_id": "`+hex+`"}`), filter.Options{})
	if err != nil || match(t, f, oid) {
		t.Errorf("without HexIDs the text matches the ObjectID, or %v", err)
	}
}

func TestAllAndAnd(t *testing.T) {
	d := doc(t, `{"a": 1, "b": 2}`)
	one, err := filter.Parse([]byte(`{"a": 1}`), filter.Options{})
	if err != nil {
		t.Fatal(err)
	}
	never, err := filter.Parse([]byte(`{"b": 3}`), filter.Options{})
	if err != nil {
		t.Fatal(err)
	}
	tests := map[string]struct {
		filter *filter.Filter
		want   bool
		key    string
	}{
		"all":                {filter.All(), true, filter.And().Key()},
		"none given":         {filter.And(), true, filter.All().Key()},
		"nil":                {filter.And(nil, nil), true, filter.All().Key()},
		"one":                {filter.And(nil, one), true, one.Key()},
		"everything and one": {filter.And(filter.All(), one), true, one.Key()},
		"restricted":         {filter.And(one, never), false, filter.And(never, one).Key()},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := match(t, tt.filter, d); got != tt.want {
				t.Errorf("Match = %v, want %v", got, tt.want)
			}
			if got := tt.filter.Key(); got != tt.key {
				t.Errorf("Key = %s, want %s", got, tt.key)
			}
		})
	}
}

// TestMatchMalformed: values that cannot be read count as missing.
func TestMatchMalformed(t *testing.T) {
	f, err := filter.Parse([]byte(`{"b.c": null}`), filter.Options{})
	if err != nil {
		t.Fatal(err)
	}
	whole := doc(t, `{"a": "text", "b": {"c": 5}}`)
	if match(t, f, whole) {
		t.Fatal("the whole document matches")
	}
	for n := range len(whole) {
		if !match(t, f, whole[:n]) {
			t.Fatalf("cut to %d bytes, the value is still seen", n)
		}
	}
	for _, d := range []bson.Raw{nil, {}, {5, 0, 0, 0, 0}, {255, 255, 255, 255, 0}, {0, 0, 0, 0, 0},
		{5, 0, 0, 128, 0}} {
		if !match(t, f, d) {
			t.Errorf("%v does not match", d)
		}
	}
}

func TestExprFault(t *testing.T) {
	f, err := filter.Parse([]byte(`{"$expr": {"$gt": [{"$add": ["$a", 1]}, 0]}}`), filter.Options{})
	if err != nil {
		t.Fatal(err)
	}
	_, err = f.Match(doc(t, `{"a": "text"}`))
	var fault *rules.Error
	if !errors.As(err, &fault) || fault.Where != "$expr.$gt.0.$add" {
		t.Errorf("Match error = %v, want a wrong call at $expr.$gt.0.$add", err)
	}
}

// TestMalformedWinsOverNotInMemory: the error for malformed parts precedes the error for parts that
// only a database evaluates, so that only valid filters reach a database.
func TestMalformedWinsOverNotInMemory(t *testing.T) {
	_, err := filter.Parse([]byte(`{"$text": {"$search": "x"}, "$or": [{"$where": "1"}]}`), filter.Options{})
	if errors.Is(err, filter.ErrNotInMemory) || !errors.Is(err, rules.ErrWrongCall) {
		t.Errorf("error = %v, want $where refused", err)
	}
}
