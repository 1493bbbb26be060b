package proxy

import (
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/gofiber/fiber/v2/middleware/cors"

	"vitrine/proxy/response"
)

// newCORS returns the middleware that lets other sites' scripts read answers, or
// nil where none may. Fiber's panics on a bad origin, so origins are checked here.
func newCORS(o CORSOptions) (fiber.Handler, error) {
	if len(o.Origins) == 0 {
		return nil, nil
	}
	for _, origin := range o.Origins {
		if err := checkOrigin(origin, o); err != nil {
			return nil, err
		}
	}
	return cors.New(cors.Config{
		AllowOrigins: strings.Join(o.Origins, ","),
		AllowMethods: "GET,HEAD",
		AllowHeaders: "X-API-Key,Authorization,If-None-Match,If-Modified-Since,Prefer,X-Request-Id",
		ExposeHeaders: "ETag,Last-Modified,Age,Link," + response.HeaderDataAge + "," + response.HeaderIgnored + "," + response.HeaderRestricted +
			",Preference-Applied,X-Request-Id,Cache-Status,Server-Timing,RateLimit,RateLimit-Policy,Retry-After",
		AllowCredentials: o.Credentials,
		MaxAge:           int(o.MaxAge / time.Second),
	}), nil
}

// openCORS lets the scripts of all sites read what all callers are given alike.
var openCORS = must(newCORS(CORSOptions{Origins: []string{"*"}, MaxAge: time.Hour}))

func must(handler fiber.Handler, err error) fiber.Handler {
	if err != nil {
		panic(err)
	}
	return handler
}

// corsOf is the middleware of a path; nil: no other site's scripts may read answers. Lists
// are for the pages of others, whatever is configured for the API.
func (s *settings) corsOf(path string) fiber.Handler {
	if isList(path) {
		return openCORS
	}
	return s.cors
}

func checkOrigin(origin string, o CORSOptions) error {
	if origin == "*" {
		if len(o.Origins) > 1 || o.Credentials {
			return fmt.Errorf(`proxy: CORS origin "*" stands alone and without credentials`)
		}
		return nil
	}
	u, err := url.Parse(strings.Replace(origin, "://*.", "://", 1))
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" ||
		u.Path != "" || u.RawQuery != "" || u.Fragment != "" || u.User != nil || strings.ContainsAny(origin, ", ") {
		return fmt.Errorf("proxy: CORS origin %q: want scheme://host[:port], with *. before the host for its subdomains, or *", origin)
	}
	return nil
}
