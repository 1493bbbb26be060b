package main

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/netip"
	"slices"
	"time"

	"vitrine/cache/origin"
	"vitrine/cache/result"
	"vitrine/cmd/vitrine/internal/memory"
	"vitrine/configs"
	"vitrine/configs/regular"
	"vitrine/materialize"
	"vitrine/proxy"
	"vitrine/proxy/admin"
	"vitrine/proxy/api"
	"vitrine/proxy/auth"
	proxylists "vitrine/proxy/lists"
	"vitrine/proxy/purge"
	"vitrine/proxy/upstream"
	"vitrine/rules/access"
)

// rightsOf returns the policy of access by settings: what callers without a session may see, what each role adds,
// which roles every user with a session has, and which types of records only some roles see. A nil map of roles
// gives users nothing but what all have.
func rightsOf(s settings) *access.Policy {
	roles := make(map[string][]access.Permission, len(s.Access.Roles))
	for role, names := range s.Access.Roles {
		roles[role] = named[access.Permission](names)
	}
	return access.New(access.Options{
		Anonymous:  named[access.Permission](s.Access.Anonymous),
		Roles:      roles,
		Member:     s.member,
		Restricted: s.Access.Types,
	})
}

// proxyOptions returns the options of the server that depend on settings. New, Adopt and Check of package proxy all
// get them, so a setting that a reload changes has one way into the server. What does not depend on settings, such
// as views and the handlers of the operator, assemble adds once. Its errors are those of files with keys and
// tokens, which may have changed since the configuration was checked.
func (p *program) proxyOptions(cfg settings) (proxy.Options, error) {
	session, err := sessionOptions(cfg.Auth.Session)
	if err != nil {
		return proxy.Options{}, err
	}
	purged, err := purgeOptions(cfg.Purge.Targets, cfg.Purge.Tokens)
	if err != nil {
		return proxy.Options{}, err
	}
	answers, keptBytes := result.Sized(int64(cfg.Cache.Budget), min(128<<20, memory.Share())) // made or sent at a time
	answers.Timeout = cfg.Limits.RequestTimeout
	o := proxy.Options{
		Options: api.Options{
			Resources: cfg.Resources, Access: rightsOf(cfg), Hidden: p.institute.hidden, Records: p.records,
			Zone: p.institute.zone, Labels: cfg.labels, Departments: cfg.departments,
		},
		Lists: proxylists.Options{Lists: cfg.Lists, Site: cfg.Site, Cite: p.institute.cite, Rule: cfg.public,
			Styles: cfg.styles},
		Metrics: p.metrics,
		Auth: auth.Options{
			APIKey: cfg.Auth.APIKey.Reveal(), PortfolioKey: cfg.Auth.PortfolioKey.Reveal(), Session: session,
			Keys: keysOf(cfg.Auth.Keys, p.institute.zone),
			Client: auth.ClientOptions{Header: cfg.HTTP.ProxyHeader,
				TrustedProxies: networks(cfg.HTTP.TrustedProxies)},
		},
		Limits: proxy.Limits{
			Limits: cfg.Limits, Shutdown: cfg.Shutdown, KeptBytes: keptBytes,
			ClientConnections: 1000, KeyFailures: 30, // of one client: at a time, and in a minute
		},
		Cache: answers,
		Purge: purged,
		Upstream: proxy.UpstreamOptions{
			Options:  upstream.Options{URL: cfg.Upstream.URL, Host: cfg.Upstream.Host, Scheme: cfg.Upstream.Scheme},
			Accepted: acceptedOf(cfg.Config),
			Paths:    cfg.Upstream.Paths, Routes: moved(cfg.Routes), Keys: p.upstreamKeys(cfg),
			Keep: keepRules(cfg.Upstream.Keep), Keeper: p.keeper,
		},
		Fresh: cfg.HTTP.CacheControl, CORS: cfg.HTTP.CORS, Shadow: cfg.Compare.Shadow,
		Admin: admin.Options{Admin: cfg.Admin},

		Optional: cfg.Views.Optional, Fields: fieldUses(cfg),
		Logger: p.log, AccessLog: cfg.Log.Requests,
	}
	o.Lists.Hosts = listHosts(cfg.Config)
	if p.citations != nil { // a nil *Client in the interface would not be nil
		o.Citations = p.citations
	}
	return o, nil
}

// acceptedOf returns the methods and bodies that are forwarded in addition to GET and HEAD.
func acceptedOf(cfg configs.Config) upstream.Accepted {
	return upstream.Accepted{Methods: cfg.Upstream.Methods, BodyBytes: int(cfg.Upstream.BodyBytes)}
}

