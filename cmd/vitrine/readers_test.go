package main

import (
	"go/ast"
	"go/types"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// valueReaders are the packages that read stored values. Public lists use only those of their functions that write
// what an item has, or read a parameter.
var valueReaders = map[string][]string{
	"vitrine/rules/person": {"Inverted", "Name"},
	"vitrine/rules/date":   {"Time", "String"},
	"vitrine/rules/pages":  {"Dashed"},
	// Beside addresses, for parameters.
	"vitrine/rules/identifier": {"DOIAddress", "DOI", "DOIKey", "FindORCID", "FindNumber", "FindPMID"},
	"vitrine/rules/keyword":    {"Key"},  // for a parameter
	"vitrine/rules/display":    {"Text"}, // of a value counted in marks
	"vitrine/rules/cite": {"Read", "With", "Brief", "Words", "Terms", "WordOfORCID", "WordOfPMID", "View", "Badges",
		"Paragraphs", "Persons", "Notice", "ArticleNumber", "ORCIDPage", "Meta", "PositionIn", "LinkName",
		"AppendBibTeX", "AppendRIS", "AppendCSL", "AppendJSONLD", "AppendCOinS"},
}

// rowFields are the fields of rows that lists read, beside their marks.
var rowFields = []string{"_id", "rendered"}

// TestArchitectureOfReaders: what makes the answers of public lists reads no stored value itself: it takes items from
// the marks of rows, so that each value has one reading in all formats.
func TestArchitectureOfReaders(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles all packages")
	}
	t.Parallel()
	looked := 0
	for _, p := range listPackages(t) {
		if !strings.HasPrefix(p.ImportPath+"/", "vitrine/proxy/lists/") {
			continue
		}
		files, info, _ := p.check(t)
		for name, f := range files {
			ast.Inspect(f, func(n ast.Node) bool {
				if id, ok := n.(*ast.Ident); ok {
					checkReader(t, p.ImportPath+"/"+name, info.Uses[id])
				}
				call, ok := n.(*ast.CallExpr)
				if field, reads := fieldRead(call, info); ok && reads {
					if looked++; !slices.Contains(rowFields, field) {
						t.Errorf("%s/%s: reads the field %q of a row", p.ImportPath, name, field)
					}
				}
				return true
			})
		}
	}
	if looked == 0 {
		t.Error("no list reads a row")
	}
}

// checkReader fails for a function that reads a stored value.
func checkReader(t *testing.T, file string, used types.Object) {
	t.Helper()
	fn, ok := used.(*types.Func)
	if !ok || fn.Pkg() == nil {
		return
	}
	if allowed, reads := valueReaders[fn.Pkg().Path()]; reads && !slices.Contains(allowed, fn.Name()) {
		t.Errorf("%s: uses %s", file, fn.FullName())
	}
}

// fieldRead returns the field that a call of Raw.Lookup or raw.Get reads from a row.
func fieldRead(call *ast.CallExpr, info *types.Info) (field string, reads bool) {
	if call == nil || len(call.Args) == 0 {
		return "", false
	}
	selected, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return "", false
	}
	fn, ok := info.Uses[selected.Sel].(*types.Func)
	if !ok {
		return "", false
	}
	from, name := selected.X, call.Args[0]
	switch fn.FullName() {
	case "(go.mongodb.org/mongo-driver/v2/bson.Raw).Lookup", "(go.mongodb.org/mongo-driver/v2/bson.Raw).LookupErr":
	case "vitrine/rules/raw.Get", "vitrine/rules/raw.Lookup", "vitrine/rules/raw.StringField":
		from, name = call.Args[0], call.Args[1]
	default:
		return "", false
	}
	if id, ok := from.(*ast.Ident); !ok || id.Name != "row" && id.Name != "doc" { // a mark, or a part of one
		return "", false
	}
	literal, ok := name.(*ast.BasicLit)
	if !ok {
		return "", false
	}
	field, err := strconv.Unquote(literal.Value)
	return field, err == nil
}
