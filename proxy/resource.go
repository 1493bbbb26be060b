package proxy

import (
	"context"
	"strings"

	"github.com/gofiber/fiber/v2"

	"vitrine/proxy/auth"
	"vitrine/proxy/query"
	"vitrine/proxy/response"
)

// request is a call that was let in, copied out of Fiber's buffers.
type request struct {
	auth.Caller
	params query.Params
	id     string // of the path, as it came; empty where it has none
}

// resource turns a request into a plan for its answer, or an error. Without a
// session the plan depends on nothing but the parameters, unless it is for once.
type resource func(ctx context.Context, r request) (response.Plan, error)

// answer is the handler of a resource: it admits the caller and has the plan answered.
func (s *Server) answer(path string, planner *response.Planner) fiber.Handler {
	return func(c *fiber.Ctx) error {
		set := s.settingsOf(c)
		key := set.auth.KeyOf(path)
		caller, err := set.auth.Admit(c, key)
		if err != nil {
			return err
		}
		who := response.Caller{Anonymous: caller.Anonymous(), Personal: caller.Personal, Keyed: key.Set()}
		return set.response.Serve(c, planner, who, func() (response.Plan, error) {
			r := request{Caller: caller, params: query.Read(c.Context().QueryArgs().All()), id: strings.Clone(c.Params("id"))}
			if err := r.params.CheckLanguage(); err != nil {
				return response.Plan{}, err
			}
			p, err := set.resources[path](c.UserContext(), r)
			p.Ignored, p.Paths = r.params.Ignored(), r.params.Paths()
			return p, err
		})
	}
}
