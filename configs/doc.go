// Package configs has everything that a start needs: the typed configuration with its defaults, the code that reads
// it, and the built-in files: rules, labels, and the institute of the demo.
//
// A setting comes from the first of these sources that has it:
//
//	flag  >  environment  >  file  >  preset  >  default
//
// Load lays them over each other in that order, then checks the whole. It reports every mistake at once, each with
// its place (file and line, variable or flag) and the dotted name of the key, so that one start shows all mistakes. A
// configuration returned by Load is read-only and may be shared between goroutines.
//
// settings.yaml describes every setting once: name, meaning, default, limits and flag. All sources are read in the
// same way: file, environment and flags become YAML nodes, and one function sets the values from them. Defaults, and
// the values of presets and of the demo, which are tables, are written as in the environment, and read in the same
// way. If another package has the parser of a setting, Load calls that parser (Checks), so that a text has only one
// meaning.
//
// docs/configuration.md and vitrine.sample.yml are generated from settings.yaml (reference_test.go).
//
// Secrets have a type of their own and always print as "[set]".
//
// The files, from below:
//
//	types.go, config.go    the types: secrets, sizes, the struct of all settings
//	origins.go             where each value was given
//	schema.go, check.go    settings.yaml, and the checks of single values
//	read.go                YAML nodes ─▶ values; file.go and sources.go make the nodes
//	load.go                the sources in their order, and checks of several settings together
//	protect.go, warnings.go, write.go    a reload, what is suspicious, the printed form
//
// A reload reads a second Config and never changes the first: Protecting and Keeping lay what must stay over the
// new one. Requests that run meanwhile go on with the old one.
package configs

//go:generate go test . -run TestFilesAreUpToDate -update
