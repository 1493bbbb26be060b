package proxy_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	gotoken "go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// coverageFile lists the tests that prove each statement of the API.
const coverageFile = "testdata/coverage.md"

// proof names a test: package, function, and perhaps one of its cases.
var proof = regexp.MustCompile("`([a-z][a-z/]*)\\.((?:Test|Fuzz)\\w+)(?:/([^`]+))?`")

// TestCoverage: every test named as a proof exists, and every row names one.
func TestCoverage(t *testing.T) {
	tests := map[string]map[string]ast.Node{}
	for section, rows := range readCoverage(t) {
		for statement, proofs := range rows {
			named := proof.FindAllStringSubmatch(proofs, -1)
			if len(named) == 0 {
				t.Errorf("%s, %s: no proof", section, statement)
			}
			for _, n := range named {
				pkg, function, name := n[1], n[2], n[3]
				if tests[pkg] == nil {
					tests[pkg] = testsOf(t, pkg)
				}
				if found := tests[pkg][function]; found == nil {
					t.Errorf("%s, %s: there is no test %s.%s", section, statement, pkg, function)
				} else if name != "" && !says(found, name) && !says(tests[pkg][""], name) {
					t.Errorf("%s, %s: %s.%s has no case %q", section, statement, pkg, function, name)
				}
			}
		}
	}
}

// readCoverage reads the tables: for each section, statements and their proofs.
func readCoverage(t *testing.T) map[string]map[string]string {
	t.Helper()
	text, err := os.ReadFile(coverageFile)
	if err != nil {
		t.Fatal(err)
	}
	sections := map[string]map[string]string{}
	var rows map[string]string
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if section, ok := strings.CutPrefix(line, "## "); ok {
			rows = map[string]string{}
			sections[section] = rows
			continue
		}
		cells := cellsOf(line)
		if len(cells) != 3 || cells[0] == "" || strings.HasPrefix(cells[0], "---") {
			continue
		}
		if _, twice := rows[cells[0]]; twice {
			t.Errorf("two rows for %s", cells[0])
		}
		rows[cells[0]] = cells[2]
	}
	return sections
}

// cellsOf splits a line of a table; nil for other lines.
func cellsOf(line string) []string {
	inside, ok := strings.CutPrefix(line, "|")
	if !ok {
		return nil
	}
	var cells []string
	for cell := range strings.SplitSeq(strings.TrimSuffix(inside, "|"), "|") {
		cells = append(cells, strings.TrimSpace(cell))
	}
	return cells
}

// testsOf parses the tests of a package. The empty name has its other declarations, such as tables
// that several tests share.
func testsOf(t *testing.T, pkg string) map[string]ast.Node {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("..", filepath.FromSlash(pkg), "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	shared := &ast.BlockStmt{}
	found := map[string]ast.Node{"": shared}
	for _, file := range files {
		parsed, err := parser.ParseFile(gotoken.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, decl := range parsed.Decls {
			switch d := decl.(type) {
			case *ast.FuncDecl:
				found[d.Name.Name] = d.Body
			case *ast.GenDecl:
				shared.List = append(shared.List, &ast.DeclStmt{Decl: d})
			}
		}
	}
	return found
}

// says reports whether a function contains a text, such as the name of a case.
func says(function ast.Node, text string) bool {
	found := false
	ast.Inspect(function, func(n ast.Node) bool {
		if literal, ok := n.(*ast.BasicLit); ok && literal.Kind == gotoken.STRING {
			value, err := strconv.Unquote(literal.Value)
			found = found || err == nil && value == text
		}
		return !found
	})
	return found
}

// TestCoverageIsComplete: every line of the API's description has a row, and every row has a line.
func TestCoverageIsComplete(t *testing.T) {
	text, err := os.ReadFile("../../shared/API.md")
	if err != nil {
		t.Skipf("the API's description is not beside this repository: %v", err)
	}
	covered := readCoverage(t)
	stated := statements(string(text))
	for section, statements := range stated {
		for _, statement := range statements {
			if _, ok := covered[section][statement]; !ok {
				t.Errorf("%s: no row for %s", section, statement)
			}
		}
		for statement := range covered[section] {
			if !slices.Contains(statements, statement) {
				t.Errorf("%s: a row for %s, which the description lacks", section, statement)
			}
		}
	}
	for section := range covered {
		if _, ok := stated[section]; !ok {
			t.Errorf("a section %s, which the description lacks", section)
		}
	}
}

var (
	headline = regexp.MustCompile(`^#+ (?:GET \{base_url\}(\S+)|(.*))`)
	numbered = regexp.MustCompile(`^(\d+)\. `)
)

// statements names the lines of a description by section: numbered rules by their number, rows of
// tables by their first cell, points and paragraphs by their position.
func statements(text string) map[string][]string {
	all := map[string][]string{}
	var section string
	var points, paragraphs int
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		line = strings.TrimSpace(line)
		cells := cellsOf(line)
		switch heading := headline.FindStringSubmatch(line); {
		case heading != nil:
			section, points, paragraphs = heading[1]+heading[2], 0, 0
			continue
		case line == "" || len(cells) > 0 && (strings.HasPrefix(cells[0], "---") || isHead(lines, i)):
			continue
		case len(cells) > 0:
			line = cells[0]
		case strings.HasPrefix(line, "- "):
			points++
			line = fmt.Sprintf("•%d", points)
		case numbered.MatchString(line):
			line = numbered.FindStringSubmatch(line)[1]
		default:
			paragraphs++
			line = fmt.Sprintf("¶%d", paragraphs)
		}
		all[section] = append(all[section], line)
	}
	return all
}

// isHead reports whether a row is the head of its table, which a row of dashes follows.
func isHead(lines []string, i int) bool {
	if i+1 >= len(lines) {
		return false
	}
	next := cellsOf(strings.TrimSpace(lines[i+1]))
	return len(next) > 0 && strings.HasPrefix(next[0], "---")
}
