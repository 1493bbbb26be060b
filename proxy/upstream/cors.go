package upstream

import (
	"slices"
	"strings"

	"github.com/gofiber/fiber/v2"

	"vitrine/proxy/response"
)

// All headers of CORS for responses begin so (Fetch standard).
const accessControl = "Access-Control-"

// crossOrigin are headers of a response that say which sites' scripts may read it.
type crossOrigin struct {
	headers []response.Header
	varies  bool // they depend on the Origin of the request
}

// ownHeaders returns what http.cors has set for a response. It has to be asked before the other server's headers
// replace them.
func ownHeaders(c *fiber.Ctx) (own crossOrigin) {
	for name, value := range c.Response().Header.All() {
		if strings.HasPrefix(string(name), accessControl) {
			own.headers = append(own.headers, response.Header{Name: string(name), Value: string(value)})
		}
	}
	own.varies = strings.Contains(c.GetRespHeader(fiber.HeaderVary), fiber.HeaderOrigin)
	return own
}

// replace replaces the upstream server's headers by o: http.cors decides for paths of this server, also if the
// upstream server answers them.
func (o crossOrigin) replace(c *fiber.Ctx) {
	h := &c.Response().Header
	deleteHeaders(c, func(name string) bool { return strings.HasPrefix(name, accessControl) })
	for _, own := range o.headers {
		h.Set(own.Name, own.Value)
	}
	if o.varies {
		h.Add(fiber.HeaderVary, fiber.HeaderOrigin)
	}
}

// keepOptions removes from an answer to OPTIONS all but what scripts may send. The other server may answer OPTIONS
// as it answers GET, with the content that the key opens.
func keepOptions(c *fiber.Ctx) {
	c.Response().ResetBody()
	deleteHeaders(c, func(name string) bool {
		named := func(other string) bool { return strings.EqualFold(name, other) }
		return !strings.HasPrefix(name, accessControl) && !slices.ContainsFunc(ofOptions, named)
	})
	c.Response().Header.DelAllCookies()
	c.Response().Header.SetNoDefaultContentType(true)
}

// ofOptions are the headers of an answer to OPTIONS that say nothing about the path, beside those for CORS.
var ofOptions = []string{
	fiber.HeaderAllow, fiber.HeaderVary, fiber.HeaderCacheControl, fiber.HeaderXRequestID, "Cache-Status",
	"RateLimit",
	"RateLimit-Policy",
}

// deleteHeaders deletes the headers of a response that have certain names.
func deleteHeaders(c *fiber.Ctx, drops func(name string) bool) {
	h := &c.Response().Header
	var names []string // fasthttp does not allow to delete while it yields
	for name := range h.All() {
		if drops(string(name)) {
			names = append(names, string(name))
		}
	}
	for _, name := range names {
		h.Del(name)
	}
}

// guardAnswer makes an answer that only callers with a key or session get private: the upstream server, which
// answers this server's key, does not know that there are other callers. Directives that only restrict, such as
// no-store and max-age, stay. Headers for content delivery networks go: they would override Cache-Control there.
func guardAnswer(c *fiber.Ctx, set *Policy) {
	h := &c.Response().Header
	for _, name := range set.Vary {
		h.Add(fiber.HeaderVary, name)
	}
	if set.Response.KeyedPublic() {
		return
	}
	kept := []string{"private"}
	for _, line := range h.PeekAll(fiber.HeaderCacheControl) {
		for directive := range strings.SplitSeq(string(line), ",") {
			name, _, _ := strings.Cut(strings.ToLower(strings.TrimSpace(directive)), "=")
			if !slices.Contains([]string{"", "public", "private", "s-maxage", "proxy-revalidate"}, name) {
				kept = append(kept, strings.TrimSpace(directive))
			}
		}
	}
	for _, name := range []string{"Surrogate-Control", "CDN-Cache-Control"} {
		h.Del(name)
	}
	h.Set(fiber.HeaderCacheControl, strings.Join(kept, ", "))
}
