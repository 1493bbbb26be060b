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

// mayImport lists, for a package and those below it without their own entry, which of our packages
// it may import besides those of its own entry: each name includes all packages below it.
var mayImport = map[string]string{
	"cmd":            "proxy materialize cache rules configs",
	"configs":        "rules/suggest",
	"docs":           "",
	"materialize":    "cache rules configs",
	"proxy":          "proxy cache rules configs",
	"proxy/listener": "",
	"proxy/query":    "rules",
	"proxy/auth":     "proxy/query rules configs",
	"proxy/purge":    "proxy/response cache/view/index rules configs",
	"proxy/cockpit":  "",
	"proxy/health":   "proxy/response proxy/upstream/traffic cache rules",
	"proxy/admin": "proxy/auth proxy/cockpit proxy/compare proxy/fields proxy/health proxy/keptadmin proxy/listener " +
		"proxy/lists proxy/metrics proxy/purge proxy/query proxy/upstream/traffic cache rules " +
		"configs",
	"proxy/metrics": "proxy/cockpit cache rules",
	"proxy/upstream": "proxy/auth proxy/listener proxy/metrics proxy/purge proxy/query proxy/response " +
		"proxy/upstream/traffic cache rules",
	"proxy/upstream/traffic": "",
	"proxy/response":         "proxy/listener proxy/query cache rules configs",
	"proxy/compare":          "proxy/auth cache/fair rules/display rules/ejson rules/markup rules/raw",
	"proxy/keptadmin":        "proxy/query cache rules",
	"proxy/explain": "proxy/api proxy/auth proxy/lists proxy/query proxy/response proxy/upstream/traffic " +
		"cache rules",
	"proxy/fields":     "cache rules",
	"proxy/api":        "proxy/auth proxy/query proxy/response cache rules configs",
	"proxy/lists":      "proxy/lists proxy/query proxy/response cache rules configs",
	"proxy/lists/page": "docs proxy/lists/element proxy/lists/texts rules/markup",
	"proxy/openapi":    "",
	"cache/citation":   "rules",
	"cache/fair":       "rules",
	"cache/kept":       "cache/fair cache/origin cache/view/snapfile rules",
	"cache/origin":     "cache/fair rules",
	"cache/result":     "cache/fair rules",
	"cache/view":       "cache/fair cache/origin cache/view rules",
	"cache/view/index": "cache/fair cache/view/mapped rules",
	"rules":            "",
	"rules/access":     "rules/raw",
	"rules/backoff":    "",
	"rules/cite": "rules/date rules/display rules/ejson rules/fold rules/identifier rules/keyword rules/mark " +
		"rules/markup rules/notice rules/pages rules/person rules/raw rules/views rules/yamlfile",
	"rules/csl":        "",
	"rules/date":       "rules/raw",
	"rules/display":    "rules/ejson rules/label rules/markup rules/raw",
	"rules/ejson":      "rules/raw",
	"rules/filter":     "rules/ejson rules/parallel rules/pcre rules/raw",
	"rules/fault":      "",
	"rules/flight":     "rules/fault",
	"rules/fold":       "rules/markup",
	"rules/identifier": "rules/raw",
	"rules/keyword":    "rules/display rules/fold rules/markup rules/raw",
	"rules/label":      "rules/raw rules/yamlfile",
	"rules/lru":        "",
	"rules/mark": "rules/date rules/display rules/filter rules/fold rules/identifier rules/keyword " +
		"rules/markup rules/person rules/raw rules/units",
	"rules/markup":   "",
	"rules/notice":   "rules/date rules/display rules/identifier rules/markup rules/raw",
	"rules/osiris":   "rules/access rules/filter rules/label rules/raw rules/render",
	"rules/pages":    "",
	"rules/parallel": "rules/fault",
	"rules/pcre":     "",
	"rules/person":   "rules/markup rules/raw",
	"rules/raw":      "",
	"rules/records":  "rules/mark rules/markup rules/suggest",
	"rules/render": "rules/date rules/identifier rules/label rules/markup rules/pages rules/person rules/raw " +
		"rules/yamlfile",
	"rules/similar":  "rules/parallel",
	"rules/spectrum": "rules/ejson rules/raw",
	"rules/styles":   "rules/cite rules/csl rules/label rules/mark rules/raw",
	"rules/suggest":  "",
	"rules/units":    "rules/date rules/ejson rules/raw",
	"rules/urlpath":  "",
	"rules/views":    "rules/display rules/raw rules/units",
	"rules/yamlfile": "",

	"proxy/lists/element":   "",
	"proxy/proxytest":       "proxy cache rules configs",
	"proxy/lists/selection": "proxy/lists/params proxy/lists/texts proxy/query cache rules",

	"proxy/proxytest/mistakes":   "",
	"proxy/proxytest/osiristest": "",
}

// testSupport lists the packages that exist for tests: only tests and one another import them, so that none of it is
// part of the program.
var testSupport = []string{
	"cache/origin/mongo/mongotest",
	"cmd/vitrine/programtest",
	"proxy/proxytest",
	"proxy/proxytest/mistakes",
	"proxy/proxytest/osiristest",
	"rules/cite/citetest",
	"rules/filter/filtertest",
	"rules/leaktest",
}

// vocabulary has the errors and the names of views. Packages that may import any of ours may import
// it, and so may all packages of rules.
const vocabulary = "rules"

// confined lists modules that only some packages, with those below them, may import: these packages
// exist to keep the modules from the rest.
var confined = map[string]string{
	"go.mongodb.org/mongo-driver/v2/mongo": "cache/origin/mongo",
	"go.etcd.io/bbolt":                     "cache/origin/bolt",
	"github.com/dgraph-io/ristretto/v2":    "cache/result proxy/upstream",
	"github.com/gofiber/fiber/v2":          "proxy cmd/vitrine/internal/bench",
	"github.com/valyala/fasthttp":          "proxy cmd/vitrine/internal/bench",
	"github.com/robfig/cron/v3":            "materialize",
	"github.com/spf13/cobra":               "cmd",
}

// pure lists packages below those of confined that may not import its modules either.
var pure = []string{"proxy/query", "proxy/api", "proxy/lists", "proxy/openapi"}

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
	from := entryOf(path.Dir(rel))
	for _, spec := range parsed.Imports {
		imported, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			t.Fatal(err)
		}
		if to, ours := strings.CutPrefix(imported, "vitrine/"); ours {
			if slices.Contains(testSupport, to) && !within(rel, testSupport) {
				t.Errorf("%s imports %s, which only tests may import", rel, imported)
			}
			shared := to == vocabulary && (mayImport[from] != "" || strings.HasPrefix(from, vocabulary))
			if !shared && entryOf(to) != from && !within(to+"/", strings.Fields(mayImport[from])) {
				t.Errorf("%s imports %s: %s may import only %q", rel, imported, from, mayImport[from])
			}
			continue
		}
		if homes, ok := confined[imported]; ok &&
			(!within(rel, strings.Fields(homes)) || slices.Contains(pure, path.Dir(rel))) {
			t.Errorf("%s imports %s, which only %s may import", rel, imported, homes)
		}
	}
}

// entryOf returns the entry of mayImport that a package belongs to.
func entryOf(pkg string) string {
	for ; pkg != "."; pkg = path.Dir(pkg) {
		if _, ok := mayImport[pkg]; ok {
			return pkg
		}
	}
	return ""
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
