package proxy

import (
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"github.com/gofiber/fiber/v2"
)

// guardAdmin keeps the pages that an operator's browser shows from speaking to the
// operator's listener, which the browser can reach and they cannot. A page of
// another site is known by what the browser says of it. One whose host was made to
// resolve to this address (DNS rebinding) is of the same site by its own account: it
// is known by its host, where no token, which it cannot have, keeps it out.
func guardAdmin(o AdminOptions) fiber.Handler {
	return func(c *fiber.Ctx) error {
		switch {
		case foreignPage(c):
			return refused("Another site's page cannot ask here.")
		case o.Token == "" && !ownHost(string(c.Context().Host()), o.Hosts):
			return refused("This listener is asked for by address, as localhost, or by a name in admin.hosts.")
		}
		return c.Next()
	}
}

// foreignPage reports whether a browser says that a page from elsewhere asks.
func foreignPage(c *fiber.Ctx) bool {
	if site := c.Get("Sec-Fetch-Site"); site != "" {
		return site != "same-origin" && site != "none"
	}
	origin := c.Get(fiber.HeaderOrigin)
	if origin == "" {
		return false
	}
	from, err := url.Parse(origin)
	return err != nil || !strings.EqualFold(from.Host, string(c.Context().Host()))
}

// ownHost reports whether a Host means this listener and cannot be made to mean
// another: an address, localhost, or a name that the operator has given.
func ownHost(host string, own []string) bool {
	name := host
	if at := strings.LastIndexByte(host, ':'); at >= 0 && !strings.HasSuffix(host, "]") {
		name = host[:at]
	}
	if name == "" || strings.EqualFold(name, "localhost") {
		return true
	}
	if _, err := netip.ParseAddr(strings.TrimSuffix(strings.TrimPrefix(name, "["), "]")); err == nil {
		return true
	}
	return slices.ContainsFunc(own, func(o string) bool { return strings.EqualFold(o, name) })
}
