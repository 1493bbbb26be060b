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

// Shells ask the program itself for the values of flags and arguments, so that they are always those of this version.
// A value is completed by what it is: the words that a setting's check accepts, the names in completions, a file, or
// nothing. A shell must not offer files where none is meant, which is what cobra does without this.

// completions are the values that flags and arguments accept, by the command and the flag; "" is an argument.
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

// placeholders are the kinds of values by the word that stands for the value in a flag's help.
var placeholders = map[string]func(*cobra.Command, string) ([]string, cobra.ShellCompDirective){
	"FILE": anyFile, "FOLDER": folders, "file": yamlFiles, // file is that of --config
}

// addCompletions gives every flag and argument of a command, and of those below it, a function that completes it.
func addCompletions(cmd *cobra.Command) {
	name := strings.TrimPrefix(cmd.CommandPath(), cmd.Root().Name()+" ")
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		complete := completions[[2]string{name, f.Name}]
		if complete == nil {
			complete = completeFlag(f)
		}
		// It fails only for a flag that has one already.
		_ = cmd.RegisterFlagCompletionFunc(f.Name, func(cmd *cobra.Command, _ []string,
			typed string) ([]string, cobra.ShellCompDirective) {
			return complete(cmd, typed)
		})
	})
	if complete := completions[[2]string{name, ""}]; complete != nil {
		cmd.ValidArgsFunction = func(cmd *cobra.Command, args []string,
			typed string) ([]string, cobra.ShellCompDirective) {
			if cmd.Args(cmd, append(args, typed)) != nil { // there may be no more
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

// completeFlag returns how a flag is completed that is not in completions.
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

// oneOf completes the words of a list.
func oneOf(list func() []string) func(*cobra.Command, string) ([]string, cobra.ShellCompDirective) {
	return func(*cobra.Command, string) ([]string, cobra.ShellCompDirective) {
		return list(), cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
	}
}

func anyFile(*cobra.Command, string) ([]string, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveDefault
}

func folders(*cobra.Command, string) ([]string, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveFilterDirs
}

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

// completeLists completes the names of the lists that the configuration names. A configuration that cannot be read has
// none: the command itself says why.
func completeLists(cmd *cobra.Command, _ string) (names []string, _ cobra.ShellCompDirective) {
	if cfg, err := loadConfig(cmd, false); err == nil {
		for name := range cfg.Lists.Named {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names, cobra.ShellCompDirectiveNoFileComp
}

// completePaths completes the paths of this program's answers, up to what a path has to name.
func completePaths(*cobra.Command, string) (paths []string, _ cobra.ShellCompDirective) {
	for _, path := range proxy.Paths() {
		path, _, _ = strings.Cut(path, ":")
		paths = append(paths, path)
	}
	slices.Sort(paths)
	return slices.Compact(paths), cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
}

// completeStore completes an address of a store, and the file of an embedded one, which shells do not do behind a
// scheme.
func completeStore(_ *cobra.Command, typed string) (stores []string, _ cobra.ShellCompDirective) {
	const scheme = "bolt://"
	path, embedded := strings.CutPrefix(typed, scheme)
	if !embedded {
		return []string{scheme, "mongodb://", "mongodb+srv://"}, cobra.ShellCompDirectiveNoFileComp |
			cobra.ShellCompDirectiveNoSpace
	}
	dir, _ := filepath.Split(path)
	entries, _ := os.ReadDir(filepath.Join(dir, ".")) // without the folder there is nothing to offer
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
