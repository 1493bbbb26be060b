package lists

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"vitrine/cmd/vitrine/programtest"
)

// TestListsDiff compares the demo's lists with changed ones, by the server and by the store. The comparison changes
// nothing, and a server with the changed rule shows the counts that it names.
func TestListsDiff(t *testing.T) {
	programtest.WholeOnly(t)
	t.Parallel()
	dir := t.TempDir()
	file := programtest.WriteFile(t, dir, "lists: {named: {papers: {filter: '{\"type\": \"publication\"}'}}}\n")
	programtest.Setenv(dir, "VITRINE_CONFIG", file)
	const rule = `{"hide": {"$ne": true}, "workflow.status": {"$nin": ["rejected", "in-review"]}, "year": {"$gte": 2025}}`
	s := programtest.Start(t, dir, "--demo").Ready()
	count := func(s *programtest.Server, list string) (n int) {
		t.Helper()
		status, body := s.Get("/lists/" + list + ".json?limit=1")
		var answer struct{ Count int }
		if err := json.Unmarshal([]byte(body), &answer); err != nil || status != http.StatusOK {
			t.Fatalf("%s: %d %v", list, status, err)
		}
		return answer.Count
	}
	all, papers := count(s, "activities"), count(s, "papers")
	args := []string{"lists", "diff", "--json", "--store", "bolt://data/demo.db", "--admin-listen",
		strings.TrimPrefix(s.Admin, "http://")}
	served := programtest.Run(t, dir, append(args, "--public", rule)...)
	if got := count(s, "activities"); got != all {
		t.Errorf("the comparison changed the list from %d to %d", all, got)
	}
	changed := programtest.WriteFile(t, t.TempDir(),
		"lists: {named: {papers: {filter: '{\"type\": \"lecture\"}'}, new: {view: projects}}}\n")
	byFile := programtest.Run(t, dir, append(args, changed)...)
	for target, want := range map[string]string{
		"/admin/lists/diff?pubic={}":    "unknown parameters: pubic (did you mean public?)",
		"/admin/lists/diff?public=%7Bx": "lists.public: ",
		"/admin/lists/diff?list=papers&filter=%7B%22a%22%3A%7B%22%24foo%22%3A1%7D%7D": "lists.named.papers.filter: ",
	} {
		if status, body := programtest.Fetch(t, http.MethodGet, s.Admin+target); status != http.StatusBadRequest ||
			!strings.Contains(body, want) {
			t.Errorf("%s: %d %s, want %s", target, status, body, want)
		}
	}
	if code := s.Stop(); code != 0 {
		t.Fatalf("exit code %d\n%s", code, s.Log())
	}
	if stored := programtest.Run(t, dir, append(args, "--public", rule)...); stored != served {
		t.Errorf("the store says %s, the server %s", stored, served)
	}
	if text := programtest.Run(t, dir, "lists", "diff", "--store", "bolt://data/demo.db", "--public",
		rule); !strings.Contains(text, "by year") {
		t.Errorf("printed: %s", text)
	}

	type changes struct {
		Count    int
		Fields   map[string]int
		Examples []struct{ ID, Title, Field string }
	}
	type difference struct {
		Before, After int
		Hidden, Shown changes
	}
	read := func(text string) map[string]difference {
		var list []struct {
			List string
			difference
		}
		if err := json.Unmarshal([]byte(text), &list); err != nil {
			t.Fatalf("%v in %s", err, text)
		}
		all := map[string]difference{}
		for _, d := range list {
			all[d.List] = d.difference
		}
		return all
	}
	programtest.Setenv(dir, "VITRINE_LISTS_PUBLIC", rule)
	s = programtest.Start(t, dir, "--demo").Ready()
	programtest.Await(t, "the rule counts",
		func() string { return programtest.Unless(count(s, "activities") != all) })
	predicted := read(served)
	for list, before := range map[string]int{"activities": all, "papers": papers} {
		d, after := predicted[list], count(s, list)
		if d.Before != before || d.After != after || d.Hidden.Count != before-after ||
			d.Hidden.Fields["year"] != before-after || d.Shown.Count != 0 {
			t.Errorf("%s had %d records and has %d, predicted %+v", list, before, after, d)
		}
		if len(d.Hidden.Examples) != 5 || d.Hidden.Examples[0].ID == "" || d.Hidden.Examples[0].Title == "" {
			t.Errorf("examples %+v", d.Hidden.Examples)
		}
	}
	if d := predicted["projects"]; d.After != 0 || d.Hidden.Fields["year"] != d.Before {
		t.Errorf("projects have no year: %+v", d)
	}
	lists := read(byFile)
	if d := lists["papers"]; d.Before != papers || d.Hidden.Fields["type"] != papers ||
		d.Shown.Fields["type"] != d.After || d.After == 0 {
		t.Errorf("another filter: %+v", d)
	}
	if d := lists["new"]; d.Before != 0 || d.Shown.Fields["the list itself"] != d.After || d.After == 0 {
		t.Errorf("a new list: %+v", d)
	}
	if d := lists["activities"]; d.Before != all || d.After != all {
		t.Errorf("another filter changes %+v", d)
	}
}
