package main

import (
	"bytes"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// TestManualPages: each command has a page with its flags, the same bytes each time, by requests of man(7) alone.
func TestManualPages(t *testing.T) {
	write := func() map[string]string {
		dir := t.TempDir()
		var out, errs bytes.Buffer
		if code := run(t.Context(), []string{"man", dir}, &out, &errs); code != 0 {
			t.Fatal(errs.String())
		}
		pages := map[string]string{}
		for name := range strings.Lines(out.String()) {
			name = strings.TrimSpace(name)
			page, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			pages[filepath.Base(name)] = string(page)
		}
		return pages
	}
	pages := write()
	if !maps.Equal(pages, write()) {
		t.Error("two writes differ")
	}
	eachCommand(rootCommand(), func(path []string, cmd *cobra.Command) {
		page, ok := pages["vitrine-"+strings.Join(path, "-")+".1"]
		if ok == cmd.Hidden {
			t.Errorf("%q: hidden %v, has a page %v", path, cmd.Hidden, ok)
		}
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			option := `\fB\-\-` + strings.ReplaceAll(f.Name, "-", `\-`) + `\fR`
			if ok && !strings.Contains(page, option) {
				t.Errorf("the page of %q lacks --%s", path, f.Name)
			}
		})
	})
	known := regexp.MustCompile(`^\.(TH|SH|PP|TP|nf|fi|nh|ad l)( "[^"]*")*$`)
	for name, page := range pages {
		for line := range strings.Lines(page) {
			line = strings.TrimSuffix(line, "\n")
			if strings.HasPrefix(line, ".") && !known.MatchString(line) || strings.HasPrefix(line, "'") {
				t.Errorf("%s: %s", name, line)
			}
		}
	}
}
