package proxy

import (
	"cmp"
	"errors"
	"slices"
	"strings"

	"github.com/gofiber/fiber/v2"

	"vitrine/proxy/lists/params"
)

// CheckMoved returns why a path cannot be one of UpstreamOptions.Routes: requests for it never reach the forwarder, or
// there is nothing at it or below it that could move.
func CheckMoved(path string) error {
	if slices.Contains(fixedPaths, path) {
		return errors.New("this server always answers it itself")
	}
	// Parameters have no names in what people read, and what is above routes moves all of them.
	var known []string
	for _, route := range movablePaths() {
		below := cmp.Or(strings.TrimSuffix(path, "/"), "/") + "/"
		if fiber.RoutePatternMatch(path, route, exact) || strings.HasPrefix(route, below) {
			return nil
		}
		for ; route != ""; route = route[:strings.LastIndexByte(route, '/')] {
			if !strings.Contains(route, ":") {
				known = append(known, route)
			}
		}
	}
	return errors.New("there is no such path" + params.DidYouMean(path, known))
}

// exact makes Fiber match paths as the app does.
var exact = fiber.Config{CaseSensitive: true}
