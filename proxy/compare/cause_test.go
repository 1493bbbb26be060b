package compare_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"vitrine/proxy/compare"
)

// pairOf is a request with both answers to it.
type pairOf struct {
	target   string
	old, new compare.Answer
}

// several are answers that differ by many causes at several endpoints.
func several() (all []pairOf) {
	add := func(target, old, new string) { all = append(all, pairOf{target, object(old), object(new)}) }
	rows := func(rows string) string { return `{"status":200,"count":9,"data":[` + rows + `]}` }
	for i := range 33 {
		add(fmt.Sprintf("/api/e%d?x=1", i), rows(`{"id":"1","year":"2023"},{"id":"2","year":"2024"}`),
			rows(`{"id":"1","year":2023},{"id":"2","year":2024}`))
	}
	add("/api/single", `{"status":200,"data":{"year":"2023","a":"x"}}`,
		`{"status":200,"data":{"year":2023,"a":"y"}}`)
	add("/api/nested", rows(`{"id":"1","units":[{"id":"u","year":"1"}]}`),
		rows(`{"id":"1","units":[{"id":"u","year":1}]}`))
	for i := range 5 {
		add(fmt.Sprintf("/api/titles?n=%d", i), rows(fmt.Sprintf(`{"id":"1","title":"A%d"}`, i)),
			rows(fmt.Sprintf(`{"id":"1","title":"B%d"}`, i)))
		add(fmt.Sprintf("/api/names?n=%d", i), `{"data":[{"id":"1","name":null}]}`,
			fmt.Sprintf(`{"data":[{"id":"1","name":"A%d"}]}`, i))
	}
	add("/api/words", rows(`{"id":"1","title":"two\nlines: 'x' # \"y\""}`), rows(`{"id":"1","title":""}`))
	add("/api/names", `{"data":[{"id":"1","name":"a"}]}`, `{"data":[{"id":"1","name":"b"}]}`)
	add("/api/case", `{"data":{"city":"Bremen"}}`, `{"data":{"city":"BREMEN"}}`)
	add("/api/missing", rows(`{"id":"1","doi":null}`), rows(`{"id":"1"}`))
	add("/api/added", rows(`{"id":"1"}`), rows(`{"id":"1","doi":"10.1/x"}`))
	add("/api/rows", rows(`{"id":"1"},{"id":"2"},{"id":"3"}`), rows(`{"id":"3"},{"id":"1"}`))
	add("/api/years", `{"data":{"2022":{"n":1},"2023":{"n":1}}}`, `{"data":{"2022":{"n":2},"2023":{"n":2}}}`)
	add("/api/blank", `{"data":{"a b":1,"a \"b":1}}`, `{"data":{"a b":2,"a \"b":2}}`)
	add("/api/long", `{"data":{"`+strings.Repeat("x", 400)+`":1}}`, `{"data":{"`+strings.Repeat("x", 400)+`":2}}`)
	add("/api/html", rows(`{"id":"1","print":"<p>A <a href='/a'>b</a></p>"}`),
		rows(`{"id":"1","print":"<p>C <a href='/c'>b</a></p>"}`))
	add("/api/count", `{"count":3}`, `{"count":4}`)
	all = append(all,
		pairOf{"/api/status", compare.Answer{Status: 200}, compare.Answer{Status: 404}},
		pairOf{"/api/login", compare.Answer{Status: 302, Location: "/a"},
			compare.Answer{Status: 302, Location: "/b"}},
		pairOf{"/api/type", compare.Answer{Status: 200, Type: "text/html", Body: []byte("x")}, object("x")},
		pairOf{"/lists/a.bib", compare.Answer{Status: 200, Body: []byte("a\nb")},
			compare.Answer{Status: 200, Body: []byte("a\nc")}},
		pairOf{"/lists/page", page("<main><ol><li>A</li></ol></main>"), page("<main><ol><li>B</li></ol></main>")},
		pairOf{"/api/rest", object(`{"a":` + strings.Repeat("[", 60) + strings.Repeat("]", 60) + `}`),
			object(`{"a":1}`)})
	return all
}

// reported compares pairs by the rules of a text.
func reported(t *testing.T, pairs []pairOf, accept string) compare.Report {
	t.Helper()
	rules, err := compare.ParseAccepted("pasted", []byte(accept))
	if err != nil {
		t.Fatalf("%v in\n%s", err, accept)
	}
	old, new := sides(t, answering(""), answering(""))
	c := compare.NewComparison(old, new, compare.Settings{Accepted: rules, Examples: 3})
	for _, p := range pairs {
		r := compare.Request{Method: "GET", Target: p.target}
		c.Add(t.Context(), r, [2]compare.Answer{p.old, p.new}, [2]error{})
	}
	return c.Report()
}

// summary returns the causes of a report, one a line.
func summary(r compare.Report) (all []string) {
	for _, c := range r.Causes {
		all = append(all, fmt.Sprintf("%d answers, %d values: %s", c.Answers, c.Values, c.Says))
	}
	return all
}

// TestCauses: what differs in the same way is one cause, whatever the endpoint and the row.
func TestCauses(t *testing.T) {
	got := summary(reported(t, several(), ""))
	for _, want := range []string{
		"34 answers, 67 values: `year` is text in the old answers, a number in the new ones (number as text)",
		"6 answers, 6 values: `title` has another value",
		"5 answers, 5 values: `name` is null in the old answers, text in the new ones",
		"1 answers, 1 values: `units[*].year` is text in the old answers, a number in the new ones (number as text)",
		"1 answers, 2 values: `n` has another value",
		"1 answers, 1 values: `city`: the same letters in another case",
		"1 answers, 1 values: `print a@href` has another value",
		"1 answers, 1 values: `li` has other words",
		"1 answers, 1 values: rows are missing in the new answers",
		"1 answers, 1 values: the status is 200 in the old answers, 404 in the new ones",
	} {
		if !slices.Contains(got, want) {
			t.Errorf("no cause %q in\n%s", want, strings.Join(got, "\n"))
		}
	}
	if !strings.HasPrefix(got[0], "34 answers") || !strings.HasPrefix(got[1], "6 answers") {
		t.Errorf("not the most frequent first:\n%s", strings.Join(got, "\n"))
	}
}

// TestExamples: an example shows where two long values part.
func TestExamples(t *testing.T) {
	long := strings.Repeat("ä same ", 100)
	r := reported(t, []pairOf{{"/api/x", object(`{"a":"` + long + `one"}`), object(`{"a":"` + long + `two"}`)}}, "")
	if x := r.Causes[0].Example(); !strings.HasPrefix(x.Old, "…") || !strings.HasSuffix(x.Old, " same one") ||
		!strings.HasSuffix(x.New, " same two") || len(x.Old) > 100 {
		t.Errorf("%+v", x)
	}
}

// TestSuggestions: what the report says to write into the file of --accept makes this cause on purpose, and no
// other.
func TestSuggestions(t *testing.T) {
	before := reported(t, several(), "")
	for _, c := range before.Causes {
		r := reported(t, several(), c.Accepted)
		var want, got []string
		for _, other := range summary(before) {
			if !strings.HasSuffix(other, ": "+c.Says) {
				want = append(want, other)
			}
		}
		for i, one := range summary(r) {
			if r.Causes[i].Reason == "" {
				got = append(got, one)
			} else if r.Causes[i].Reason != c.Says || r.Causes[i].Extent != c.Extent {
				t.Errorf("on purpose: %s; want %d answers, %d values: %s", one, c.Answers, c.Values, c.Says)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("with\n%sstill\n%s\nwant\n%s", c.Accepted, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
}
