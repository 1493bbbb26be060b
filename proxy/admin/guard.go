package admin

import (
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"github.com/gofiber/fiber/v2"

	"vitrine/proxy/auth"
	"vitrine/rules"
)

// bearer admits requests with the token. It counts wrong tokens separately from wrong keys, so that a client behind
// the operator's proxy that guesses keys cannot lock the operator out.
func (a *app) bearer(token auth.Secret) fiber.Handler {
	return func(c *fiber.Ctx) error {
		scheme, given, _ := strings.Cut(c.Get(fiber.HeaderAuthorization), " ")
		if strings.EqualFold(scheme, "Bearer") && token.Is(strings.TrimSpace(given)) {
			return c.Next()
		}
		if given != "" {
			if err := a.WrongToken(c); err != nil {
				return err
			}
		}
		c.Set(fiber.HeaderWWWAuthenticate, "Bearer")
		return refuse("The operator's token is needed: Authorization: Bearer …")
	}
}

// guard refuses requests from pages of other sites in an operator's browser, which can reach the listener. The
// browser's headers identify most of them. A page whose host name resolves to this address (DNS rebinding) counts as
// the same site; without a token, which such a page cannot have, its Host header identifies it.
func guard(o Options) fiber.Handler {
	return func(c *fiber.Ctx) error {
		switch {
		case foreignPage(c):
			return refuse("Pages of other sites may not use this listener.")
		case o.Token == "" && !ownHost(string(c.Context().Host()), o.hosts()):
			return refuse("Use this listener by address, as localhost, or by a name in admin.hosts.")
		}
		return c.Next()
	}
}

// foreignPage reports whether a page of another site sent the request, according to the browser. Browsers that do
// not send Sec-Fetch-Site send Origin with each POST. Programs send neither.
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

// ownHost reports whether a Host header is an address, localhost, or one of the operator's names, which DNS rebinding
// cannot use.
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

// refuse returns the error of a request that the guards do not let pass: 403.
func refuse(msg string) error { return &rules.Error{Kind: rules.ErrPermission, Reason: msg} }
