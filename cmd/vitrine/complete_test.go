package main

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"vitrine/cmd/vitrine/internal/bench"
	"vitrine/configs"
)

// complete asks the program as a shell does, and returns the values and the directive, such as ":4".
func complete(t *testing.T, args ...string) (values []string, directive string) {
	t.Helper()
	var out, errs bytes.Buffer
	if code := run(t.Context(), append([]string{"__complete"}, args...), &out, &errs); code != 0 {
		t.Fatalf("%q: exit code %d: %s", args, code, errs.String())
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	return lines[:len(lines)-1], lines[len(lines)-1]
}

// The directives that are used, as shells get them.
const (
	filesToo   = ":0"
	nothing    = ":4"
	noSpace    = ":6"
	extensions = ":8"
	onlyDirs   = ":16"
	inOrder    = ":36"
)

// eachCommand calls do with every command that has no others below it, but cobra's own.
func eachCommand(cmd *cobra.Command, do func(path []string, cmd *cobra.Command)) {
	for _, c := range cmd.Commands() {
		if c.HasSubCommands() {
			eachCommand(c, do)
		} else if path := strings.Fields(c.CommandPath())[1:]; path[0] != "completion" && path[0] != "help" {
			do(path, c)
		}
	}
}

// TestCompletionOfClosedSets: every flag that accepts only some values offers exactly these.
func TestCompletionOfClosedSets(t *testing.T) {
	views := []string{"activities", "projects", "proposals", "journals", "persons", "user_units", "events", "deadlines",
		"spectrum"}
	closed := map[string][]string{
		"materialize --view": append(slices.Clone(views), "upstream"),
		"query --view":       views,
		"bench --cases":      bench.Steps(),
	}
	// The words in a check of a setting are all that its flag accepts; in a flag's help they follow a colon.
	list := regexp.MustCompile(`(?:^|: )(\w+(?:, \w+)* or \w+)$`)
	eachCommand(rootCommand(), func(path []string, cmd *cobra.Command) {
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			at := strings.Join(path, " ") + " --" + f.Name
			for _, s := range configs.Settings() {
				if s.Flag == f.Name && s.Values() != nil {
					closed[at] = s.Values()
				}
			}
			if named := list.FindStringSubmatch(f.Usage); named != nil && closed[at] == nil {
				t.Errorf("%s: the help names its values (%s), and no completion offers them", at, named[1])
			}
		})
	})
	if len(closed) < 10 {
		t.Errorf("only %d flags have a closed set of values: %v", len(closed), slices.Sorted(maps.Keys(closed)))
	}
	for at, want := range closed {
		if got, directive := complete(t, append(strings.Fields(at), "")...); !slices.Equal(got, want) ||
			directive != inOrder {
			t.Errorf("%s: %q %s; want %q", at, got, directive, want)
		}
	}
}

// TestCompletionOfFiles: files are offered where a file is meant, and nowhere else.
func TestCompletionOfFiles(t *testing.T) {
	arguments := map[string]string{"backup": filesToo, "bench": filesToo, "compare": filesToo, "import": filesToo,
		"man": onlyDirs, "lists diff": extensions, "explain": noSpace}
	eachCommand(rootCommand(), func(path []string, cmd *cobra.Command) {
		if cmd.Hidden {
			return
		}
		want := nothing
		if d, ok := arguments[strings.Join(path, " ")]; ok {
			want = d
		}
		if _, got := complete(t, append(path, "")...); got != want {
			t.Errorf("an argument of %q: %s; want %s", path, got, want)
		}
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			if f.Value.Type() == "bool" {
				return
			}
			values, got := complete(t, append(path, "--"+f.Name, "")...)
			switch placeholder, _ := pflag.UnquoteUsage(f); {
			case f.Name == "config", f.Name == "accept":
				want = extensions
			case placeholder == "FILE":
				want = filesToo
			case placeholder == "FOLDER":
				want = onlyDirs
			case f.Name == "store":
				want = noSpace
			case len(values) > 0:
				want = inOrder
			default:
				want = got // nothing, in whatever order
				if got == filesToo {
					t.Errorf("%q --%s offers files", path, f.Name)
				}
			}
			if got != want {
				t.Errorf("%q --%s: %s; want %s", path, f.Name, got, want)
			}
		})
	})
	if _, got := complete(t, "backup", "one.db", ""); got != nothing {
		t.Errorf("a second file of backup: %s", got)
	}
}

// TestCompletionOfNames: names come from the configuration, the routes and the folders of this machine.
func TestCompletionOfNames(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "vitrine.yml")
	if err := os.WriteFile(file, []byte("lists: {named: {theses: {filter: '{}'}, owls: {filter: '{}'}}}\n"),
		0o600); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"v.db", "notes.txt"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(dir, "vault"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"lists", "diff", "--config", file, "--list", ""}, "[owls theses] :4"},
		{[]string{"lists", "diff", "--config", filepath.Join(dir, "none"), "--list", ""}, "[] :4"},
		{[]string{"check", "--store", ""}, "[bolt:// mongodb:// mongodb+srv://] :6"},
		{[]string{"check", "--store", "bolt://" + dir + "/v"},
			fmt.Sprintf("[bolt://%[1]s/v.db bolt://%[1]s/vault/] :6", dir)},
		{[]string{"check", "--store", "bolt://" + dir + "/v."}, fmt.Sprintf("[bolt://%s/v.db] :4", dir)},
		{[]string{"check", "--store", "bolt://" + dir + "/none/"}, "[] :4"},
	} {
		values, directive := complete(t, c.args...)
		if got := fmt.Sprint(values, " ", directive); got != c.want {
			t.Errorf("%q: %s; want %s", c.args, got, c.want)
		}
	}
	collections, _ := complete(t, "import", "--collection", "")
	paths, _ := complete(t, "explain", "")
	for _, name := range []string{"activities", "conferences", "groups"} {
		if !slices.Contains(collections, name) {
			t.Errorf("no collection %s in %q", name, collections)
		}
	}
	for _, path := range []string{"/api/activities", "/api/users/", "/lists/", "/items/"} {
		if !slices.Contains(paths, path) {
			t.Errorf("no path %s in %q", path, paths)
		}
	}
}

// TestCompletionScripts: each shell gets a script that asks this program.
func TestCompletionScripts(t *testing.T) {
	for _, shell := range []string{"bash", "zsh", "fish", "powershell"} {
		var out, errs bytes.Buffer
		if code := run(t.Context(), []string{"completion", shell}, &out, &errs); code != 0 ||
			!strings.Contains(out.String(), "__complete") {
			t.Errorf("%s: exit code %d, %d bytes, %s", shell, code, out.Len(), errs.String())
		}
	}
}
