package explain_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"vitrine/cache/view"
	"vitrine/proxy/explain"
	"vitrine/proxy/proxytest"
	"vitrine/rules"
)

// countedClauses are the clauses of a filter on activities, in the order of their cost, with how a view in memory and
// one in the store evaluate each.
var countedClauses = []struct{ filter, memory, store string }{
	{`{"type":"publication"}`, "index", "the store"},
	{`{"$or":[{"year":{"$gte":2020}},{"epub":true}]}`, "sets of rows", "the store"},
	{`{"authors":{"$elemMatch":{"affiliated":true,"position":"first"}}}`, "indexes, then rows one by one",
		"the store, then rows one by one"},
	{`{"$expr":{"$gt":["$month",6]}}`, "rows one by one", "rows one by one"},
}

// TestClausesAreCounted: a clause that takes no reading of rows counts those that it selects alone, any other those
// that are left of the rows that all clauses before it select.
func TestClausesAreCounted(t *testing.T) {
	proxytest.WholeOnly(t)
	x := newExplaining(t)
	count := func(filters ...string) int {
		res := x.Admin(http.MethodGet, "/admin/query?view=activities&count=1&filter="+
			url.QueryEscape(`{"$and":[`+strings.Join(filters, ",")+`]}`))
		n, err := strconv.Atoi(strings.TrimSpace(string(res.Body)))
		if err != nil {
			t.Fatalf("%q: %d %s", filters, res.StatusCode, res.Body)
		}
		return n
	}
	var all []string
	for _, c := range countedClauses {
		all = append(all, c.filter)
	}
	e := x.explain(explainedRequest{
		view: rules.ViewActivities, url: "/api/activities?json=" +
			url.QueryEscape(`{"$and":[`+strings.Join(all, ",")+`]}`),
		id: x.ids[rules.ViewActivities][0],
	})
	whole := count(`{}`)
	if e.Selected == nil || e.Selected.Of != whole || e.Selected.Rows != count(all...) {
		t.Fatalf("selected %+v, want %d of %d", e.Selected, count(all...), whole)
	}
	var own []explain.Clause
	for _, c := range e.Selected.Clauses {
		if c.From == "json" {
			own = append(own, c)
		}
	}
	if len(own) != len(countedClauses) {
		t.Fatalf("%d clauses, want %d: %+v", len(own), len(countedClauses), own)
	}
	for i, want := range countedClauses {
		how, rows, of := want.memory, count(want.filter), whole
		if proxytest.ViewsAre == view.Store {
			how = want.store
		}
		if strings.Contains(how, "one by one") {
			rows, of = count(all[:i+1]...), count(all[:i]...)
		}
		got := own[i]
		if got.Count == nil || got.Rows != rows || got.Of != of || got.How != how {
			t.Errorf("%s: %s, %+v, want %s, %d of %d", got.Clause, got.How, got.Count, how, rows, of)
		}
	}
}

// TestClausesAreCountedInStore counts in rows that stay in the store.
func TestClausesAreCountedInStore(t *testing.T) {
	proxytest.InStore(t, map[string]func(*testing.T){"ClausesAreCounted": TestClausesAreCounted})
}

// TestNoRowsAreLeft: what takes reading rows is not counted if no row is left to read, and the rest is.
func TestNoRowsAreLeft(t *testing.T) {
	x := newExplaining(t)
	res := x.Admin(http.MethodGet, "/admin/explain?url="+
		url.QueryEscape(`/api/activities?json={"year":1066,"$expr":{"$gt":["$month",6]}}`))
	var e explain.Explanation
	if err := json.Unmarshal(res.Body, &e); err != nil || e.Selected == nil || e.Selected.Rows != 0 {
		t.Fatalf("%v %s", err, res.Body)
	}
	for _, c := range e.Selected.Clauses {
		if read := strings.Contains(c.How, "one by one"); read != (c.Count == nil) {
			t.Errorf("%s (%s): %+v", c.Clause, c.How, c.Count)
		}
	}
}
