package upstream

import (
	"vitrine/proxy/metrics"
	"vitrine/proxy/upstream/traffic"
)

// State returns whether the other server answers.
func (f *Forwarder) State() traffic.State { return f.proxy.traffic.State() }

// Status returns what operators see of the other server under a policy; nil for a nil Forwarder. It reads the
// numbers from the metrics, so that both agree.
func (f *Forwarder) Status(set *Policy, of *metrics.Metrics) *traffic.Status {
	if f == nil {
		return nil
	}
	p, asked := f.proxy, of.RequestsByEndpoint()
	s := p.traffic.Status()
	s.URL, s.Open = p.base.String(), p.Down()
	if p.options.Host != p.base.Host {
		s.Host = p.options.Host
	}
	s.Paths, s.Routes = append([]string{}, set.Paths...), append([]string{}, set.Routes...)
	s.Traffic = p.traffic.Rows(asked)
	for i, row := range s.Traffic {
		s.Traffic[i].Moved = set.moved(row.Path)
	}
	if f.keeper != nil {
		took := traffic.TimesOf(f.keeper.Seconds())
		for _, r := range f.keeper.Status() {
			s.Traffic = append(s.Traffic, p.traffic.Rule(traffic.Row{
				Rule: r.Rule.Name, Kept: r.Hits, Stale: r.Served, Forwarded: r.Misses, Failed: r.Failures,
			}, asked, took))
		}
	}
	traffic.Sort(s.Traffic)
	return &s
}
