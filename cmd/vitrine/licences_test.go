package main

import (
	"bytes"
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/licensecheck"
)

// permitted are the licences that a module of the program may have.
var permitted = []string{"Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "ISC", "MIT"}

// linked is a module with packages that are linked into the program.
type linked struct{ Path, Version, Dir string }

// linkedModules lists the linked modules by path.
func linkedModules(t *testing.T) []linked {
	t.Helper()
	list := exec.Command("go", "list", "-deps", "-f",
		"{{with .Module}}{{with or .Replace .}}{{.Path}}\t{{.Version}}\t{{.Dir}}{{end}}{{end}}", ".")
	list.Env = append(os.Environ(), "GOOS=linux", "GOARCH=amd64", "CGO_ENABLED=0") // the platform of a release
	out, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	var all []linked
	for line := range strings.Lines(string(out)) {
		field := strings.Split(strings.TrimSpace(line), "\t")
		if len(field) == 3 && field[0] != "vitrine" {
			all = append(all, linked{field[0], field[1], field[2]})
		}
	}
	slices.SortFunc(all, func(a, b linked) int { return cmp.Compare(a.Path, b.Path) })
	return slices.Compact(all)
}

// licences recognises the licences in a module's licence files; a module may have several.
func (m linked) licences() (names []string, err error) {
	entries, err := os.ReadDir(m.Dir)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		stem := strings.ToUpper(strings.TrimSuffix(e.Name(), filepath.Ext(e.Name())))
		if e.IsDir() || !slices.Contains([]string{"LICENSE", "LICENCE", "COPYING"}, strings.SplitN(stem, "-", 2)[0]) {
			continue
		}
		text, err := os.ReadFile(filepath.Join(m.Dir, e.Name()))
		if err != nil {
			return nil, err
		}
		found := licensecheck.Scan(text)
		if found.Percent < 75 {
			return nil, fmt.Errorf("%s: only %.0f %% of %s is a known licence", m.Path, found.Percent, e.Name())
		}
		for _, match := range found.Match {
			names = append(names, match.ID)
		}
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}

// TestLicences compares docs/licences.md with the linked modules, and every module's licences with
// those permitted. -update writes the page.
func TestLicences(t *testing.T) {
	wholeOnly(t)
	t.Parallel()
	var page bytes.Buffer
	page.WriteString("# What the program is made of\n\n" +
		"Every module that is linked into `vitrine`, with its licence. Generated and checked by a test\n" +
		"(`go test ./cmd/vitrine -run TestLicences -update`); only " + strings.Join(permitted, ", ") + " are\n" +
		"accepted. `go version -m vitrine` prints the same modules. Vitrine itself is\n" +
		"under the [MIT licence](../LICENSE), Go's standard library under BSD-3-Clause.\n\n" +
		"| module | version | licence |\n| --- | --- | --- |\n")
	for _, m := range linkedModules(t) {
		names, err := m.licences()
		if err != nil || len(names) == 0 {
			t.Errorf("%s: licence not found: %v", m.Path, err)
		}
		for _, name := range names {
			if !slices.Contains(permitted, name) {
				t.Errorf("%s: licence %s is not permitted", m.Path, name)
			}
		}
		fmt.Fprintf(&page, "| [%s](https://pkg.go.dev/%[1]s@%[2]s) | %[2]s | %[3]s |\n", m.Path, m.Version,
			strings.Join(names, ", "))
	}
	const file = "../../docs/licences.md"
	if *update {
		if err := os.WriteFile(file, page.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if have, err := os.ReadFile(file); err != nil || !bytes.Equal(have, page.Bytes()) {
		t.Errorf("%s differs from the linked modules (%v): write it again with -update", file, err)
	}
}
