// Package configs holds everything a start needs to know: the typed
// configuration with its defaults, how it is read, and what is built in: rules, labels,
// and the institute that the demo serves.
//
// A setting comes from the first of these that names it:
//
//	flag  >  environment  >  file  >  preset  >  default
//
// Load lays them over each other in that order, then checks the whole. It
// reports every mistake at once, each with its place (file and line, variable
// or flag) and the dotted name of the key, so that one start shows all there is
// to mend. A configuration returned by Load is read-only and may be shared between
// goroutines.
//
// settings.yaml describes every setting once: name, meaning, default, bounds and flag. Every
// source is read by it, file, environment and flags becoming nodes of YAML that one walk sets.
// Defaults, and the values of presets and of the demo, which are tables, are written
// as the environment gives them, and read like it. Where another package has the parser of
// a setting, Load calls that one (Checks), so that a text has one meaning.
//
// docs/configuration.md and vitrine.sample.yml are made from settings.yaml
// (reference_test.go).
//
// Secrets have a type of their own and print as "[set]", wherever they end up.
package configs

//go:generate go test . -run TestFilesAreUpToDate -update
