package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"reflect"
	"slices"
	"strings"
	"syscall"
	"time"

	"vitrine/configs"
	"vitrine/materialize"
	"vitrine/proxy/admin"
	"vitrine/rules"
	"vitrine/rules/access"
)

// watchHangups turns SIGHUP into a request to read the file again; without a file SIGHUP ends the process.
//
// SIGHUP has two meanings: a terminal that closes sends it to end its processes, and an operator sends it to a
// daemon so that it reads its file again. A server with a file takes the second meaning. The channel has room for
// one signal: more signals during a reload ask for the same reload again. It is nil without a file, and a nil
// channel never receives.
func watchHangups(s configs.Sources) (signals chan os.Signal, stop func()) {
	if s.File() == "" {
		return nil, func() {}
	}
	signals = make(chan os.Signal, 1)
	signal.Ignore(syscall.SIGHUP) // so that SIGHUP no longer ends the process
	signal.Notify(signals, syscall.SIGHUP)
	return signals, func() { signal.Stop(signals) }
}

// poll is how often follow checks whether the settings in the database have changed. It bounds how long an edit in
// OSIRIS takes to show.
const poll = 15 * time.Second

// follow reads the configuration again on a signal, and adopts settings in the database when they change, until ctx
// ends.
//
// Both ways to change settings go through change, so a reload by SIGHUP, one by POST /admin/reload, and the poll of
// the database never run at the same time. No error ends the loop: the settings in force stay, and the log has the
// reason.
func (p *program) follow(ctx context.Context) error {
	var ticks <-chan time.Time
	if p.institute.database != nil {
		ticks = time.Tick(poll)
	}
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-ticks:
			p.check(ctx)
		case <-p.hangups:
			if _, err := p.reload(ctx); err != nil {
				p.log.ErrorContext(ctx, "configuration not reloaded, all settings stay", "error", err)
			}
		}
	}
}

// change waits until no other goroutine changes the settings, or ctx ends. The caller calls end when it is done. A
// change may wait for the store, so readers use current, which waits for no change.
//
// It is a channel and not a mutex, because a wait for a mutex cannot end with ctx: a request for a reload may be
// given up while an earlier reload waits for a store that does not answer.
func (p *program) change(ctx context.Context) (end func(), err error) {
	select {
	case p.changing <- struct{}{}:
		return func() { <-p.changing }, nil
	case <-ctx.Done():
		return nil, fmt.Errorf("wait for another change of settings: %w", context.Cause(ctx))
	}
}

// current returns the settings in use. The maps and pointers in them are read-only and shared: an adoption replaces
// them, it does not write into them.
func (p *program) current() settings {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.settings
}

// check adopts the settings in the database if they have changed. If they cannot be read or used, the old ones
// stay. The database is read under change, so that a reload between the read and the adoption cannot be undone by
// settings from before it.
func (p *program) check(ctx context.Context) {
	end, err := p.change(ctx)
	if err != nil {
		return // the program ends
	}
	defer end()
	next, err := p.institute.inForce(ctx, p.institute.loaded.Load())
	if err == nil && !reflect.DeepEqual(next, p.current()) {
		if err = p.adopt(next); err == nil {
			p.log.InfoContext(ctx, "settings in the database changed")
		}
	}
	if ctx.Err() == nil && err != nil {
		p.log.WarnContext(ctx, "read settings in the database failed", "error", err)
	}
}

// fixed returns a function that reports whether the setting at a path needs a restart to have its value in a
// configuration: settings that are not live, and some that are, depending on others. `live` in settings.yaml says
// which settings a reload adopts. The cases below depend on two configurations, which a table cannot say: a setting
// that would need a part that this process did not make at its start has to wait for a restart.
func (i *institute) fixed(next configs.Config) func(path string) bool {
	hides := func(c configs.Config) bool { return !slices.Contains(c.Access.Anonymous, string(access.FieldsHidden)) }
	return func(path string) bool {
		switch path {
		case "access.anonymous": // rows and indexes depend on whether fields are hidden
			return hides(next) != hides(i.loaded.Load().Config)
		case "routes":
			return i.loaded.Load().Upstream.URL == ""
		case "upstream.methods": // the table of routes has a column for each method
			before := i.loaded.Load()
			return before.Upstream.URL == "" || !acceptedOf(before.Config).Routable(acceptedOf(next))
		case "upstream.body_bytes":
			return i.loaded.Load().Upstream.URL == ""
		case "upstream.keep": // the preset has rules only with a server, which stays
			return i.loaded.Load().Upstream.URL == "" || next.Upstream.URL == ""
		case "lists.enabled":
			return next.Lists.Enabled && !i.listed
		}
		return !configs.IsLive(path)
	}
}

