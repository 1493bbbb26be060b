package configs

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
)

// Warnings says which settings protect less than they seem to, and what a publicly reachable server lacks.
//
// A warning is for what may be meant; what cannot be meant is a mistake of Load. The operator sees them in the log
// of a start and from vitrine config.
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
		all = append(all,
			"auth.session requires no issuer, audience or type of tokens: tokens that the same key signed for "+
				"another purpose count as sessions")
	}
	if s.Endless {
		all = append(all, "auth.session.endless: leaked tokens never expire")
	}
	if l := c.Lists; l.Enabled && l.BaseURL == "" && len(l.Hosts) == 0 && !isLoopback(c.Listen) {
		all = append(all,
			"set lists.base_url or lists.hosts: without them feeds, the sitemap and other answers with absolute "+
				"URLs are refused (421) "+
				"under other hosts than that of listen, "+c.Listen+
				", and links in lists that other sites include do not lead here")
	}
	return slices.Concat(all, c.idle(), c.idleKeys())
}

// idleKeys names the keys that open nothing, and their origins whose pages may not read the answers.
func (c Config) idleKeys() (all []string) {
	for _, name := range slices.Sorted(maps.Keys(c.Auth.Keys)) {
		k, path := c.Auth.Keys[name], "auth.keys."+name
		if len(k.SHA256) == 0 {
			all = append(all, fmt.Sprintf("%s (%s) has no sha256: it opens nothing", path, c.placeOf(path)))
		}
		lists := len(k.Endpoints) > 0 && !slices.ContainsFunc(k.Endpoints, func(p string) bool {
			// open to the pages of all sites
			return !strings.HasPrefix(p, "/lists") && !strings.HasPrefix(p, "/items")
		})
		for _, origin := range k.Origins {
			at, allowed := path+".origins", c.HTTP.CORS.Origins
			if !lists && !slices.Contains(allowed, origin) && !slices.Contains(allowed, "*") {
				all = append(all, fmt.Sprintf("%s (%s): pages of %s cannot read answers: http.cors.origins lacks it",
					at, c.placeOf(at), origin))
			}
		}
	}
	return all
}

// idle names the settings that were given but have no effect because others are not set. A setting that was turned
// off on purpose turns off silently what depends on it.
func (c Config) idle() (all []string) {
	defaults := Default()
	for i := range settings {
		s := &settings[i]
		usual := reflect.DeepEqual(s.field(&c).Interface(), s.field(&defaults).Interface())
		meant := func(path string) bool { return !settingAt(path).off(&c) || c.given(path) }
		if len(s.Needs) == 0 || usual || s.off(&c) || slices.ContainsFunc(s.Needs, meant) {
			continue
		}
		needs := strings.Join(s.Needs, " or ")
		all = append(all, fmt.Sprintf("%s (%s) has no effect: it needs %s", s.Path, c.placeOf(s.Path), needs))
	}
	return append(all, c.idleViews()...)
}

// idleViews names the settings of views and stores that the kind of the store, or of the views, leaves without
// effect.
func (c Config) idleViews() (all []string) {
	defaults := Default()
	without := func(path, reason string) {
		s := settingAt(path)
		if c.given(path) && !reflect.DeepEqual(s.field(&c).Interface(), s.field(&defaults).Interface()) {
			all = append(all, fmt.Sprintf("%s (%s) has no effect: %s", path, c.placeOf(path), reason))
		}
	}
	if c.Views.Mode != "auto" {
		without("views.budget", "it needs views.mode: auto")
	}
	if strings.HasPrefix(c.Store.Reveal(), "bolt://") {
		without("views.database", "an embedded store has no databases")
		without("mongo.batch", "an embedded store does not use it")
	}
	return all
}

// off reports whether a setting has no value, or an empty one.
func (s *Setting) off(c *Config) bool {
	v := s.field(c)
	if v.Kind() == reflect.Map || v.Kind() == reflect.Slice {
		return v.Len() == 0
	}
	return v.IsZero()
}
