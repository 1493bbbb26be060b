package upstream

import (
	"cmp"
	"context"
	"strings"
	"time"

	"vitrine/proxy/upstream/traffic"
	"vitrine/rules/urlpath"
)

// defaultRecheck is how often watch repeats a failed request. VitrineOtherServerAway waits for two minutes, so that
// several rechecks come before it.
const defaultRecheck = 30 * time.Second

// watch repeats the last failed request, so that the end of a failure is seen even if no client sends a request. It
// sends nothing while the server answers or clients send requests, and one request at a time. Package gate sees the
// end of failures to connect, since it probes the server. watch returns when ctx ends.
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
				f.recheck(ctx, s.Last.Recheck)
			}
			before = f.proxy.traffic.Outcomes()
		}
	}
}

// recheck repeats a failed request. Where a rule keeps the answer, it renews that as a refresh by the operator
// does: this also brings a new answer, and the rule decides whether it is usable.
func (f *Forwarder) recheck(ctx context.Context, what traffic.Recheck) {
	if what.Rule {
		encoded, _, _ := strings.Cut(what.Target, "?")
		if path, ok := urlpath.Normalised(encoded); ok {
			if rule := f.keeper.Match(path); rule != nil {
				_, _ = f.keeper.Renew(ctx, rule, what.Target) // the outcome is recorded, as of all requests
				return
			}
		}
	}
	if what.Target != "" {
		f.proxy.recheck(ctx, what.Target)
	}
}

// recheck asks for a path that has failed, to find out whether it still does.
func (p *Proxy) recheck(ctx context.Context, path string) {
	r := newWhole(WholeRequest{Target: path})
	r.counts = p.traffic.countsOf(counted{path: path, prefix: path})
	began := time.Now()
	resp, err := p.gate.SendOwn(ctx, p.toGate(r, nil))
	p.record(r, began, resp, err)
	if err == nil {
		_ = resp.Body.Close() // the head says enough
	}
}
