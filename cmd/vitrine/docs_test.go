package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestDocsNameTests: the source has every test that docs/ names.
func TestDocsNameTests(t *testing.T) {
	var source strings.Builder
	err := filepath.WalkDir("../..", func(path string, _ os.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		source.Write(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	pages, err := filepath.Glob("../../docs/*.md")
	if err != nil || len(pages) == 0 {
		t.Fatalf("%d pages: %v", len(pages), err)
	}
	for _, page := range pages {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range regexp.MustCompile(`\b(?:Test|Fuzz)[A-Z]\w+`).FindAllString(string(text), -1) {
			if !strings.Contains(source.String(), "func "+name+"(") {
				t.Errorf("%s names %s, which the source does not have", filepath.Base(page), name)
			}
		}
	}
}

// TestDocsNameFunctions: the tables of docs/architecture.md that count the functions on a request's way name methods
// and functions that exist.
func TestDocsNameFunctions(t *testing.T) {
	text, err := os.ReadFile("../../docs/architecture.md")
	if err != nil {
		t.Fatal(err)
	}
	declared := declaredFunctions(t)
	named := 0
	for line := range strings.Lines(string(text)) {
		if !regexp.MustCompile(`^\| \d+ \| `).MatchString(line) {
			continue
		}
		for _, name := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(line, -1) {
			// A package's name before a function, such as query.Read, only says where it is.
			of, function, _ := strings.Cut(name[1], ".")
			if named++; !declared[name[1]] && (of != strings.ToLower(of) || !declared[function]) {
				t.Errorf("%s is no function", name[1])
			}
		}
	}
	if named < 50 {
		t.Errorf("%d functions are named; want the tables of the way of a request", named)
	}
}

// declaredFunctions returns the names of all functions outside of tests, and of methods as Type.Method.
func declaredFunctions(t *testing.T) map[string]bool {
	t.Helper()
	declared := make(map[string]bool)
	function := regexp.MustCompile(`(?m)^func (?:\(\w+ \*?(\w+)(?:\[[^\]]*\])?\) )?(\w+)[\[(]`)
	err := filepath.WalkDir("../..", func(path string, _ os.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		for _, f := range function.FindAllStringSubmatch(string(text), -1) {
			declared[strings.TrimPrefix(f[1]+"."+f[2], ".")] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return declared
}
