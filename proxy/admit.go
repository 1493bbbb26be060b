package proxy

import (
	"github.com/gofiber/fiber/v2"

	"vitrine/rules"
)

// request is a call that was let in, copied out of Fiber's buffers.
type request struct {
	params  params
	session session
	// hasKey: the apikey parameter was given, whatever it says.
	hasKey bool
	// personal: something came along that a session is made of, so that no answer
	// to this request may be kept for anybody else.
	personal bool
}

// admit reads a call and lets it in or fails with rules.ErrPermission.
func (s *Server) admit(c *fiber.Ctx) (request, error) {
	r := request{params: readParams(c.Context().QueryArgs())}
	r.session, r.personal = s.sessions.of(c)
	cred := credentials{
		header:   c.Get("X-API-Key"),
		hasParam: r.params.has("apikey"),
		session:  r.session,
	}
	for _, pair := range r.params {
		if pair.name == "apikey" {
			cred.param = pair.value
		}
	}
	r.hasKey = cred.hasParam
	if !s.key.admits(cred) {
		return request{}, rules.ErrPermission
	}
	return r, nil
}
