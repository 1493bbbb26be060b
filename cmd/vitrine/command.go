package main

import (
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"text/tabwriter"
	"text/template"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"vitrine/cache/origin/bolt"
	"vitrine/proxy/keptadmin"
	"vitrine/rules/access"
	"vitrine/rules/osiris"
	"vitrine/rules/suggest"
	"vitrine/rules/yamlfile"
)

//go:embed help.yaml
var helpSource []byte

// helpTexts are the texts of the commands, by the names of their parents and their own ("lists diff"). They are in
// YAML, because they are longer than the code of most commands. A mistake in the file panics at the first command.
var helpTexts = sync.OnceValue(func() (all map[string]struct{ Use, Short, Long, Example string }) {
	yamlfile.BuiltIn("help.yaml", helpSource, &all)
	return all
})

// newCommand returns the command with a name, without arguments. The name is a key of help.yaml.
func newCommand(name string) *cobra.Command {
	h := helpTexts()[name]
	return &cobra.Command{Use: h.Use, Short: h.Short, Long: h.Long, Example: h.Example, Args: cobra.NoArgs}
}

// groupCommand returns the command with a name whose work the given commands do.
func groupCommand(name string, commands ...*cobra.Command) *cobra.Command {
	group := newCommand(name)
	group.AddCommand(commands...)
	// Without these two, cobra would print the help for a mistyped name, and return no error.
	group.Args, group.RunE = cobra.ArbitraryArgs, func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return cmd.Help()
		}
		var names []string
		for _, c := range commands {
			names = append(names, c.Name())
		}
		return fmt.Errorf("unknown command %q for %q%s", args[0], cmd.CommandPath(),
			suggest.Hint(args[0], names))
	}
	return group
}

// suggestFlag adds the nearest flag of a command to the error for an unknown one. pflag's error type has the name
// without dashes.
func suggestFlag(cmd *cobra.Command, err error) error {
	unknown := (*pflag.NotExistError)(nil)
	if !errors.As(err, &unknown) {
		return err
	}
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	if near := suggest.Near(unknown.GetSpecifiedName(), names); near != "" {
		return fmt.Errorf("%w, did you mean --%s?", err, near)
	}
	return err
}

//go:embed output.tmpl
var outputSource string

// output has the templates of what commands print. Templates keep what people read apart from what commands do.
// With --json a command uses none of them. Decisions are made before, in Go.
var output = template.Must(template.New("").Funcs(template.FuncMap{
	"ago":   ago,
	"began": func(job *keptadmin.LastRun) string { return ago(&job.Began) },
	"seconds": func(s float64) time.Duration {
		return time.Duration(s * float64(time.Second)).Round(time.Millisecond)
	},
	"millis": millis,
	"more":   func(all, listed int) int { return max(all-listed, 0) },
	"join":   func(words []string) string { return strings.Join(words, ", ") },
	"rights": func(all []access.Permission) string { return strings.Join(named[string](all), ", ") },
	"key":    keyState,
	"records": func(parts []bolt.Part) (n int) {
		for _, p := range parts {
			n += p.Records
		}
		return n
	},
}).Parse(outputSource))

// millis prints a duration in milliseconds, or "-" for nil, which is unknown.
func millis(ms *float64) string {
	if ms == nil {
		return "-"
	}
	return (time.Duration(*ms*1000) * time.Microsecond).Round(time.Millisecond / 10).String()
}

// printTable prints data by the template with a name, with aligned columns. The columns are as wide as the widest
// cell and two blanks apart. Flush is called in any case, so that the error of the template does not hide the rows
// before it.
func printTable(w io.Writer, name string, data any) error {
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	return errors.Join(output.ExecuteTemplate(tw, name, data), tw.Flush())
}

// keyState describes a key without revealing it.
func keyState(k osiris.APIKey) string {
	switch {
	case k.Sealed:
		return "unusable: calls are refused"
	case k.Text != "":
		return "set, not shown"
	}
	return ""
}

// ago prints how long ago a time was; a time in the future counts as now. The clocks of the store's writer and of
// this machine differ, so a time may lie in the future. nil means that what is asked for has not happened.
func ago(t *time.Time) string {
	if t == nil {
		return "never"
	}
	return max(time.Since(*t), 0).Round(time.Second).String()
}

// printJSON prints a value as indented JSON, the form of --json. Durations are in nanoseconds, as package json
// writes them.
func printJSON(w io.Writer, value any) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(value)
}
