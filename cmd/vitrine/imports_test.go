package main

import (
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// mayImport says which parts of the house a part may know, besides itself.
var mayImport = map[string][]string{
	"cmd":         {"proxy", "materialize", "cache", "rules", "configs"},
	"proxy":       {"cache", "rules"},
	"materialize": {"cache", "rules"},
	"cache":       {"rules"},
	"rules":       {},
	"configs":     {},
}

// confined lists modules that only one folder may import, because it exists to
// keep them from the rest.
var confined = map[string]string{
	"go.mongodb.org/mongo-driver/v2/mongo": "cache/origin/mongo",
	"go.etcd.io/bbolt":                     "cache/origin/bolt",
	"github.com/dgraph-io/ristretto/v2":    "cache/result proxy",
	"github.com/gofiber/fiber/v2":          "proxy cmd/vitrine/internal/bench/bare",
	"github.com/robfig/cron/v3":            "materialize configs",
	"github.com/spf13/cobra":               "cmd",
}

func TestImportsPointOneWay(t *testing.T) {
	root := filepath.Join("..", "..")
	err := filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if name := d.Name(); name == "testdata" || strings.HasPrefix(name, ".") && name != ".." {
				return fs.SkipDir
			}
			return nil
		}
		if strings.HasSuffix(file, ".go") && !strings.HasSuffix(file, "_test.go") {
			rel, err := filepath.Rel(root, file)
			if err != nil {
				return err
			}
			checkImports(t, file, filepath.ToSlash(rel))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// checkImports reports every import of a file that its folder may not have.
func checkImports(t *testing.T, file, rel string) {
	t.Helper()
	parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
	if err != nil {
		t.Fatal(err)
	}
	from, _, _ := strings.Cut(rel, "/")
	for _, spec := range parsed.Imports {
		imported, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			t.Fatal(err)
		}
		if to, ours := strings.CutPrefix(imported, "vitrine/"); ours {
			to, _, _ = strings.Cut(to, "/")
			if to != from && !slices.Contains(mayImport[from], to) {
				t.Errorf("%s imports %s: %s may know only %v", rel, imported, from, mayImport[from])
			}
			continue
		}
		if homes, ok := confined[imported]; ok && !within(rel, strings.Fields(homes)) {
			t.Errorf("%s imports %s, which is for %s alone", rel, imported, homes)
		}
	}
}

// within reports whether a file is in one of the folders or below.
func within(rel string, folders []string) bool {
	for dir := path.Dir(rel); dir != "."; dir = path.Dir(dir) {
		if slices.Contains(folders, dir) {
			return true
		}
	}
	return false
}
