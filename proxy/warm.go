package proxy

import (
	"context"
	"errors"

	"vitrine/cache/view"
	"vitrine/rules"
	"vitrine/rules/filter"
)

// warm makes of a snapshot that is just shown what takes long to make and is asked for
// again and again: the titles to compare with, and at first what authors are counted by.
// Whoever asks meanwhile waits for it, as without.
func (s *Server) warm(ctx context.Context, shown *view.Snapshot, e *env) {
	rows, resident := shown.Resident()
	if shown.Meta().View != rules.ViewActivities || !resident {
		return
	}
	err := e.titles.follow(ctx, rows)
	s.counted.Do(func() { err = errors.Join(err, countAuthors(ctx, shown)) })
	if err != nil && ctx.Err() == nil {
		s.log.Warn("not made before it is asked for", "view", shown.Meta().View, "error", err)
	}
}

// countAuthors counts activities by author, as the portals do; the view keeps what it
// took, and later snapshots inherit it while it is in use.
func countAuthors(ctx context.Context, s *view.Snapshot) error {
	every, err := s.Select(ctx, filter.All())
	if err == nil {
		_, err = every.Group(ctx, "authors.user", unwound("authors.user"))
	}
	return err
}
