package main

import (
	"cmp"
	"math"
	"time"

	"vitrine/cache/result"
	"vitrine/cmd/vitrine/internal/memory"
	"vitrine/configs"
	"vitrine/proxy"
	"vitrine/rules/filter"
)

// In the configuration 0 is no limit. The packages behind it take 0 for their default, so
// each gets its own value for "no limit".
const (
	boundless = math.MaxInt32 // for bytes, levels and values; no request has as many
	noTimeout = time.Hour     // for the patterns of one request; no request takes as long
)

// unlimited returns a time as most options write it, where a negative one turns the bound
// or the feature off.
func unlimited(d time.Duration) time.Duration { return cmp.Or(d, -1) }

// requestLimits returns the front end's limits.
func requestLimits(cfg configs.Config) proxy.Limits {
	l := cfg.Limits
	return proxy.Limits{
		URLBytes: int(l.URLBytes), BodyBytes: int(l.BodyBytes), KeptBytes: keptBytes(cfg),
		Request: unlimited(l.RequestTimeout), Read: unlimited(l.ReadTimeout), Write: unlimited(l.WriteTimeout), Send: unlimited(l.SendTimeout),
		Idle: unlimited(cmp.Or(l.IdleTimeout, l.ReadTimeout)), Concurrency: l.Concurrency,
		ClientConnections: l.ClientConnections, Rate: l.Rate, Burst: l.Burst, KeyFailures: l.KeyFailures,
		DrainDelay: cfg.Shutdown.Delay, Shutdown: unlimited(cfg.Shutdown.Grace),
	}
}

// keptBytes returns the size of the longest answer that is kept, in bytes. It is a third of
// memory.in_flight at most, so that such an answer has room while it is made and sent.
func keptBytes(cfg configs.Config) int {
	most := int64(cmp.Or(cfg.Cache.MaxEntry, cfg.Cache.Budget))
	if bound := memory.AtMostEighth(int64(cfg.Memory.InFlight)); bound > 0 {
		most = min(most, bound/3)
	}
	return int(most)
}

// filterLimits returns the limits of one filter.
func filterLimits(l configs.Limits) filter.Options {
	return filter.Options{
		MaxBytes: cmp.Or(int(l.FilterBytes), boundless), MaxDepth: cmp.Or(l.FilterDepth, boundless), MaxNodes: cmp.Or(l.FilterNodes, boundless),
		MaxPattern: cmp.Or(int(l.RegexBytes), boundless), RegexTimeout: cmp.Or(l.RegexTimeout, noTimeout),
	}
}

// answerLimits returns the limits of kept answers.
func answerLimits(cfg configs.Config) result.Options {
	return result.Options{
		Budget: int64(cfg.Cache.Budget), BlockBudget: int64(cfg.Cache.Blocks), Timeout: unlimited(cfg.Limits.RequestTimeout), Waiting: cfg.Limits.Waiting,
		InFlight: memory.AtMostEighth(int64(cfg.Memory.InFlight)),
		MinCoded: cmp.Or(int(cfg.HTTP.Compress.MinBytes), 1),
	}
}
