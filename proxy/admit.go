package proxy

import (
	"github.com/gofiber/fiber/v2"

	"vitrine/rules"
)

// request is a call that was let in, copied out of Fiber's buffers.
type request struct {
	params  params // set where the request is planned
	id      string // of the path, as it came, likewise; empty where it has none
	session session
	// hasKey: the apikey parameter was given, whatever it says.
	hasKey bool
	// personal: something came along that a session is made of, so that no answer
	// to this request may be kept for anybody else.
	personal bool
}

// admit establishes who asks and lets them in, or fails with rules.ErrPermission.
// The parameters are left to the planner.
func (s *Server) admit(c *fiber.Ctx, key secret) (request, error) {
	var r request
	r.session, r.personal = s.sessions.of(c)
	if !key.set && r.session.user == "" {
		return r, nil
	}
	cred := credentials{header: c.Get("X-API-Key"), session: r.session}
	for name, value := range c.Context().QueryArgs().All() {
		switch {
		case string(name) == keyParam:
			cred.hasParam, cred.param = true, string(value)
		case bracketed(string(name), keyParam):
			cred.hasParam = true
		}
	}
	r.hasKey = cred.hasParam
	right := key.admits(cred)
	if key.set && (cred.hasParam || cred.header != "") {
		if err := s.guessed(s.guesses, c, right); err != nil {
			return request{}, err
		}
	}
	if !right {
		return request{}, rules.ErrPermission
	}
	return r, nil
}
