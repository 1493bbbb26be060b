package upstream

import (
	"cmp"
	"context"
	"strings"
	"time"

	"vitrine/proxy/upstream/traffic"
	"vitrine/rules/urlpath"
)

// defaultRecheck is the time after which a failure is asked about again. A minute would be as long as an alert waits.
const defaultRecheck = 30 * time.Second

// watch asks again for what the other server has failed, so that the end of a failure is seen even if no client asks.
// It asks nothing while the server answers, nor while clients do, and one request at a time. The end of failures to
// reach the server is seen by package gate, which probes it. watch returns when ctx ends.
func (f *Forwarder) watch(ctx context.Context) {
	every := time.NewTicker(cmp.Or(f.proxy.options.Recheck, defaultRecheck))
	defer every.Stop()
	for {
		select {
		case <-f.proxy.traffic.Doubt():
		case <-ctx.Done():
			return
		}
		before := f.proxy.traffic.Outcomes()
		for f.proxy.traffic.State().Failing {
			select {
			case <-every.C:
			case <-ctx.Done():
				return
			}
			if now := f.proxy.traffic.Outcomes(); now != before { // others ask
				before = now
				continue
			}
			if s := f.proxy.traffic.State(); s.Failing && !s.Last.Unreached() {
				f.askAgain(ctx, s.Last.Again)
			}
			before = f.proxy.traffic.Outcomes()
		}
	}
}

// askAgain asks for what has failed. What a rule keeps is fetched as an operator would have it fetched: that brings a
// new answer, too, and the rule says whether it is a good one.
func (f *Forwarder) askAgain(ctx context.Context, what traffic.Again) {
	if what.Rule {
		encoded, _, _ := strings.Cut(what.Target, "?")
		if path, ok := urlpath.Normalised(encoded); ok {
			if rule := f.keeper.Match(path); rule != nil {
				_, _ = f.keeper.Renew(ctx, rule, what.Target) // what comes of it is recorded, as of all requests
				return
			}
		}
	}
	if what.Target != "" {
		f.proxy.askAgain(ctx, what.Target)
	}
}

// askAgain asks for a path that has failed, to find out whether it still does.
func (p *Proxy) askAgain(ctx context.Context, path string) {
	r := newWhole(WholeRequest{Target: path})
	r.counts = p.traffic.countsOf(counted{path: path, prefix: path})
	began := time.Now()
	resp, err := p.gate.SendOwn(ctx, p.toGate(r, nil))
	p.record(r, began, resp, err)
	if err == nil {
		_ = resp.Body.Close() // the head says enough
	}
}
