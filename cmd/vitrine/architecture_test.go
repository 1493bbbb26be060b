package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

// These limits keep a package small enough for a reader to take in.
const (
	maxFiles   = 30 // not counting tests
	maxCircle  = 8  // files that reach each other by the names they use
	maxMethods = 36 // the methods of a type, including promoted ones
)

// TestArchitecture: packages stay small, a reader can read their files one after another, and no
// type does everything.
func TestArchitecture(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles all packages")
	}
	t.Parallel()
	for _, p := range listPackages(t) {
		t.Run(p.ImportPath, func(t *testing.T) {
			if len(p.GoFiles) > maxFiles {
				t.Errorf("%d files; at most %d", len(p.GoFiles), maxFiles)
			}
			files, info, pkg := p.check(t)
			if circle := largestCircle(fileReferences(files, info, pkg)); len(circle) > maxCircle {
				t.Errorf("%d files reach each other: %v; at most %d", len(circle), circle, maxCircle)
			}
			for name, n := range methods(pkg) {
				if n > maxMethods {
					t.Errorf("%s has %d methods; at most %d", name, n, maxMethods)
				}
			}
		})
	}
}

// reading are the files that read views and the clock beside the plans of their package.
var reading = map[string][]string{
	"vitrine/proxy/api": {
		"users.go",          // looks up the users of sessions
		"routes.go",         // compiles the filters of plans
		"person_lookup.go",  // expires look-ups, whose records are in the queries of plans
		"citation_index.go", // answers without a plan
	},
	"vitrine/proxy/lists": {
		"diff.go",  // compares lists for the operator
		"lists.go", // compiles filters
	},
}

// TestAnswersHaveNoViews: what makes answers reads views and the clock by response.Planning alone, so that an answer
// is made from the snapshots and the time that its key names.
func TestAnswersHaveNoViews(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles all packages")
	}
	t.Parallel()
	found := 0
	for _, p := range listPackages(t) {
		if p.ImportPath != "vitrine/proxy/api" && !strings.HasPrefix(p.ImportPath+"/", "vitrine/proxy/lists/") {
			continue
		}
		files, info, _ := p.check(t)
		for name, f := range files {
			ast.Inspect(f, func(n ast.Node) bool {
				id, ok := n.(*ast.Ident)
				if !ok || info.Uses[id] == nil || id.Name != "Snapshot" && id.Name != "Now" {
					return true
				}
				if _, isType := info.Uses[id].(*types.TypeName); isType ||
					slices.Contains(reading[p.ImportPath], name) {
					return true
				}
				of := "response.Planning)." + id.Name
				if fn, ok := info.Uses[id].(*types.Func); ok && strings.HasSuffix(fn.FullName(), of) {
					found++
					return true
				}
				t.Errorf("%s, %s: uses %v", p.ImportPath, name, info.Uses[id])
				return true
			})
		}
	}
	if found == 0 {
		t.Error("no plan reads the clock or a view")
	}
}

// goPackage is a package as go list describes it.
type goPackage struct {
	ImportPath, Dir, Export string
	GoFiles                 []string
	Module                  *struct{ Main bool }

	checked func() (checkedPackage, error) // the result of the first call; the tests share it
}

// checkedPackage is a package with its types. Tests read it at the same time.
type checkedPackage struct {
	files map[string]*ast.File // by name
	info  *types.Info
	pkg   *types.Package
}

// listPackages returns the packages of this module.
func listPackages(t *testing.T) []goPackage {
	t.Helper()
	own, err := ownPackages()
	if err != nil {
		t.Fatal(err)
	}
	return own
}

// ownPackages compiles and lists the packages of this module, once for all tests.
var ownPackages = sync.OnceValues(func() (own []goPackage, err error) {
	list := exec.Command("go", "list", "-export", "-deps", "-json=ImportPath,Dir,Export,GoFiles,Module", "./...")
	list.Dir = filepath.Join("..", "..")
	list.Stderr = os.Stderr
	out, err := list.Output()
	if err != nil {
		return nil, err
	}
	exports := map[string]string{} // of all packages, by import path
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p goPackage
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return own, nil
		} else if err != nil {
			return nil, err
		}
		exports[p.ImportPath] = p.Export
		if p.Module != nil && p.Module.Main {
			p.checked = sync.OnceValues(func() (checkedPackage, error) { return p.typeCheck(exports) })
			own = append(own, p)
		}
	}
})

// check returns the files and types of a package.
func (p goPackage) check(t *testing.T) (map[string]*ast.File, *types.Info, *types.Package) {
	t.Helper()
	c, err := p.checked()
	if err != nil {
		t.Fatal(err)
	}
	return c.files, c.info, c.pkg
}

// typeCheck reads and type-checks a package.
func (p goPackage) typeCheck(exports map[string]string) (c checkedPackage, err error) {
	fset := token.NewFileSet()
	c.files, c.info = map[string]*ast.File{}, &types.Info{Uses: map[*ast.Ident]types.Object{}}
	all := make([]*ast.File, 0, len(p.GoFiles))
	for _, name := range p.GoFiles {
		f, err := parser.ParseFile(fset, filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution)
		if err != nil {
			return c, err
		}
		c.files[name] = f
		all = append(all, f)
	}
	conf := types.Config{Importer: importer.ForCompiler(fset, "gc",
		func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) })}
	c.pkg, err = conf.Check(p.ImportPath, fset, all, c.info)
	return c, err
}

// fileReferences maps each file of a package to the files whose names it uses.
func fileReferences(files map[string]*ast.File, info *types.Info, pkg *types.Package) map[string][]string {
	of := func(pos token.Pos) string {
		for name, f := range files {
			if f.FileStart <= pos && pos <= f.FileEnd {
				return name
			}
		}
		return ""
	}
	refs := map[string][]string{}
	for name, f := range files {
		refs[name] = nil
		ast.Inspect(f, func(n ast.Node) bool {
			id, ok := n.(*ast.Ident)
			if !ok {
				return true
			}
			if o := info.Uses[id]; o != nil && o.Pkg() == pkg && o.Pos().IsValid() &&
				(o.Pos() < f.FileStart || o.Pos() > f.FileEnd) {
				if to := of(o.Pos()); !slices.Contains(refs[name], to) {
					refs[name] = append(refs[name], to)
				}
			}
			return true
		})
	}
	return refs
}

// largestCircle returns the largest set of files that all reach each other.
func largestCircle(refs map[string][]string) (largest []string) {
	reached := map[string]map[string]bool{}
	for from := range refs {
		seen := map[string]bool{}
		for todo := slices.Clone(refs[from]); len(todo) > 0; {
			to := todo[len(todo)-1]
			if todo = todo[:len(todo)-1]; !seen[to] {
				seen[to] = true
				todo = append(todo, refs[to]...)
			}
		}
		reached[from] = seen
	}
	for from, seen := range reached {
		circle := []string{from}
		for to := range seen {
			if to != from && reached[to][from] {
				circle = append(circle, to)
			}
		}
		if cmp.Compare(len(circle), len(largest)) > 0 {
			slices.Sort(circle)
			largest = circle
		}
	}
	return largest
}

// methods counts the methods of each type, including those that embedded fields promote.
func methods(pkg *types.Package) map[string]int {
	n := map[string]int{}
	for _, name := range pkg.Scope().Names() {
		if o, ok := pkg.Scope().Lookup(name).(*types.TypeName); ok && !types.IsInterface(o.Type()) {
			n[name] = types.NewMethodSet(types.NewPointer(o.Type())).Len()
		}
	}
	return n
}
