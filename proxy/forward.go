package proxy

import (
	"context"
	"maps"
	"slices"

	"github.com/gofiber/fiber/v2"

	"vitrine/cache/kept"
	"vitrine/proxy/keptadmin"
	"vitrine/proxy/upstream"
)

// newForwarder returns the Forwarder to the upstream server, or nil if the options name none.
func (s *Server) newForwarder(o UpstreamOptions) (*upstream.Forwarder, error) {
	if o.URL == "" {
		return nil, nil
	}
	o.Metrics, o.InFlight = s.metrics.Registry(), s.results.InFlight()
	return upstream.NewForwarder(upstream.ForwarderOptions{
		Options: o.Options, Keeper: o.Keeper, Tagged: len(s.options.Purge.Targets) > 0,
		Policy: func(c *fiber.Ctx) *upstream.Policy { return s.settingsOf(c).upstream },
	})
}

// Fetch requests an answer that is kept by rule. It is the Fetch of the Keeper's options.
func (s *Server) Fetch(ctx context.Context, r kept.Request) (kept.Answer, error) {
	return s.forwarder.Fetch(ctx, s.settings.Load().upstream, r)
}

// KeptChanged tells caches in front that the answers of keys have changed. It is the Changed of the Keeper's options.
func (s *Server) KeptChanged(keys []string) {
	if s.purger == nil || len(keys) == 0 {
		return
	}
	paths := map[string]bool{}
	for _, key := range keys {
		paths[keptadmin.PathOf(key)] = true
	}
	s.purger.KeptChanged(slices.Sorted(maps.Keys(paths)))()
}