// reload reads the configuration and the files that it names again, and adopts what needs no restart. If anything
// in them is invalid, or the database cannot be read, nothing changes.
//
// The phases: read and check the sources; refuse what may be half of a file; lay the protections and the fixed
// settings of the old configuration over the new one; read the files that it names; read the database; give the
// server its new options. Only the last one changes anything.
func (p *program) reload(ctx context.Context) (done admin.Reloaded, err error) {
	end, err := p.change(ctx)
	if err != nil {
		return done, err
	}
	defer end()
	p.notifier.Reloading()
	defer func() { p.notifier.Reloaded(err) }()
	cfg, err := configs.Load(p.sources)
	if err != nil {
		return done, rules.Wrongf("", "", "%v", err)
	}
	// An editor may truncate a file before it writes it, and a copy may be half done. Both read as valid YAML that
	// sets less.
	before := p.institute.loaded.Load()
	if before.FromFile() && !cfg.FromFile() { // without keys and rights, much would be open
		return done, rules.Wrongf("", "", "the configuration file sets nothing: it may not be written yet")
	}
	if !before.Cut() && cfg.Cut() {
		return done, rules.Wrongf("", "",
			"the last line of the configuration file does not end: it may not be written yet")
	}
	// First the protections, then the settings that need a restart: a setting may be both.
	cfg, done.Kept = before.Protecting(cfg)
	cfg, done.Adopted, done.Refused = before.Keeping(cfg, p.institute.fixed(cfg))
	if err := cfg.CheckFiles(); err != nil {
		return done, rules.Wrongf("", "", "%v", err)
	}
	next, err := p.institute.load(cfg)
	cited, failed := p.institute.loadCite(cfg.Rules)
	if err = errors.Join(err, failed); err != nil {
		return done, rules.Wrongf("", "", "%v", cfg.Located(err))
	}
	// The views have words and marks by the rules of citing, and the jobs that write them were made with these
	// rules.
	if cited.Fingerprint != p.institute.cite.Fingerprint {
		done.Refused = append(done.Refused, "rules.cite_file")
	}
	// A file may have other content under the same name. Then its setting has not changed, but counts as adopted.
	for file, same := range map[string]bool{
		"rules.file":  next.rendering.Rules.Fingerprint() == before.rendering.Rules.Fingerprint(),
		"labels.file": reflect.DeepEqual(next.ownNames, before.ownNames),
		// a change of a locale changes the styles, too
		"lists.styles": next.styles.Fingerprint() == before.styles.Fingerprint(),
	} {
		if !same && !slices.Contains(done.Adopted, file) {
			done.Adopted = append(done.Adopted, file)
		}
	}
	slices.Sort(done.Adopted)
	current, err := p.institute.inForce(ctx, next)
	if err != nil {
		return done, err
	}
	if err := p.adopt(current); err != nil {
		return done, rules.Wrongf("", "", "%v", cfg.Located(err))
	}
	// The server answers by the new settings from adopt on. Jobs read institute.loaded at the start of each run, so
	// a run that has begun renders by the old settings, and Trigger below makes another run follow it.
	p.institute.loaded.Store(next)
	p.log.InfoContext(ctx, "configuration reloaded", "changed", done.Adopted)
	if len(done.Refused) > 0 {
		p.log.WarnContext(ctx, "changed settings keep their old values until a restart", "settings", done.Refused)
	}
	if len(done.Kept) > 0 {
		p.log.WarnContext(ctx, "settings stay until a restart because the configuration file no longer names them: "+
			`to end what they protect, write them as empty ("", [] or {})`, "settings", done.Kept)
	}
	// These settings change rows: what is rendered, and the marks of what is public.
	rows := slices.ContainsFunc(done.Adopted, func(path string) bool {
		return path == "language" || strings.HasPrefix(path, "lists.") || strings.HasPrefix(path, "rules.")
	})
	if p.runner != nil && rows {
		// a standby leaves the runs to the leader, which has its own configuration
		_ = p.runner.Trigger(materialize.Request{})
	}
	return done, nil
}

// writeConfig writes the configuration in force, with the settings in the database. It answers GET /admin/config.
// Secrets are not in it, because configs.Config.WriteYAML leaves them out.
func (p *program) writeConfig(w io.Writer) error {
	return p.current().WriteYAML(w)
}

// adopt makes the server use settings. The caller has called change.
//
// Adopt of the server checks all options before it takes any of them. p.settings follows it, so that current never
// has settings that the server refused.
func (p *program) adopt(s settings) error {
	o, err := p.proxyOptions(s)
	if err == nil {
		err = p.server.Adopt(o)
	}
	if err == nil {
		p.mu.Lock()
		p.settings = s
		p.mu.Unlock()
	}
	return err
}
