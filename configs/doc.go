// Package configs holds everything a start needs to know: the typed
// configuration with its defaults, how it is read, and the institute that the
// demo serves (configs/demo).
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
// One list of keys, made from the fields of Config and their tags (Keys), is what every
// source is read by: file, environment and flags become assignments of texts to keys.
// Defaults are tags, and the values of presets and of the demo are tables; both are written
// as the environment gives them, and read like it. Where another package has the parser of
// a setting, Load calls that one (Checks), so that a text has one meaning.
//
// The comments on the fields of Config are the reference: docs/configuration.md
// and vitrine.sample.yml are made from them (reference_test.go).
//
// Secrets have a type of their own and print as "[set]", wherever they end up.
package configs

//go:generate go test . -run TestFilesAreUpToDate -update
