package mongo

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"

	"go.mongodb.org/mongo-driver/v2/event"
	driver "go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/readpref"
	xdriver "go.mongodb.org/mongo-driver/v2/x/mongo/driver"

	"vitrine/cache/origin"
	"vitrine/cache/origin/internal/wrap"
	"vitrine/rules"
)

// A server may answer pings and yet refuse queries: it is no longer the primary, shuts down or recovers. The driver
// retries such a query until the operation's deadline, 10 seconds or more. So a monitor reports each refusal to the
// circuit at once. From then on Ping also sends a query, until one succeeds.

// monitor returns a monitor that reports each refused attempt of a command.
func monitor(refused *atomic.Bool) *event.CommandMonitor {
	return &event.CommandMonitor{Failed: func(ctx context.Context, e *event.CommandFailedEvent) {
		failed, ok := errors.AsType[xdriver.Error](e.Failure)
		if ok && slices.Contains(notServingCodes, int(failed.Code)) {
			refused.Store(true)
			origin.ReportRefusal(ctx)
		}
	}}
}

// Guard implements origin.Store.
func (s *Store) Guard(g origin.Gate) {
	s.gate = func(ctx context.Context, request func(context.Context) error) error {
		err := g(ctx, request)
		switch {
		case err == nil:
			if s.refused.Load() {
				s.refused.Store(false)
			}
		case errors.Is(err, rules.ErrUnavailable):
			s.refused.Store(true)
		}
		return err
	}
}

// Ping reports whether the server answers. If the last request got no reply or was refused, Ping also checks that the
// server answers queries on views, which need the primary.
func (s *Store) Ping(ctx context.Context) (err error) {
	defer wrap.Error(&err, "ping %s", s.name)
	defer recoverReply(&err, storeError)
	if err = s.client.Ping(ctx, readpref.Primary()); err != nil || !s.refused.Load() {
		return err
	}
	if err = s.side("meta").inner.FindOne(ctx, is("")).Err(); errors.Is(err, driver.ErrNoDocuments) {
		err = nil
	}
	if err == nil {
		s.refused.Store(false)
	}
	return err
}
