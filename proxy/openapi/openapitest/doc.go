// Package openapitest holds answers of the API against its description. Whoever
// has an answer hands it in with the request that it answers:
//
//	path ──▶ operation ──▶ response for the status ──▶ schema of the mode ──▶ the body is valid, or why not
//
// Which mode a request has is read from the description too (x-when; see package
// openapi), so that a row of one mode cannot pass as a row of another.
package openapitest
