package proxy

import (
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/gofiber/fiber/v2/middleware/cors"

	"vitrine/configs"
	"vitrine/proxy/api"
	"vitrine/proxy/auth"
	"vitrine/proxy/fields"
	"vitrine/proxy/lists"
	"vitrine/proxy/openapi"
	"vitrine/proxy/response"
	"vitrine/proxy/upstream"
)

// settings are one generation of the options that may change while the server runs: who may send requests, the
// options of the resources, and how their plans are answered. They are immutable; a request uses the settings that
// were current when it arrived.
type settings struct {
	// counts from 0; part of the keys of plans and answers
	generation int
	// admits callers, and knows the keys
	auth *auth.Authenticator
	// what the resources share
	env *api.Env
	// looks up the persons of sessions
	users api.Users
	// never nil; lists.Enabled says whether there are any
	lists  *lists.Lists
	routes map[string]api.Handler // handlers by path
	// never nil; not used without a forwarder
	upstream *upstream.Policy
	// answers by plans
	response  *response.Responder
	cors      fiber.Handler // nil if scripts of other sites may not read answers
	rate      *auth.Limiter // limits the requests of one client; nil means no limit
	perSecond int           // the limit of rate
	limit     fiber.Handler // of rate; nil means no limit
	// responses that were prepared under these settings alone
	shortcuts *shortcuts
	// what the settings name of records, see package fields
	fields    []fields.Use
	described func() *openapi.Description // made at the first request, because few servers need it
}

// settingsKey is the key under which a request has its settings. An empty struct needs no memory, and no other
// package can have the same key.
type settingsKey struct{}

// generations have the current settings. Requests that arrived before a reload still have the previous ones. A
// request takes its settings once, at the edge, and all its handlers use those: a reload in between cannot admit a
// caller by one generation and answer by the next. A pointer that is replaced needs no lock on the way of each
// request.
type generations struct{ atomic.Pointer[settings] }

// of returns the settings of a request: the current ones if it did not pass the edge.
func (g *generations) of(c *fiber.Ctx) *settings {
	if set, ok := c.Context().UserValue(settingsKey{}).(*settings); ok {
		return set
	}
	return g.Load()
}

// newCORS returns the middleware that lets other sites' scripts read answers, or nil if none may. Fiber panics on
// a malformed origin, and on * with credentials. The panic is the only check that Fiber offers, so newCORS makes
// an error of it.
func newCORS(o configs.CORS) (handler fiber.Handler, err error) {
	if len(o.Origins) == 0 {
		return nil, nil
	}
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("proxy: CORS origins %q: %v", o.Origins, r)
		}
	}()
	return crossOrigin(corsConfig(o, 10*time.Minute)), nil
}

// crossOrigin returns the middleware of a configuration. If all sites may read an answer, it says so to every caller:
// Fiber does only if the request has an Origin. A cache keeps one answer for all, and would send a site's script one
// that a request without Origin brought, which the browser then refuses.
func crossOrigin(config cors.Config) fiber.Handler {
	handler := cors.New(config)
	if config.AllowOrigins != "*" {
		return handler // Fiber adds Vary: Origin
	}
	return func(c *fiber.Ctx) error {
		if c.Get(fiber.HeaderOrigin) == "" && c.Method() != fiber.MethodOptions {
			c.Set(fiber.HeaderAccessControlAllowOrigin, "*")
			c.Set(fiber.HeaderAccessControlExposeHeaders, config.ExposeHeaders)
		}
		return handler(c)
	}
}

// corsConfig says what scripts may send and read. Browsers remember it for maxAge.
func corsConfig(o configs.CORS, maxAge time.Duration) cors.Config {
	return cors.Config{
		AllowOrigins: strings.Join(o.Origins, ","),
		// The public listener has no other methods, but for those that it forwards; the other server decides about
		// its own.
		AllowMethods: "GET,HEAD",
		// The headers of requests that the server reads and that Fetch does not safelist.
		AllowHeaders: "X-API-Key,Authorization,If-None-Match,If-Modified-Since,Prefer,X-Request-Id",
		// Without this list a script sees only the few headers that Fetch calls safelisted.
		ExposeHeaders: "ETag,Last-Modified,Age,Link," + response.HeaderDataAge + "," + response.HeaderIgnored + "," +
			response.HeaderRestricted +
			",Preference-Applied,X-Request-Id,Cache-Status,Server-Timing,RateLimit,RateLimit-Policy,Retry-After",
		AllowCredentials: o.Credentials,
		MaxAge:           int(maxAge / time.Second),
	}
}

// openCORS lets the scripts of all sites read answers that are the same for all callers. It allows no credentials,
// so that a browser sends no cookie: Fiber refuses both together. An hour is long, because this policy never
// changes.
var openCORS = crossOrigin(corsConfig(configs.CORS{Origins: []string{"*"}}, time.Hour))

// corsOf returns the middleware of a path, or nil. Lists are for pages of other sites, whatever is configured.
func (s *settings) corsOf(path string) fiber.Handler {
	if isList(path) {
		return openCORS
	}
	return s.cors
}
