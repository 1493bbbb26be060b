package proxy

import (
	"fmt"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/gofiber/fiber/v2/middleware/cors"

	"vitrine/proxy/response"
)

// newCORS returns the middleware that lets other sites' scripts read answers, or
// nil where none may. Fiber panics on an origin that is none, and on * with credentials;
// configs has refused both before, with their places.
func newCORS(o CORSOptions) (handler fiber.Handler, err error) {
	if len(o.Origins) == 0 {
		return nil, nil
	}
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("proxy: CORS origins %q: %v", o.Origins, r)
		}
	}()
	return cors.New(corsConfig(o)), nil
}

// corsConfig names what scripts may send and read.
func corsConfig(o CORSOptions) cors.Config {
	return cors.Config{
		AllowOrigins: strings.Join(o.Origins, ","),
		AllowMethods: "GET,HEAD",
		AllowHeaders: "X-API-Key,Authorization,If-None-Match,If-Modified-Since,Prefer,X-Request-Id",
		ExposeHeaders: "ETag,Last-Modified,Age,Link," + response.HeaderDataAge + "," + response.HeaderIgnored + "," + response.HeaderRestricted +
			",Preference-Applied,X-Request-Id,Cache-Status,Server-Timing,RateLimit,RateLimit-Policy,Retry-After",
		AllowCredentials: o.Credentials,
		MaxAge:           int(o.MaxAge / time.Second),
	}
}

// openCORS lets the scripts of all sites read what all callers are given alike.
var openCORS = cors.New(corsConfig(CORSOptions{Origins: []string{"*"}, MaxAge: time.Hour}))

// corsOf is the middleware of a path; nil: no other site's scripts may read answers. Lists
// are for the pages of others, whatever is configured for the API.
func (s *settings) corsOf(path string) fiber.Handler {
	if isList(path) {
		return openCORS
	}
	return s.cors
}
