// Package openapi describes the API: an OpenAPI 3.1 document for programs, and
// the same as a page for people.
//
//	spec/*.yaml ──merge, extend──▶ served/openapi.json      at /openapi.json
//	                           ├─▶ served/openapi-3.0.json  at /openapi-3.0.json: the same as OpenAPI 3.0
//	                           └─▶ served/docs.html         at /docs, with the policy in served/policy.txt
//
// The description is written by hand in spec, one file for each group of endpoints. `go
// generate` makes the served files of it, which a test compares with spec (build_test.go), so
// that the program has nothing to build. The tests of package
// proxy keep it true: they check answers against it, recorded ones and those of a running
// program, and what a schema does not list may not be answered.
//
// Generators of clients make types of it. So that these are whole, a schema stands
// by itself: instead of allOf it extends one of the bases, whose members are copied
// into it. Rows have a name, and what is of several types is an anyOf of them.
//
// Where one path has several modes, the schema of its answer is an anyOf with a
// branch for each, and two keywords of our own say which branch a call gets:
//
//	x-mode  the name of the mode; its example has the same name
//	x-when  {parameter: state}; of the branches the first whose parameter is in
//	        that state counts, the last has none. States: present (given in whatever
//	        form), on (a flag that is not off), filled (not empty)
//
// A Description is immutable and safe for concurrent use.
package openapi

//go:generate go test . -run TestServedFilesAreUpToDate -update
