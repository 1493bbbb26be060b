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
// its hands; other errors are returned as they are. All its waiting together takes no
// longer than a request may.
func (s *Server) catchUp(c *fiber.Ctx, plans *planner, r request, err error) error {
	views, able := s.views.(newer)
	if !able {
		return err
	}
	ctx, cancel := s.asked(c)
	defer cancel()
	for range maxMoves {
		var moved *view.MovedError
		if !errors.As(err, &moved) {
			return err
		}
		if err := views.Newer(ctx, moved); err != nil {
			return err
		}
		err = s.answerNow(c, plans, r)
	}
	return err
}
