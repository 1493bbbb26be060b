package upstream

import (
	"cmp"
	"net/http"
	"slices"
	"strings"

	"github.com/gofiber/fiber/v2"
)

// Accepted says which requests are forwarded in addition to GET and HEAD, which have no bodies. A reload changes
// it.
type Accepted struct {
	Methods   []string // forwarded in addition to GET and HEAD
	BodyBytes int      // the longest body of a request; if 0, 1 MiB
}

// unforwardedBody is the longest body that the server reads where no bodies are forwarded, in bytes. It reads short
// ones although it has no use for them, so that their clients get an answer that says what is wrong.
const unforwardedBody = 16 << 10

// BodyLimit returns the longest body of a request that the server reads, in bytes. It reads a body whole before it
// forwards it: a client that sends slowly holds no connection of the other server meanwhile.
func (a Accepted) BodyLimit() int {
	if len(a.Methods) == 0 {
		return unforwardedBody
	}
	return cmp.Or(a.BodyBytes, 1<<20)
}

// RequestMethods returns the methods that the server accepts, or nil for Fiber's own, which Fiber looks up faster.
func (a Accepted) RequestMethods() (all []string) {
	for _, method := range a.Methods {
		if !slices.Contains(fiber.DefaultMethods, method) {
			all = append(all, method)
		}
	}
	if len(all) > 0 {
		all = append(slices.Clone(fiber.DefaultMethods), all...)
	}
	return all
}

// Routable reports whether a server that started with a accepts all methods of next. The table of routes, which is
// made at the start, has a column for each method.
func (a Accepted) Routable(next Accepted) bool {
	return !slices.ContainsFunc(next.RequestMethods(), func(method string) bool {
		return !slices.Contains(fiber.DefaultMethods, method) && !slices.Contains(a.Methods, method)
	})
}

// check refuses a method that is not forwarded.
func (a Accepted) check(c *fiber.Ctx) error {
	switch method := c.Method(); {
	case method == http.MethodGet, method == http.MethodHead, slices.Contains(a.Methods, method):
		return nil
	}
	c.Set(fiber.HeaderAllow, strings.Join(append([]string{http.MethodGet, http.MethodHead}, a.Methods...), ", "))
	return fiber.ErrMethodNotAllowed
}
