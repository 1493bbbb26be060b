package proxy

import (
	"context"
	"errors"

	"github.com/gofiber/fiber/v2"

	"vitrine/cache/view"
)

// newer is a Source whose views may go on while they are asked, because they stay in
// the store.
type newer interface {
	Newer(ctx context.Context, moved *view.MovedError) error
}

// maxMoves bounds how often an answer is begun again because a view has gone on. A
// view that goes on faster than it can be asked is published too often.
const maxMoves = 5

// catchUp answers a request again whose answer failed because a view went on under
// its hands; other errors are returned as they are.
func (s *Server) catchUp(c *fiber.Ctx, plans *planner, r request, err error) error {
	for range maxMoves {
		var moved *view.MovedError
		views, able := s.views.(newer)
		if !errors.As(err, &moved) || !able {
			return err
		}
		if err := s.waitFor(c.UserContext(), views, moved); err != nil {
			return err
		}
		err = s.answerNow(c, plans, r)
	}
	return err
}

// waitFor waits as long as a request may take.
func (s *Server) waitFor(ctx context.Context, views newer, moved *view.MovedError) error {
	ctx, cancel := s.deadline(ctx)
	defer cancel()
	return views.Newer(ctx, moved)
}
