package params_test

import (
	"testing"

	"vitrine/proxy/lists/params"
)

// TestMerged: a frame and choices in it become one frame as far as it has the same entries, and otherwise stay.
func TestMerged(t *testing.T) {
	for text, want := range map[string]string{
		"and.type=a&year=2020&and.q=owl":                       "q=owl&year=2020&type=a",
		"type=a,b&and.type=b,c":                                "type=b",
		"type=a&and.type=b":                                    "type=a&and.type=b",
		"year=2019..2022&and.year=2020,2022":                   "year=2020,2022",
		"year=2019..2022,missing&and.year=2022,missing":        "year=2022,missing",
		"year=2019..2022&and.year=2020..":                      "year=2019..2022&and.year=2020..",
		"year=last3&and.year=2024":                             "year=last3&and.year=2024",
		"unit=A&and.unit=B&deep=1":                             "unit=A&deep=1&and.unit=B",
		"unit=A,B&and.unit=B,A":                                "unit=A,B",
		"not.unit=A,B&and.not.unit=B,C":                        "not.unit=A,B,C",
		"exclude=1&and.exclude=2":                              "exclude=1,2",
		"ids=3,1,2&and.ids=1,9,3":                              "ids=1,3",
		"ids=1&and.ids=2":                                      "ids=1&and.ids=2",
		"q=owl&and.q=moth":                                     "q=owl&and.q=moth",
		"and.oa=1&sort=title&page=2&and.person=x&group=person": "person=x&oa=1&sort=title&group=person&page=2",
	} {
		q, err := parse(text)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if got := q.Merge().String(); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

// TestReaderChanges: a reader's choices come and go beside the frame. An order by relevance goes with the words.
func TestReaderChanges(t *testing.T) {
	for _, c := range []struct {
		text   string
		change func(params.Query) params.Query
		want   string
	}{
		{"type=a,b&page=2", func(q params.Query) params.Query { return q.Toggle(params.And(params.Type), "a") },
			"type=a,b&and.type=a"},
		{"type=a,b&and.type=a", func(q params.Query) params.Query { return q.Toggle(params.And(params.Type), "a") },
			"type=a,b"},
		{"and.year=2019..2022,2024", func(q params.Query) params.Query {
			return q.Toggle(params.And(params.Year), "2020")
		}, "and.year=2020,2024"},
		{"and.year=last3", func(q params.Query) params.Query { return q.Toggle(params.And(params.Year), "2020") },
			"and.year=2020"},
		{"type=a&and.type=a&and.unit=B", params.Query.Simplify, "type=a&and.unit=B"},
		{"type=a&and.q=owl&sort=relevance&page=3&limit=5", params.Query.Reset, "type=a&limit=5"},
		{"q=owl&and.q=moth&sort=relevance", params.Query.Reset, "q=owl&sort=relevance"},
		{"deep=1&unit=A&and.unit=B&and.not.type=c&and.q=owl", params.Query.Choices, "q=owl&not.type=c&unit=B&deep=1"},
		{"deep=1&unit=A&and.unit=B&q=moth&limit=5", params.Query.Frame, "q=moth&unit=A&deep=1"},
		{"and.q=&sort=relevance&type=a", func(q params.Query) params.Query { return q }, "type=a"},
	} {
		q, err := parse(c.text)
		if err != nil {
			t.Fatalf("%s: %v", c.text, err)
		}
		if got := c.change(q).String(); got != c.want {
			t.Errorf("%s: %s, want %s", c.text, got, c.want)
		}
	}
}
