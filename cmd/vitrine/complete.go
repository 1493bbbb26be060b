package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"vitrine/cmd/vitrine/internal/bench"
	"vitrine/configs"
	"vitrine/proxy"
	"vitrine/rules/views"
)

// Shells ask the program itself for the values of flags and arguments, so that these are always those of this
// version. Values come from the table completions, from the words that a setting's check accepts, or from a
// placeholder for a file. All other flags and arguments are completed by nothing: cobra would offer files.

// completions complete the values of flags and arguments, by the command and the flag; the flag "" is the argument.
var completions = map[[2]string]func(cmd *cobra.Command, typed string) ([]string, cobra.ShellCompDirective){
	{"materialize", "view"}:  oneOf(func() []string { return append(viewNames(), keptView) }),
	{"query", "view"}:        oneOf(viewNames),
	{"import", "collection"}: oneOf(sourceCollections),
	{"bench", "cases"}:       oneOf(bench.Steps),
	{"lists diff", "list"}:   completeLists,
	{"explain", ""}:          completePaths,
	{"lists diff", ""}:       yamlFiles,
	{"compare", "accept"}:    yamlFiles,
	{"import", ""}:           anyFile,
	{"backup", ""}:           anyFile,
	{"bench", ""}:            anyFile,
	{"compare", ""}:          anyFile,
	{"man", ""}:              folders,
}

// placeholders complete flags by the word that stands for the value in their help.
var placeholders = map[string]func(*cobra.Command, string) ([]string, cobra.ShellCompDirective){
	"FILE": anyFile, "FOLDER": folders, "file": yamlFiles, // the latter for --config
}

// addCompletions sets the functions that complete the flags and arguments of a command and of its subcommands.
func addCompletions(cmd *cobra.Command) {
	name := strings.TrimPrefix(cmd.CommandPath(), cmd.Root().Name()+" ")
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		complete := completions[[2]string{name, f.Name}]
		if complete == nil {
			complete = completeFlag(f)
		}
		// The call fails only for a flag that has a function already.
		_ = cmd.RegisterFlagCompletionFunc(f.Name, func(cmd *cobra.Command, _ []string,
			typed string) ([]string, cobra.ShellCompDirective) {
			return complete(cmd, typed)
		})
	})
	if complete := completions[[2]string{name, ""}]; complete != nil {
		cmd.ValidArgsFunction = func(cmd *cobra.Command, args []string,
			typed string) ([]string, cobra.ShellCompDirective) {
			if cmd.Args(cmd, append(args, typed)) != nil { // no further argument is allowed
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			return complete(cmd, typed)
		}
	} else if !cmd.HasSubCommands() {
		cmd.ValidArgsFunction = cobra.NoFileCompletions
	}
	for _, below := range cmd.Commands() {
		addCompletions(below)
	}
}

// completeFlag returns the function that completes a flag without an entry in completions.
func completeFlag(f *pflag.Flag) func(*cobra.Command, string) ([]string, cobra.ShellCompDirective) {
	if f.Name == "store" {
		return completeStore
	}
	for _, s := range configs.Settings() {
		if s.Flag == f.Name {
			return oneOf(s.Values)
		}
	}
	placeholder, _ := pflag.UnquoteUsage(f)
	if complete := placeholders[placeholder]; complete != nil {
		return complete
	}
	return oneOf(func() []string { return nil })
}

// oneOf completes the words that list returns, in their order.
func oneOf(list func() []string) func(*cobra.Command, string) ([]string, cobra.ShellCompDirective) {
	return func(*cobra.Command, string) ([]string, cobra.ShellCompDirective) {
		return list(), cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
	}
}

// anyFile lets the shell complete the name of a file.
func anyFile(*cobra.Command, string) ([]string, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveDefault
}

// folders lets the shell complete the name of a folder.
func folders(*cobra.Command, string) ([]string, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveFilterDirs
}

// yamlFiles lets the shell complete the name of a YAML file.
func yamlFiles(*cobra.Command, string) ([]string, cobra.ShellCompDirective) {
	return []string{"yml", "yaml"}, cobra.ShellCompDirectiveFilterFileExt
}

// viewNames returns the names of all views.
func viewNames() (names []string) {
	for _, v := range views.All() {
		names = append(names, v.Name)
	}
	return names
}

// sourceCollections returns the collections that rows are made from.
func sourceCollections() (names []string) {
	for _, v := range views.All() {
		names = slices.Concat(names, []string{v.Source}, v.Rows.Deps, v.Marks)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// completeLists completes the names of the lists in the configuration. If it cannot be read, there are none; the
// command itself reports why.
func completeLists(cmd *cobra.Command, _ string) (names []string, _ cobra.ShellCompDirective) {
	if cfg, err := loadConfig(cmd, false); err == nil {
		for name := range cfg.Lists.Named {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names, cobra.ShellCompDirectiveNoFileComp
}

// completePaths completes the paths of this program's routes, up to their first parameter.
func completePaths(*cobra.Command, string) (paths []string, _ cobra.ShellCompDirective) {
	for _, path := range proxy.Paths() {
		path, _, _ = strings.Cut(path, ":")
		paths = append(paths, path)
	}
	slices.Sort(paths)
	return slices.Compact(paths), cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
}

// completeStore completes the address of a store and, after bolt://, the file of an embedded one. Shells do not
// complete files after a scheme.
func completeStore(_ *cobra.Command, typed string) (stores []string, _ cobra.ShellCompDirective) {
	const scheme = "bolt://"
	path, embedded := strings.CutPrefix(typed, scheme)
	if !embedded {
		return []string{scheme, "mongodb://", "mongodb+srv://"}, cobra.ShellCompDirectiveNoFileComp |
			cobra.ShellCompDirectiveNoSpace
	}
	dir, _ := filepath.Split(path)
	entries, _ := os.ReadDir(filepath.Join(dir, ".")) // ignore the error: there is nothing to offer then
	done := cobra.ShellCompDirectiveNoFileComp
	for _, e := range entries {
		switch name := scheme + dir + e.Name(); {
		case !strings.HasPrefix(name, typed) || strings.HasPrefix(e.Name(), "."):
		case e.IsDir():
			stores, done = append(stores, name+"/"), done|cobra.ShellCompDirectiveNoSpace
		case filepath.Ext(name) == ".db":
			stores = append(stores, name)
		}
	}
	return stores, done
}
