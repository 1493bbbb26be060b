package proxy

import (
	"fmt"
	"strings"

	"vitrine/proxy/api"
	"vitrine/rules/similar"
)

// Paths returns the paths of a server's routes. The names of their parameters have a colon before them.
func Paths() []string {
	own := []string{
		"/", "/api/citation-index", "/docs", "/docs/embedding", "/favicon.ico", "/healthz", "/openapi.json",
		"/openapi-3.0.json", "/readyz", "/robots.txt",
	}
	return append(append(own, listPaths...), api.Paths()...)
}

// listPaths are the paths of the public lists.
var listPaths = []string{
	"/lists", "/lists.json", "/lists/:list", "/lists/:kind/:id", "/items/:id", "/oembed", "/sitemap.xml",
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
	hint := ""
	if near := similar.Nearest(strings.TrimSuffix(path, "/"), known, 4); near != "" {
		hint = ", did you mean " + near + "?"
	}
	return fmt.Errorf("no path of Vitrine: %q%s", path, hint)
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
