package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"os"

	"vitrine/cache/origin"
	"vitrine/cache/result"
	"vitrine/cache/view"
	"vitrine/configs"
	"vitrine/materialize"
	"vitrine/proxy"
	"vitrine/rules/access"
)

// viewOptions adjusts the front end's views to the configuration.
func viewOptions(cfg configs.Config) proxy.ViewOptions {
	return proxy.ViewOptions{Warm: []string{cfg.Catalog.TopicsPath + ".id"}}
}

// proxyOptions copies what the front end needs out of the configuration and the
// other parts.
func (p *program) proxyOptions(cfg settings, log *slog.Logger) (proxy.Options, error) {
	rights, err := access.New(access.Options{
		Anonymous:  permissions(cfg.Access.Anonymous),
		Roles:      rolePermissions(cfg.Access.Roles),
		Member:     cfg.member,
		Restricted: cfg.Access.Types,
	})
	if err != nil {
		return proxy.Options{}, fmt.Errorf("access: %w", err)
	}
	session, err := sessionOptions(cfg.Auth.Session)
	if err != nil {
		return proxy.Options{}, err
	}
	trusted, err := networks(cfg.HTTP.TrustedProxies)
	if err != nil {
		return proxy.Options{}, fmt.Errorf("http.trusted_proxies: %w", err)
	}
	o := proxy.Options{
		Views: p.views, Store: p.store.State, Records: p.store, Metrics: p.metrics, Access: rights,
		Auth: proxy.AuthOptions{
			APIKey: cfg.Auth.APIKey.Reveal(), PortfolioKey: cfg.Auth.PortfolioKey.Reveal(), Session: session,
		},
		Limits: requestLimits(cfg.Config),
		Filter: filterLimits(cfg.Limits),
		Cache:  answerLimits(cfg.Config),
		Fresh: proxy.Freshness{
			MaxAge: cfg.HTTP.CacheControl.MaxAge, StaleWhileRevalidate: cfg.HTTP.CacheControl.StaleWhileRevalidate,
			StaleIfError: cfg.HTTP.CacheControl.StaleIfError,
		},
		CORS:    proxy.CORSOptions{Origins: cfg.HTTP.CORS.Origins, Credentials: cfg.HTTP.CORS.Credentials, MaxAge: cfg.HTTP.CORS.MaxAge},
		Client:  proxy.ClientOptions{Header: cfg.HTTP.ProxyHeader, TrustedProxies: trusted},
		Codings: codings(cfg.HTTP.Compress.Codings),
		Admin:   proxy.AdminOptions{Token: cfg.Admin.Token.Reveal(), Hosts: adminHosts(cfg.Admin), Refresh: refresher(p.views, p.runner)},

		StartYear: cfg.StartYear, Affiliated: cfg.Affiliation.Fields,
		Zone: p.institute.zone, Language: cfg.Language, Labels: cfg.labels,
		Optional:        cfg.Views.Optional,
		FormattedSingle: cfg.Compat.FormattedSingle, SpectrumOff: !cfg.Portfolio.Enabled,
		Logger: log, AccessLog: cfg.Log.Requests,
	}
	if p.citations != nil {
		o.Citations = p.citations
	}
	return o, nil
}

// adminHosts are the names that the operator's listener goes by.
func adminHosts(cfg configs.Admin) []string {
	host, _, err := net.SplitHostPort(cfg.Listen)
	if err != nil || host == "" {
		return cfg.Hosts
	}
	return append([]string{host}, cfg.Hosts...)
}

func sessionOptions(cfg configs.Session) (proxy.SessionOptions, error) {
	o := proxy.SessionOptions{Secret: []byte(cfg.JWTSecret.Reveal()), Endless: cfg.Endless, Cookie: cfg.Cookie, UserHeader: cfg.UserHeader}
	if cfg.PublicKey != "" {
		pem, err := os.ReadFile(cfg.PublicKey)
		if err != nil {
			return o, fmt.Errorf("auth.session.public_key: %w", err)
		}
		o.PublicKey = pem
	}
	var err error
	if o.TrustedProxies, err = networks(cfg.TrustedProxies); err != nil {
		return o, fmt.Errorf("auth.session.trusted_proxies: %w", err)
	}
	return o, nil
}

// networks reads addresses and networks.
func networks(texts []string) ([]netip.Prefix, error) {
	all := make([]netip.Prefix, len(texts))
	for i, text := range texts {
		if addr, err := netip.ParseAddr(text); err == nil {
			addr = addr.Unmap() // as peers are compared
			all[i] = netip.PrefixFrom(addr, addr.BitLen())
			continue
		}
		network, err := netip.ParsePrefix(text)
		if err != nil {
			return nil, err
		}
		all[i] = network
	}
	return all, nil
}

func permissions(names []string) []access.Permission {
	all := make([]access.Permission, len(names))
	for i, name := range names {
		all[i] = access.Permission(name)
	}
	return all
}

func rolePermissions(roles map[string][]string) map[string][]access.Permission {
	all := make(map[string][]access.Permission, len(roles))
	for role, names := range roles {
		all[role] = permissions(names)
	}
	return all
}

func codings(names []string) []result.Coding {
	all := make([]result.Coding, len(names))
	for i, name := range names {
		all[i] = result.Coding(name)
	}
	return all
}

// refresher serves POST /admin/refresh: the process that materializes runs the
// jobs; any other looks whether the store has something newer.
func refresher(views *view.Set, runner *materialize.Runner) func(context.Context, proxy.Refresh) (proxy.Refreshed, error) {
	return func(_ context.Context, q proxy.Refresh) (proxy.Refreshed, error) {
		var names []string
		for _, st := range views.Status() {
			if q.View == "" || st.View == q.View {
				names = append(names, st.View)
			}
		}
		if len(names) == 0 {
			return proxy.Refreshed{}, fmt.Errorf("view %s: %w", q.View, origin.ErrNotFound)
		}
		asked := proxy.Refreshed{Views: names}
		if runner != nil {
			err := runner.Trigger(materialize.Request{Views: names, Full: q.Full, Force: q.Force})
			if err == nil || !errors.Is(err, materialize.ErrStandby) {
				return asked, err
			}
		}
		for _, n := range names {
			views.Notify(n)
		}
		return asked, nil
	}
}

// observer feeds the outcomes of jobs to the metrics, and has the views read how the
// jobs went: that is written after a new generation was shown.
func (p *program) observer() materialize.Observer {
	return materialize.Observer{
		Finished: func(o materialize.Outcome) {
			p.metrics.JobEnded(o.View, string(o.Result), o.Took, o.Changed, o.Removed, o.Skipped)
			p.views.Notify(o.View)
		},
		Missed:  p.metrics.JobMissed,
		Due:     p.metrics.JobDue,
		Leading: p.metrics.Leading,
	}
}
