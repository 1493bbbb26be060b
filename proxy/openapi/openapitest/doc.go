// Package openapitest compares answers of the API with its description. A test passes an
// answer with the request that it answers:
//
//	path ──▶ operation ──▶ response for the status ──▶ schema of the mode ──▶ the body is valid, or why not
//
// Which mode a request has is read from the description too (x-when; see package
// openapi), so that a row of one mode cannot pass as a row of another.
package openapitest
