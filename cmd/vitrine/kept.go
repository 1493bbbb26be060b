package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"log/slog"
	"path/filepath"
	"slices"

	"vitrine/cache/kept"
	"vitrine/cache/origin"
	"vitrine/configs"
	"vitrine/materialize"
)

// newKeeper returns the keeper of the other server's answers, or nil if there is no such server. It gets its rules
// from the server's options (proxyOptions), also at a reload.
//
// Fetch and Changed call the server, which is made after the keeper. They are closures and not method values,
// because p.server is nil here. The keeper calls them only once it runs.
func (p *program) newKeeper(cfg configs.Config, store origin.Store, log *slog.Logger) (*kept.Keeper, error) {
	if cfg.Upstream.URL == "" {
		return nil, nil
	}
	holder, alone := materialize.InstanceName(), embeddedPath(cfg) != ""
	if alone { // nothing waits for the claims of a process that was killed
		holder = embeddedHolder
	}
	return kept.New(kept.Options{
		Store: store.Responses(), Views: p.views.Published, Zone: p.institute.zone,
		Folder: keptFolder(cfg, store), Holder: holder, Alone: alone,
		Fetch:   func(ctx context.Context, r kept.Request) (kept.Answer, error) { return p.server.Fetch(ctx, r) },
		Changed: func(keys []string) { p.server.KeptChanged(keys) },
		Log:     log, Metrics: p.metrics.Registry(),
	})
}

// keptMarks are the marks of collections in a store, with the versions by which changes are noticed. The runner
// uses both under its lease: the versions say that a collection has changed, the marks say it to the keepers of all
// instances.
type keptMarks struct {
	origin.Versioner
	origin.Responses
}

// keptFolder returns the folder of files with copies of kept answers, or "" if there are none. Answers to the same
// path differ between servers and institutes, so each pair of a store and a server has a folder of its own. Six
// bytes of the hash are enough to tell a few folders apart, and short enough for a listing.
func keptFolder(cfg configs.Config, store origin.Store) string {
	if cfg.Views.Snapshot == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(store.Name() + "\x00" + cfg.Upstream.URL))
	return filepath.Join(cfg.Views.Snapshot, "upstream-"+hex.EncodeToString(sum[:6]))
}

// keepRules returns the rules by which answers of the other server are kept. A rule is named after its first path,
// as the status names it. EveryParameter is a word of the configuration and not the name of a parameter, so the
// rule has a switch for it.
func keepRules(all []*configs.Keep) []kept.Rule {
	rules := make([]kept.Rule, len(all))
	for i, k := range all {
		rules[i] = kept.Rule{
			Name: k.Paths[0], Paths: k.Paths, Auth: k.Door(),
			Until: k.Until, For: k.For, Stale: k.Stale, Revalidate: k.Revalidate,
			Parameters: k.Parameters, Type: k.Type, Refresh: k.Refresh, Warm: k.Warm,
			Rate: k.Rate, Connections: k.Connections, Budget: int64(k.Budget),
		}
		if rules[i].AllParameters = slices.Contains(k.Parameters, configs.EveryParameter); rules[i].AllParameters {
			rules[i].Parameters = nil
		}
	}
	return rules
}
