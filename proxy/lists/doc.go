// Package lists plans the answers of the public lists. A request names a list or an item,
// a face, which is its format, and parameters. The package knows no server: like proxy/api
// it makes a response.Plan of a request, and package response sends it.
package lists
