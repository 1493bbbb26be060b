package configs

import "fmt"

// Warnings says which settings protect less than they seem to, and what a publicly reachable server lacks.
func (c Config) Warnings() (all []string) {
	short := func(path string, key Secret, least int, danger string) {
		if n := len(key.Reveal()); n > 0 && n < least {
			all = append(all, fmt.Sprintf("%s has %d bytes, fewer than %d: %s", path, n, least, danger))
		}
	}
	all = append(all, c.warned...)
	s := c.Auth.Session
	short("auth.session.jwt_secret", s.JWTSecret, 32, "token holders can brute-force it") // RFC 7518: 3.2
	short("auth.api_key", c.Auth.APIKey, 16, "callers can guess it")
	short("auth.portfolio_key", c.Auth.PortfolioKey, 16, "callers can guess it")
	short("upstream.key", c.Upstream.Key, 16, "callers of the other server can guess it")
	short("admin.token", c.Admin.Token, 16, "callers can guess it")
	if (s.JWTSecret != "" || s.PublicKey != "") && (s.Issuer == "" || s.Audience == "" || s.Type == "") {
		all = append(all, "auth.session requires no issuer, audience or type of tokens: tokens that the same key signed for another purpose count as sessions")
	}
	if s.Endless {
		all = append(all, "auth.session.endless: leaked tokens never expire")
	}
	if l := c.Lists; l.Enabled && l.BaseURL == "" && len(l.Hosts) == 0 && !isLoopback(c.Listen) {
		all = append(all, "set lists.base_url or lists.hosts: without them feeds, the sitemap and other answers with absolute URLs are refused (421) "+
			"under other hosts than that of listen, "+c.Listen+", and links in lists that other sites include do not lead here")
	}
	return all
}
