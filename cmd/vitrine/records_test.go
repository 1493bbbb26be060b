package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"vitrine/rules/mark"
	"vitrine/rules/records"
)

// reportedRecords imports files into a new store, and returns the notes of the import, and what check --records
// prints, with its exit code.
func reportedRecords(t *testing.T, files map[string]string, args ...string) (notes, report string, code int) {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	store := "bolt://" + filepath.Join(dir, "store.db")
	code, _, notes = importResult(t, store, append(args, dir)...)
	if code != 0 {
		t.Fatalf("import: %s", notes)
	}
	var out, errs bytes.Buffer
	code = run(context.Background(), append([]string{"check", "--records", "--store", store}, args...), &out, &errs)
	if (errs.Len() > 0) != (code != 0) {
		t.Errorf("exit code %d with %q", code, errs.String())
	}
	return notes, out.String(), code
}

// TestReportedRecords: import and check --records say what lists will miss, and why.
func TestReportedRecords(t *testing.T) {
	t.Parallel()
	good := `{"type":"publication","subtype":"article","title":"Owls","year":2021,"authors":["Moe, A."]}` + "\n"
	var many strings.Builder
	for n := range 3000 {
		fmt.Fprintf(&many, `{"type":"t%d","title":"Owls","year":2021,"authors":["Moe, A."]}`+"\n", n)
	}
	tests := []struct {
		name  string
		files map[string]string
		args  []string
		code  int
		want  []string // lines, of both
	}{
		{"nothing to say", map[string]string{"activities.jsonl": good}, nil, 0, nil},
		{"other names", map[string]string{"publications.jsonl": good, "Persons.jsonl": `{"username":"amoe"}`}, nil, 1,
			[]string{"found Persons, which nothing reads; the name is persons, in small letters",
				"found publications, which nothing reads; activities (publications, talks and others) are read from " +
					"activities"}},
		{"unknown types",
			map[string]string{"activities.jsonl": strings.ReplaceAll(good, "publication", "Publikation")}, nil, 1,
			[]string{`activities: unknown type "Publikation": 1 records, did you mean publication?`}},
		{"no years", map[string]string{"activities.jsonl": good + strings.ReplaceAll(good, `"year":2021,`, "")}, nil, 1,
			[]string{"activities: lacking what lists need, of 2 public records, 1 without year"}},
		{"lists without authors", map[string]string{"activities.jsonl": good +
			strings.ReplaceAll(good, `["Moe, A."]`, `[1, null]`) +
			strings.ReplaceAll(good, `["Moe, A."]`, `["-", "?"]`) +
			strings.ReplaceAll(good, `["Moe, A."]`, `[{}, "", ["Moe, A."]]`)}, nil, 0,
			[]string{"activities: lacking what lists need, of 4 public records, 3 without authors"}},
		{"very many types", map[string]string{"activities.jsonl": good + many.String()}, nil, 1,
			[]string{`activities: unknown type "t0": 1 records`, "activities: other unknown types: 2990 records"}},
		{"hidden", map[string]string{"activities.jsonl": good + strings.ReplaceAll(good, `"year"`, `"hide":1,"year"`)},
			nil, 0, []string{"activities: not public: 1 of 2 records, 1 hidden by hide"}},
		{"projects", map[string]string{"projects.jsonl": `{"title":"Owls","public":true}`}, nil, 1,
			[]string{"projects: lacking what lists need, of 1 public records, 1 without year, 1 without name"}},
		{"of OSIRIS", map[string]string{"activities.jsonl": strings.ReplaceAll(good, "article", "fable"),
			"adminTypes.jsonl": `{"id":"fable","parent":"publication","portfolio":1}`}, nil, 0,
			[]string{"found adminTypes, of a database of OSIRIS: with --preset osiris its own types, names and " +
				"rights count"}},
		{"with its own types", map[string]string{
			"activities.jsonl": strings.ReplaceAll(good, "article", "fable") +
				strings.ReplaceAll(good, "article", "book"),
			"adminTypes.jsonl": `{"id":"fable","parent":"publication","portfolio":1}` + "\n" +
				`{"id":"tale","parent":"publication","portfolio":1}`,
			"adminCategories.jsonl": `{"id":"publication"}`}, []string{"--preset", "osiris"}, 1,
			[]string{`activities: unknown type "publication/book": 1 records`}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			notes, report, code := reportedRecords(t, tt.files, tt.args...)
			if code != tt.code {
				t.Errorf("exit code %d, want %d\n%s", code, tt.code, report)
			}
			for _, line := range tt.want {
				if !strings.Contains(notes, "note: "+line+"\n") || !strings.Contains(report, "\n"+line+"\n") {
					t.Errorf("no %q in\n%s\nor in\n%s", line, notes, report)
				}
			}
			if n := strings.Count(notes, "note: "); tt.want == nil && n != 0 || n > 14 {
				t.Errorf("%d notes:\n%s", n, notes)
			}
		})
	}
}

// TestReportedAsJSON: with --json the report has the same in numbers.
func TestReportedAsJSON(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	store := "bolt://" + filepath.Join(dir, "store.db")
	for name, text := range map[string]string{"papers": `{}`, "activities": `{"type":"lectures"}`} {
		path := filepath.Join(dir, name+".jsonl")
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if code, _, said := importResult(t, store, path); code != 0 {
			t.Fatal(said)
		}
	}
	var out, errs bytes.Buffer
	if code := run(context.Background(), []string{"check", "--records", "--json", "--store", store}, &out,
		&errs); code != 1 {
		t.Errorf("exit code %d: %s", code, errs.String())
	}
	var r records.Report
	if err := json.Unmarshal(out.Bytes(), &r); err != nil {
		t.Fatal(err)
	}
	if len(r.Unread) != 1 || r.Unread[0] != (records.Unread{Collection: "papers", Near: "activities"}) {
		t.Errorf("unread: %v", r.Unread)
	}
	v := r.Views[1]
	if v.View != "activities" || v.Records != 1 || v.Public != 1 || len(v.Lacks) != 3 || len(v.Unknown) != 1 ||
		v.Unknown[0] != (records.Unknown{Kind: "lectures", Records: 1, Near: "lecture"}) {
		t.Errorf("activities: %+v", v)
	}
	codes := map[string]mark.Lack{"without title": 1, "without year": 2, "without authors": 4}
	for _, lack := range v.Lacks {
		if lack.Of != codes[lack.Lack] || lack.Records != 1 {
			t.Errorf("%+v, want the code %d", lack, codes[lack.Lack])
		}
	}
	out.Reset()
	if code := run(context.Background(), []string{"check", "--json", "--store", store}, &out, &errs); code != 0 ||
		!json.Valid(out.Bytes()) {
		t.Errorf("check --json: %d\n%s", code, out.String())
	}
}

// TestDocsLackCodes: the codes of what records lack are documented, and no others are.
func TestDocsLackCodes(t *testing.T) {
	text, err := os.ReadFile("../../docs/operations.md")
	if err != nil {
		t.Fatal(err)
	}
	_, part, _ := strings.Cut(string(text), "\n#### The report as JSON\n")
	part, _, _ = strings.Cut(part, "\n#")
	var got []mark.Lack
	for _, row := range regexp.MustCompile(`(?m)^ +\| (\d+) \| `).FindAllStringSubmatch(part, -1) {
		n, _ := strconv.Atoi(row[1]) // digits
		got = append(got, mark.Lack(n))
	}
	if want := mark.Lacks(); !slices.Equal(got, want) {
		t.Errorf("documented: %d, want %d", got, want)
	}
}
