// Package openapi describes the API: an OpenAPI 3.1 document for programs, and the same as a page for people.
//
//	spec/*.yaml ──merge, extend──▶ served/openapi.json      at /openapi.json
//	                           ├─▶ served/openapi-3.0.json  at /openapi-3.0.json: the same as OpenAPI 3.0
//	                           └─▶ served/docs.html         at /docs, with the policy in served/policy.txt
//
// The description is written by hand in spec, one file for each group of endpoints. `go generate` makes the served
// files from it, and a test compares them with spec (build_test.go), so that the program need not build them. The
// tests below proxy check every answer, and those of a running program, against the description: an answer must
// not have members that its schema does not list.
//
// Client generators make types from the description. So that these are complete, a schema stands by itself: instead
// of allOf it extends one of the bases, whose members are copied into it. Rows have a name, and a value of several
// types is an anyOf of them.
//
// If a path has several modes, the schema of its answer is an anyOf with a branch for each, and two keywords of our
// own say which branch a request gets:
//
//	x-mode  the name of the mode; its example has the same name
//	x-when  {parameter: state}; the first branch whose parameter is in that
//	        state applies, and the last branch has no x-when. States: present (with or
//	        without a value), on (a flag that is not off), filled (not empty)
//
// A Description is immutable and safe for concurrent use.
package openapi

//go:generate go test . -run TestServedFilesAreUpToDate -update
