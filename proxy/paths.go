package proxy

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"vitrine/proxy/api"
	"vitrine/proxy/lists"
	"vitrine/rules/suggest"
	"vitrine/rules/urlpath"
)

// The paths of routes, except those of resources, which package api has. Handlers of fixedPaths come before the
// forwarder's.
const citationPath = "/api/citation-index"

var (
	fixedPaths = []string{"/", "/healthz", "/livez", "/readyz", "/docs", "/openapi.json", "/openapi-3.0.json",
		"/favicon.ico"}
	listPaths = []string{"/lists", "/lists.json", "/lists/:list", "/lists/:kind/:id", "/items/:id", "/oembed",
		"/sitemap.xml"}
	otherListPaths = append(lists.GuidePaths(), "/robots.txt")
)

// ownRoutes are all routes of this server.
var ownRoutes = urlpath.NewRoutes(Paths())

// Paths returns the paths of a server's routes. The names of their parameters have a colon before them.
func Paths() []string { return slices.Concat(fixedPaths, movablePaths()) }

// movablePaths returns the routes that may move to the other server.
func movablePaths() []string {
	return slices.Concat(api.Paths(), listPaths, otherListPaths, []string{citationPath})
}

// CheckPath returns an error for a path that is neither a route nor above one. The error names the nearest path that
// is.
func CheckPath(path string) error {
	if ownPath(path) {
		return nil
	}
	return fmt.Errorf("no path of Vitrine: %q%s", path, didYouMean(path, Paths()))
}

// CheckMoved returns why a path cannot be one of UpstreamOptions.Routes: requests for it never reach the forwarder,
// or no route at or below it can move. A path with a slash at its end moves only what is below it.
func CheckMoved(path string) error {
	switch {
	case slices.Contains(fixedPaths, path):
		return errors.New("this server always answers it itself")
	case path == "" || !leads(path, movablePaths()):
		return errors.New("there is no such path" + didYouMean(path, movablePaths()))
	}
	return nil
}

// CheckUnkept returns an error for a path of a rule for kept answers if this server has a route for it, so that the
// rule would never be used unless the route moves to the other server.
func CheckUnkept(path string) error {
	path = strings.TrimSuffix(path, "*")
	if path == "/" {
		return nil // is for all that have no route
	}
	for _, route := range Paths() {
		part := route[strings.LastIndexByte(route, '/')+1:]
		above := strings.TrimSuffix(route, part)
		if path == route || path == above && strings.HasPrefix(part, ":") {
			return fmt.Errorf("this server answers %s itself: leave it out, or move it with routes", route)
		}
	}
	return nil
}

// ownPath reports whether a server has a route at or below a path, with or without a slash at its end.
func ownPath(path string) bool { return leads(strings.TrimSuffix(path, "/"), Paths()) }

// leads reports whether a path is one of some routes, or above one. The empty path is above all.
func leads(path string, routes []string) bool {
	parts := strings.Split(path, "/")
	return slices.ContainsFunc(routes, func(route string) bool { return isPrefix(parts, strings.Split(route, "/")) })
}

// isPrefix reports whether a route begins with the parts of a path. An empty last part follows a slash: any part of
// the route may stand there, but there must be one.
func isPrefix(path, route []string) bool {
	if len(path) > len(route) {
		return false
	}
	for i, part := range path {
		isParameter := part != "" && strings.HasPrefix(route[i], ":")
		endsInSlash := part == "" && i == len(path)-1
		if part != route[i] && !isParameter && !endsInSlash {
			return false
		}
	}
	return true
}

// didYouMean suggests one of some routes, or a path above one. It suggests no parameters, whose names clients do not
// know.
func didYouMean(path string, routes []string) string {
	var known []string
	for _, route := range routes {
		route, _, _ = strings.Cut(route, "/:")
		for ; route != ""; route = route[:strings.LastIndexByte(route, '/')] {
			known = append(known, route)
		}
	}
	if near := nearest(path, known); near != "" {
		return ", did you mean " + near + "?"
	}
	return ""
}

// nearestPath returns the path of a route that a path without one is meant to be, or "".
func nearestPath(path string) string { return nearest(path, Paths()) }

// nearest returns the one of some routes that a path is meant to be, or "": the route that pathMeanings has for it,
// or else the one with the fewest misspelt segments, with the parameters of the path filled in, or else the one
// directly above the path. Segments are compared one by one, since whole paths look alike by their common
// beginning.
func nearest(path string, routes []string) (best string) {
	plain := strings.TrimSuffix(path, "/")
	last := strings.LastIndexByte(plain, '/')
	if last < 0 || last == len(plain)-1 || len(path) > mostCompared {
		return ""
	}
	above, name := plain[:last], plain[last+1:]
	for _, m := range pathMeanings {
		if m.above == above && slices.Contains(strings.Fields(m.names), name) && slices.Contains(routes, m.route) {
			return m.route
		}
	}
	parts, fewest := strings.Split(plain, "/"), math.MaxInt
	for _, route := range routes {
		if found, edits, ok := misspelt(parts, strings.Split(route, "/")); ok && found != path && edits < fewest {
			best, fewest = found, edits
		}
	}
	if best == "" && strings.Count(above, "/") > 1 && slices.Contains(routes, above) {
		return above
	}
	return best
}

// mostCompared bounds the bytes of paths for which nearest looks, since no reader needs a longer one.
const mostCompared = 500

// pathMeanings has the names that other systems have for routes, with the path above them.
var pathMeanings = []struct{ route, above, names string }{
	{"/api/activities", "/api", "publications publication papers articles works outputs literature"},
	{"/api/search/activities", "/api/search", "publications publication papers articles works outputs"},
	{"/api/search/persons", "/api", "persons person people authors staff researchers members"},
	{"/api/search/persons", "/api/search", "users user people authors staff researchers members"},
	{"/api/search/journals", "/api", "journals journal periodicals"},
	{"/api/projects", "/api", "grants funding"},
	{"/api/events", "/api", "meetings congresses talks"},
}

// misspelt reports whether each part of a path is that of a route, a misspelling of it, or the value of a
// parameter. found is the route with the values of its parameters, which misspelt writes into route, and edits is
// how many characters are wrong.
func misspelt(parts, route []string) (found string, edits int, ok bool) {
	if len(parts) != len(route) {
		return "", 0, false
	}
	for i, part := range parts {
		if strings.HasPrefix(route[i], ":") {
			route[i] = part
			continue
		}
		near := suggest.Near(part, route[i:i+1])
		if near == "" && part != route[i] {
			return "", 0, false
		}
		edits += suggest.Edits(strings.ToLower(part), strings.ToLower(route[i]))
	}
	return strings.Join(route, "/"), edits, true
}

// isList reports whether a path is one of listRoutes.
func isList(path string) bool {
	return path == "/lists" || path == "/lists.json" || path == "/oembed" || path == "/sitemap.xml" ||
		strings.HasPrefix(path, "/lists/") || strings.HasPrefix(path, "/items/")
}
