package proxy

import (
	"context"
	"strings"

	"github.com/gofiber/fiber/v2"
	"github.com/valyala/fasthttp"

	"vitrine/proxy/explain"
	"vitrine/proxy/query"
	"vitrine/proxy/response"
	"vitrine/rules"
)

// Explain runs a request and explains its answer, see explain.Explain.
func (s *Server) Explain(ctx context.Context, r explain.Request) (explain.Explanation, error) {
	ctx, cancel := context.WithTimeout(ctx, s.options.Limits.RequestTimeout) // of all parts
	defer cancel()
	set := *s.settings.Load()
	if r.User != "" {
		if _, known, err := set.users.Person(ctx, r.User); err != nil {
			return explain.Explanation{}, err
		} else if !known {
			return explain.Explanation{}, rules.Wrongf("user", "", "no person has the username %s",
				query.Quote(r.User))
		}
	}
	set.auth = set.auth.As(r.User)
	o := explain.Options{
		Views: s.options.Views, Records: s.options.Records, Lists: set.lists, KeptBytes: s.options.Limits.KeptBytes,
		Begin: s.results.Begin, URL: set.auth.AppendURL,
		Elsewhere: func(req *fasthttp.Request) (*explain.Explanation, error) {
			return explainForwarded(s, &set, req)
		},
		Serve: func(
			ctx context.Context, req *fasthttp.Request, inspect response.Inspect,
		) (*fasthttp.RequestCtx, error) {
			set.response = set.response.Inspecting(inspect)
			return explained(ctx, s, &set, req)
		},
	}
	if store := s.health.StoreStatus(); store != nil {
		o.Store = store.Name
	}
	return explain.Explain(ctx, o, r)
}

// explained runs a request for a resource or a list.
func explained(
	ctx context.Context, s *Server, set *settings, req *fasthttp.Request,
) (*fasthttp.RequestCtx, error) {
	why := "" // nothing has a route for the path
	inner, err := dryRun(s, set, req, func(app *fiber.App) {
		app.Use(func(c *fiber.Ctx) error {
			c.SetUserContext(ctx)
			return c.Next()
		})
		s.resources(app, set)
		app.Use(func(c *fiber.Ctx) error {
			why = s.forwarder.WhyNot(c)
			return c.Next()
		})
	})
	if failed, is := err.(problem); is && why != "" {
		_, near, _ := strings.Cut(failed.msg, " Did you mean ")
		if failed.msg = why; near != "" {
			failed.msg += " Did you mean " + near
		}
		err = failed
	}
	return inner, err
}

// explainForwarded explains the answer to a request if it is kept by rule, or forwarded; otherwise it returns nil. It
// asks neither the other server nor the store. For a request that its door does not admit it also has the error:
// every call of a portal has a key, but the operator asks about the answer.
func explainForwarded(s *Server, set *settings, req *fasthttp.Request) (e *explain.Explanation, err error) {
	if s.forwarder == nil {
		return nil, nil
	}
	_, err = dryRun(s, set, req, func(app *fiber.App) {
		app.Use(func(c *fiber.Ctx) error {
			k, refused := s.forwarder.Kept(c)
			plain, closed := s.forwarder.Plain(c)
			if k == nil && plain == nil {
				return nil // this server's own
			}
			e = &explain.Explanation{
				Status: fiber.StatusOK,
				URL:    string(set.auth.AppendURL(nil, c.Path(), c.Context().URI().QueryString())),
			}
			server := explain.Server(s.forwarder.State())
			if k != nil {
				e.Ignored = k.Ignored
				e.Upstream = explain.ByRule(s.options.Upstream.Keeper, k.Rule, k.Key, set.response.KeptCodings)
				e.Upstream.Callers, e.Upstream.Server = explain.Callers(k.Door, k.Entry), server
			} else {
				refused = closed
				e.Forwarded = &explain.Forwarded{
					To: plain.To, By: plain.By, Why: plain.Why, Callers: explain.Callers(plain.Door, plain.Entry),
					Server: server,
				}
			}
			if refused != nil {
				reason, _ := problemAt(s, c.Path(), refused)
				e.Error = reason.msg
			}
			return nil
		})
	})
	return e, err
}

// dryRun runs a request as the public listener does, without its limits, log and metrics, by the routes that install
// adds. The error is the problem that the client would see. It makes an app for each, because explanations are rare.
func dryRun(
	s *Server, set *settings, req *fasthttp.Request, install func(*fiber.App),
) (inner *fasthttp.RequestCtx, failed error) {
	inner = &fasthttp.RequestCtx{}
	inner.Init(req, nil, quiet{s.log})
	inner.SetUserValue(settingsKey{}, set)
	app := s.newApp()
	app.Use(func(c *fiber.Ctx) error {
		err := checkLength(c)
		if err == nil {
			err = guarded(c, nil)
		}
		if err != nil {
			failed, _ = problemAt(s, c.Path(), err)
		}
		return s.fail(c, err)
	})
	install(app)
	plainPath(app.Handler())(inner)
	return inner, failed
}

// explainAnswer answers GET /admin/explain?url=URL&id=ID&user=NAME with an explanation, or with the error of the
// request. A POST has the URL in its body. The request has the X-API-Key of this one. Clients that prefer text/plain
// to JSON get the text that `vitrine explain` prints.
func explainAnswer(s *Server, c *fiber.Ctx) error {
	p := query.Read(c.Context().QueryArgs().All())
	r := explain.Request{
		URL: p.Text("url"), ID: p.Text("id"), User: p.Text("user"), Key: strings.Clone(c.Get("X-API-Key")),
	}
	if body := c.Body(); len(body) > 0 {
		r.URL = string(body)
	}
	if err := p.Complete(); err != nil {
		return err
	}
	e, err := s.Explain(c.UserContext(), r)
	if err != nil {
		return err
	}
	c.Vary(fiber.HeaderAccept)
	if c.Accepts(fiber.MIMEApplicationJSON, fiber.MIMETextPlain) != fiber.MIMETextPlain {
		return c.JSON(e)
	}
	c.Set(fiber.HeaderContentType, fiber.MIMETextPlainCharsetUTF8)
	return e.WriteText(c.Response().BodyWriter())
}