// upstreamKeys returns the keys of the other server: that of the setting, which then opens all its paths, or the
// stored ones. With the preset for OSIRIS, that server's own database has them, unless they are unusable.
func (p *program) upstreamKeys(cfg settings) auth.Upstream {
	if key := cfg.Upstream.Key.Reveal(); key != "" {
		return auth.Upstream{Key: key, PortfolioKey: key}
	}
	// storedOf puts the random sealed key in place of an unreadable one. It must not be sent.
	stored := func(key configs.Secret) string {
		if key.Reveal() == p.institute.sealed {
			return ""
		}
		return key.Reveal()
	}
	return auth.Upstream{Key: stored(cfg.stored.APIKey), PortfolioKey: stored(cfg.stored.PortfolioKey)}
}

// listHosts returns the hosts that absolute URLs in lists may have: without a setting, those of the listener. A
// feed has absolute URLs with the host of the request, so a host that a client makes up must not get into answers
// that other clients see from a cache. The ports are left open, because a proxy in front may listen on another one.
func listHosts(cfg configs.Config) []string {
	if len(cfg.Lists.Hosts) > 0 {
		return cfg.Lists.Hosts
	}
	own, _, _ := net.SplitHostPort(cfg.Listen) // package configs has checked the address
	var all []string
	for _, host := range []string{"localhost", "127.0.0.1", "::1", cmp.Or(own, "localhost")} {
		all = append(all, net.JoinHostPort(host, "*"))
	}
	return all
}

// keysOf copies the settings of named keys. An empty list of endpoints, rights, origins or networks means what
// package auth documents; a zero Expires is a key without an end. The rights are sorted, so that equal settings
// give equal options.
func keysOf(all map[string]*configs.Key, zone *time.Location) (keys []auth.Key) {
	for _, name := range slices.Sorted(maps.Keys(all)) {
		k := all[name]
		one := auth.Key{Name: name, Endpoints: k.Endpoints,
			Rights:  named[access.Permission](slices.Sorted(slices.Values(k.Permissions))),
			Origins: k.Origins, Networks: networks(k.Networks), Rate: k.Rate}
		for _, digest := range k.SHA256 {
			sum, _ := hex.DecodeString(digest) // package configs has checked it
			one.Sums = append(one.Sums, [sha256.Size]byte(sum))
		}
		if day, err := time.ParseInLocation(time.DateOnly, k.Expires, zone); err == nil {
			// Package configs has checked the date: only an empty one fails here.
			// The key still counts on the day that the setting names, in the zone of the institute. AddDate adds a
			// day and not 24 hours, so that a change to summer time moves nothing.
			one.Expires = day.AddDate(0, 0, 1)
		}
		keys = append(keys, one)
	}
	return keys
}

// sessionOptions copies the settings of sessions and reads the file of the public key. Package auth parses the key,
// so a file with another content is its error.
func sessionOptions(cfg configs.Session) (o auth.SessionOptions, err error) {
	o = auth.SessionOptions{Secret: []byte(cfg.JWTSecret.Reveal()), Endless: cfg.Endless,
		Issuer: cfg.Issuer, Audience: cfg.Audience, Type: cfg.Type, UnknownUsers: cfg.UnknownUsers,
		Cookie: cfg.Cookie, UserHeader: cfg.UserHeader, TrustedProxies: networks(cfg.TrustedProxies)}
	if cfg.PublicKey != "" {
		if o.PublicKey, err = regular.Read(cfg.PublicKey, regular.Most); err != nil {
			return o, fmt.Errorf("auth.session.public_key: %s: %w", cfg.PublicKey, err)
		}
	}
	return o, nil
}

// moved returns the paths that the other server answers. An empty entry is turned off.
func moved(routes map[string]string) (paths []string) {
	for path, to := range routes {
		if to != "" {
			paths = append(paths, path)
		}
	}
	slices.Sort(paths)
	return paths
}

// purgeOptions copies the targets of purges, with their credentials, and reads the files with their tokens.
func purgeOptions(targets map[string]configs.URI, files map[string]string) (purge.Options, error) {
	o := purge.Options{Targets: map[string]string{}, Tokens: map[string]string{}}
	for name, target := range targets {
		if target != "" { // an empty entry is turned off
			o.Targets[name] = target.Reveal()
		}
	}
	for name, file := range files {
		if file == "" {
			continue
		}
		token, err := regular.Read(file, regular.Most)
		if err != nil {
			return o, fmt.Errorf("purge.tokens: %s: %s: %w", name, file, err)
		}
		o.Tokens[name] = string(token)
	}
	return o, nil
}

// networks reads addresses and networks, which package configs has checked. A nil result trusts no proxy.
func networks(texts []string) (all []netip.Prefix) {
	for _, text := range texts {
		if network, err := configs.ParseNetwork(text); err == nil {
			all = append(all, network)
		}
	}
	return all
}

// refreshPatience bounds how long a request waits for a refresh. The refresh continues after that.
const refreshPatience = 5 * time.Minute

