package proxy

import (
	"fmt"
	"slices"
	"strings"

	"vitrine/proxy/api"
	"vitrine/proxy/lists/params"
)

// The paths of routes, except those of resources, which package api has. Handlers of fixedPaths come before the
// forwarder's.
const citationPath = "/api/citation-index"

var (
	fixedPaths     = []string{"/", "/healthz", "/readyz", "/docs", "/openapi.json", "/openapi-3.0.json", "/favicon.ico"}
	listPaths      = []string{"/lists", "/lists.json", "/lists/:list", "/lists/:kind/:id", "/items/:id", "/oembed", "/sitemap.xml"}
	otherListPaths = []string{"/docs/embedding", "/robots.txt"}
)

// Paths returns the paths of a server's routes. The names of their parameters have a colon before them.
func Paths() []string { return slices.Concat(fixedPaths, movablePaths()) }

// movablePaths returns the routes that may move to the other server.
func movablePaths() []string {
	return slices.Concat(api.Paths(), listPaths, otherListPaths, []string{citationPath})
}

// CheckPath returns an error for a path that is neither that of a route nor above or, for those with an id, below
// one. It names the nearest that is.
func CheckPath(path string) error {
	if ownPath(path) {
		return nil
	}
	var known []string
	for _, route := range Paths() {
		route, _, _ = strings.Cut(route, "/:")
		known = append(known, route)
		for n := strings.LastIndexByte(route, '/'); n > 0; n = strings.LastIndexByte(route, '/') {
			route = route[:n]
			known = append(known, route)
		}
	}
	return fmt.Errorf("no path of Vitrine: %q%s", path, params.DidYouMean(strings.TrimSuffix(path, "/"), known))
}

// ownPath reports whether a server has a route at or below a path.
func ownPath(path string) bool {
	parts := partsOf(path)
	for _, route := range Paths() {
		if meet(parts, partsOf(route)) {
			return true
		}
	}
	return false
}

func partsOf(path string) []string { return strings.Split(strings.Trim(path, "/"), "/") }

// meet reports whether one of a path and a route is at or above the other.
func meet(path, route []string) bool {
	if path[0] == "" {
		return true // the root is above all
	}
	for i, part := range path {
		if i == len(route) {
			return false // nothing is below a route
		}
		if part != route[i] && !strings.HasPrefix(route[i], ":") {
			return false
		}
	}
	return true
}
