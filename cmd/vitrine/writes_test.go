package main

import (
	"go/ast"
	"go/types"
	"testing"
)

// TestArchitectureOfWrites: the embedded store writes keys in one file only, which looks for them after the commit.
func TestArchitectureOfWrites(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles all packages")
	}
	t.Parallel()
	const home = "writetx.go"
	writes := 0
	for _, p := range listPackages(t) {
		if p.ImportPath != "vitrine/cache/origin/bolt" {
			continue
		}
		files, info, _ := p.check(t)
		for name, f := range files {
			ast.Inspect(f, func(n ast.Node) bool {
				id, ok := n.(*ast.Ident)
				if !ok {
					return true
				}
				fn, ok := info.Uses[id].(*types.Func)
				if !ok {
					return true
				}
				switch fn.FullName() {
				case "(*go.etcd.io/bbolt.Bucket).Put", "(*go.etcd.io/bbolt.Bucket).Delete",
					"(*go.etcd.io/bbolt.Cursor).Delete":
					if writes++; name != home {
						t.Errorf("%s: uses %s", name, fn.FullName())
					}
				}
				return true
			})
		}
	}
	if writes == 0 {
		t.Errorf("%s writes no key", home)
	}
}
