package main

import (
	"go/ast"
	"go/types"
	"strings"
	"testing"
)

// unqueued lists the files and packages that read rows or records by methods of a store that pass by its admission
// queue (see package circuit), or that get the store without the queue. They do not work for requests.
var unqueued = map[string]string{
	"vitrine/cache/view/refresh.go":       "reads views into memory",
	"vitrine/cache/view/hold.go":          "counts rows at a poll",
	"vitrine/materialize/":                "makes the views, and reads settings",
	"vitrine/cmd/vitrine/serve.go":        "gives jobs the store without the queue",
	"vitrine/cmd/vitrine/internal/bench/": "measures",
}

// unqueuedMethods are the methods of stores that read rows or records without the queue.
var unqueuedMethods = []string{"Scan", "Sift", "Rows", "Hashes", "RowCount", "Version"}

// TestQueuePassedOnlyByJobs: only the files above use the methods that read rows or records without the admission
// queue, so all requests wait in it. It compares signatures, so it also finds such a method in an interface of
// another package.
func TestQueuePassedOnlyByJobs(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles all packages")
	}
	t.Parallel()
	own := listPackages(t)
	passing := map[string]bool{"vitrine/cache/origin/circuit.Jobs": true}
	for _, p := range own {
		if p.ImportPath == "vitrine/cache/origin" {
			_, _, pkg := p.check(t)
			store := types.NewMethodSet(pkg.Scope().Lookup("Store").Type())
			for _, name := range unqueuedMethods {
				passing[signature(store.Lookup(pkg, name).Obj().(*types.Func))] = true
			}
		}
	}
	seen := map[string]bool{}
	for _, p := range own {
		if strings.HasPrefix(p.ImportPath, "vitrine/cache/origin") || strings.HasSuffix(p.ImportPath, "test") {
			continue // stores, and helpers of tests
		}
		files, info, _ := p.check(t)
		for name, f := range files {
			ast.Inspect(f, func(n ast.Node) bool {
				id, _ := n.(*ast.Ident)
				if used, ok := info.Uses[id].(*types.Func); ok && passing[signature(used)] {
					for place := range unqueued {
						if strings.HasPrefix(p.ImportPath+"/"+name, place) {
							seen[place] = true
							return true
						}
					}
					t.Errorf("%s, %s: %s passes by the admission queue", p.ImportPath, name, used.FullName())
				}
				return true
			})
		}
	}
	for place := range unqueued {
		if !seen[place] {
			t.Errorf("%s does not pass by the admission queue", place)
		}
	}
}

// signature returns the full name of a function, or the name of a method and the types of its parameters and results.
func signature(f *types.Func) string {
	if f.Signature().Recv() == nil {
		return f.FullName()
	}
	text := f.Name()
	for _, all := range []*types.Tuple{f.Signature().Params(), f.Signature().Results()} {
		for v := range all.Variables() {
			text += " " + v.Type().String()
		}
	}
	return text
}