// refresh handles POST /admin/refresh if this process runs the jobs. Otherwise it refuses, because a later leader
// would not do the refresh; but if forced, it shows the views that it holds back.
//
// With wait the answer comes when this instance shows the new rows, not when a job has published them: a client
// that refreshes and then reads gets what it asked for.
func (p *program) refresh(ctx context.Context, q admin.Refresh) (admin.RefreshResult, error) {
	res := admin.RefreshResult{}
	for _, st := range p.views.Status() {
		if q.View == "" || st.View == q.View {
			res.Views = append(res.Views, st.View)
		}
	}
	if len(res.Views) == 0 {
		return res, fmt.Errorf("view %s: %w", q.View, origin.ErrNotFound)
	}
	err := materialize.ErrStandby
	if r := (materialize.Request{Views: res.Views, Full: q.Full, Force: q.Force}); p.runner != nil && q.Wait {
		res.Runs, err = p.runJobs(ctx, r)
		res.Done = err == nil
	} else if p.runner != nil {
		err = p.runner.Trigger(r)
	}
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return res, nil // the refresh goes on in the background
	// The lease was lost between two jobs. What ran counts, and the new leader does not continue.
	case errors.Is(err, materialize.ErrStandby) && len(res.Runs) > 0:
		return res, &admin.NotLeadingError{Ran: len(res.Runs), Of: len(res.Views)}
	case errors.Is(err, materialize.ErrStandby):
		// Views hold back a generation that lost too many rows. Force concerns this instance alone, so the message
		// says that the others still hold it back.
		if q.Force && p.views.Force(res.Views...) {
			res.Msg =
				"Only this instance shows what the store has; vitrine materialize --force lets it through everywhere."
			res.Done = q.Wait && p.showAll(ctx, &res)
			return res, nil
		}
		holder, err := p.leader(ctx)
		if err != nil {
			return res, err
		}
		return res, &admin.NotLeadingError{Holder: holder, Self: p.runner != nil && holder == p.runner.Holder()}
	}
	return res, err
}

// leader returns the instance that runs the jobs, according to the store. In an embedded store the lease names no
// process. Only this process can have the store open: if it runs no jobs, the lease is that of a process that has
// ended. It may differ from what the instance itself believes, whose lease may have ended while it was paused.
func (p *program) leader(ctx context.Context) (string, error) {
	holder, err := materialize.Leader(ctx, p.store)
	if p.runner == nil && holder == embeddedHolder {
		holder = ""
	}
	return holder, err
}

// showAll waits until this instance shows what the store has of the views of a result, and reports whether it does.
// If not, the result says why.
func (p *program) showAll(ctx context.Context, res *admin.RefreshResult) bool {
	ctx, cancel := context.WithTimeout(ctx, refreshPatience)
	defer cancel()
	for _, name := range res.Views {
		if err := p.views.AwaitShown(ctx, name, origin.Meta{}); err != nil {
			res.Msg += " Not shown yet: view " + name + ": " + err.Error() + "."
			return false
		}
	}
	return true
}

// runJobs runs jobs for a request, and waits until this instance shows what they have published.
func (p *program) runJobs(ctx context.Context, r materialize.Request) (runs []admin.JobRun, err error) {
	ctx, cancel := context.WithTimeout(ctx, refreshPatience)
	defer cancel()
	outcomes, err := p.runner.Refresh(ctx, r)
	for _, o := range outcomes {
		run := admin.JobRun{
			View: o.View, Result: string(o.Result),
			OK:         o.Result == materialize.Published || o.Result == materialize.Unchanged,
			Generation: o.Meta.Generation, Rows: o.Meta.Rows, Scanned: o.Scanned, Changed: o.Changed,
			Removed: o.Removed,
			Skipped: o.Skipped, Missing: o.Missing, Seconds: o.Took.Seconds(),
		}
		if o.Err != nil {
			run.Error = o.Err.Error()
		}
		if run.OK {
			switch shown := p.views.AwaitShown(ctx, o.View, o.Meta); {
			case ctx.Err() != nil: // the view is still being read
				err = cmp.Or(err, ctx.Err())
			case shown != nil:
				run.NotShown = shown.Error()
			}
		}
		runs = append(runs, run)
	}
	return runs, err
}

// observer reports the outcomes of jobs to the metrics. It also notifies the views, because they read the outcome
// from the store, where the runner writes it after it has published the new generation. The runner waits for each
// of these functions, so none of them may block.
func (p *program) observer() materialize.Observer {
	return materialize.Observer{
		Finished: func(o materialize.Outcome) {
			p.unrecorded.Record(o)
			p.metrics.JobEnded(o.View, string(o.Result), o.Took, o.Changed, o.Removed, o.Skipped)
			p.views.Notify(o.View)
			p.ran.Store(o.View, true)
			p.settle()
		},
		Missed:  p.metrics.JobMissed,
		Due:     p.metrics.JobDue,
		Leading: p.metrics.Leading,
	}
}
