package proxy

import (
	"strings"

	"github.com/gofiber/fiber/v2"

	"vitrine/proxy/query"
	"vitrine/rules"
)

// request is a call that was let in, copied out of Fiber's buffers.
type request struct {
	params query.Params // set where the request is planned
	id     string       // of the path, as it came, likewise; empty where it has none
	person person       // whose session it is
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
	if err := s.recognise(c, &r); err != nil {
		return request{}, err
	}
	if !key.set && r.person.viewer.User == "" {
		return r, nil
	}
	cred := credentials{header: c.Get("X-API-Key"), user: r.person.viewer.User}
	for name, value := range c.Context().QueryArgs().All() {
		switch {
		case string(name) == query.KeyParam:
			cred.hasParam, cred.param = true, string(value)
		case strings.HasPrefix(string(name), query.KeyParam+"["):
			cred.hasParam = true
		}
	}
	r.hasKey = cred.hasParam
	right := key.admits(cred)
	if right {
		return r, nil
	}
	if cred.hasParam || cred.header != "" {
		if err := s.wrongKey(s.guesses, c); err != nil {
			return request{}, err
		}
	}
	return request{}, rules.ErrPermission
}

// recognise finds whose session a request is. A user without a record in persons, such as
// one that has left, has none, unless the options say otherwise.
func (s *Server) recognise(c *fiber.Ctx, r *request) error {
	user, brought, err := s.sessions.of(c)
	if err != nil {
		return err
	}
	r.person, r.personal = person{display: fragWeb}, brought
	if user == "" {
		return nil
	}
	ctx, cancel := s.deadline(c.UserContext())
	defer cancel()
	who, known, err := s.findPerson(ctx, user)
	if err != nil {
		return err
	}
	if known || s.sessions.options.UnknownUsers {
		r.person = who
	}
	return nil
}
