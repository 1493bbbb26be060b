// Package lists plans the answers of the public lists: of what they show, in which face
// and by which parameters. It knows no server: like proxy/api it makes a response.Plan of
// a request, and package response sends it.
package lists
