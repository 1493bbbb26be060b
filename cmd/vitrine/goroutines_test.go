package main

import (
	"go/ast"
	"go/parser"
	"go/printer"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
)

// readers are the packages whose goroutines may read rows in mapped files, where a fault ends the process unless the
// goroutine begins with fault.Panics and recovers.
var readers = []string{"cache/view", "cache/result", "cache/fair", "rules/flight", "rules/parallel", "proxy"}

// safe says why the goroutines of a file that are not seen to do so end nothing.
var safe = map[string]string{
	"cache/fair/share.go":         "parallel.Group",
	"cache/view/indexing.go":      "reads no rows",
	"cache/view/loader.go":        "parallel.Group",
	"cache/view/refresh.go":       "what reads rows is contained",
	"cache/view/set.go":           "what reads rows is contained",
	"proxy/compare/comparison.go": "reads no rows",
	"proxy/compare/shadow.go":     "reads no rows: the server answers on another goroutine",
	"proxy/purge/purge.go":        "reads no rows: it sends tags",
	"proxy/response/popular.go":   "the load recovers (Cache.run)",
	"proxy/response/responder.go": "the load recovers (Cache.run)",
	"proxy/serve.go":              "serveConn recovers; the others read no rows",
	"proxy/upstream/flight.go":    "reads no rows",
	"proxy/upstream/forwarder.go": "reads no rows: the Keeper fetches on another goroutine",
	"rules/flight/flight.go":      "the run recovers (Group.run)",
	"rules/parallel/parallel.go":  "parallel.Group, which recovers",

	"proxy/upstream/gate/body.go":   "reads no rows",
	"proxy/upstream/gate/gate.go":   "reads no rows",
	"proxy/upstream/gate/places.go": "reads no rows",
}

// TestGoroutinesContainFaults: every goroutine that is started where rows are read contains faults, or is listed
// above.
func TestGoroutinesContainFaults(t *testing.T) {
	root, used := filepath.Join("..", ".."), map[string]bool{}
	for _, dir := range readers {
		err := filepath.WalkDir(filepath.Join(root, dir), func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") ||
				strings.Contains(path, "proxytest") {
				return err
			}
			set := token.NewFileSet()
			file, err := parser.ParseFile(set, path, nil, 0)
			if err != nil {
				return err
			}
			rel, _ := filepath.Rel(root, path) // cannot fail: path is below root
			name := filepath.ToSlash(rel)
			ast.Inspect(file, func(n ast.Node) bool {
				if started := goroutine(n); started != nil && !containsFaults(set, started) {
					if used[name] = true; safe[name] == "" {
						t.Errorf(
							"%s: a fault in a mapped file would end the process: begin with fault.Panics and recover",
							set.Position(n.Pos()))
					}
				}
				return true
			})
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for name := range safe {
		if !used[name] {
			t.Errorf("%s starts no such goroutine any more", name)
		}
	}
}

// goroutine returns what a statement or call starts in a new goroutine, or nil.
func goroutine(n ast.Node) ast.Node {
	switch n := n.(type) {
	case *ast.GoStmt:
		return n.Call
	case *ast.CallExpr:
		if method, ok := n.Fun.(*ast.SelectorExpr); ok && method.Sel.Name == "Go" && len(n.Args) == 1 {
			return n.Args[0]
		}
	}
	return nil
}

func containsFaults(set *token.FileSet, n ast.Node) bool {
	var text strings.Builder
	_ = printer.Fprint(&text, set, n) // cannot fail: it was parsed
	return strings.Contains(text.String(), "fault.Panics()()") && strings.Contains(text.String(), "recover()")
}
