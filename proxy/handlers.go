package proxy

import (
	"context"
	"strings"

	"github.com/gofiber/fiber/v2"

	"vitrine/proxy/api"
	"vitrine/proxy/auth"
	"vitrine/proxy/query"
	"vitrine/proxy/response"
)

// handlers answer requests for resources, lists and descriptions by the settings under which they arrived.
type handlers struct{ settings *generations }

// answer returns the handler of a resource: it admits the caller, and then answers by a plan.
func (h handlers) answer(path string) fiber.Handler {
	return func(c *fiber.Ctx) error {
		// Admit the caller before reading a parameter, so that a refused caller learns nothing about the resource.
		set := h.settings.of(c)
		caller, err := set.auth.Admit(c, path)
		if err != nil {
			return err
		}
		ignored := set.auth.IgnoredKeys(c, caller)
		if err := response.ReportIgnored(c, ignored); err != nil {
			return err
		}
		who := response.Audience{Client: set.auth.Client(c), Anonymous: caller.Anonymous(), Personal: caller.Personal,
			Keyed: set.auth.NeedsKey(path)}
		for _, right := range caller.Viewer.Keyed { // what a key may see is part of the plan
			who.Variant[0] += string(right) + ","
		}
		return set.response.Serve(c, who, func(planning *response.Planning) (response.Plan, error) {
			r := api.Request{Caller: caller, Planning: planning, ID: strings.Clone(c.Params("id"))}
			r.Params = query.Read(c.Context().QueryArgs().All())
			if who.Keyed || !caller.Anonymous() || ignored != "" {
				_ = r.Params.Has(query.KeyParam) // marks it as read: it has an effect, or is reported already
			}
			ctx, cancel := set.response.Limited(c, who.Client)
			defer cancel()
			return set.routes[path](ctx, r)
		})
	}
}

// citationIndex answers with what an index of citations knows. It is no resource: its answer comes from elsewhere and
// has no plan.
func (h handlers) citationIndex(c *fiber.Ctx) error {
	set, p := h.settings.of(c), query.Read(c.Context().QueryArgs().All())
	_ = p.Has(query.KeyParam) // marks it as read: it is ignored only where no key is set
	if err := response.ReportIgnored(c, set.auth.IgnoredKeys(c, auth.Caller{})); err != nil {
		return err
	}
	if _, err := set.auth.Identify(c); err != nil {
		return err
	}
	client := set.auth.Client(c)
	answer, err := set.env.CitationIndex(p, client)
	if err != nil {
		return err
	}
	return set.response.External(c, client, p.Ignored(), func(ctx context.Context) (response.ExternalAnswer, error) {
		found, err := answer(ctx)
		return response.ExternalAnswer(found), err
	})
}
