package main

import (
	"context"
	"os"
	"os/signal"
	"reflect"
	"slices"
	"strings"
	"syscall"
	"time"

	"vitrine/configs"
	"vitrine/materialize"
)

// watchHangups turns SIGHUP into a request to read the file again; without a file SIGHUP ends the process.
func watchHangups(s configs.Sources) (signals chan os.Signal, stop func()) {
	if s.File() == "" {
		return nil, func() {}
	}
	signals = make(chan os.Signal, 1)
	signal.Ignore(syscall.SIGHUP) // so that SIGHUP no longer ends the process
	signal.Notify(signals, syscall.SIGHUP)
	return signals, func() { signal.Stop(signals) }
}

// poll is how often follow checks whether the settings in the database have changed.
const poll = 15 * time.Second

// follow adopts new lists on a signal, and settings in the database when they change, until ctx ends.
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
			if err := p.reload(ctx, func() (configs.Config, error) { return configs.Load(p.sources) }); err != nil {
				p.log.ErrorContext(ctx, "configuration not reloaded, all settings stay", "error", err)
			} else {
				p.log.InfoContext(ctx, "lists reloaded")
			}
		}
	}
}

// check adopts the settings in the database if they have changed and can be read and used.
func (p *program) check(ctx context.Context) {
	p.adopting.Lock()
	defer p.adopting.Unlock()
	next, err := p.institute.settings(ctx)
	if err == nil && !reflect.DeepEqual(next, p.settings) {
		if err = p.adopt(next); err == nil {
			p.log.InfoContext(ctx, "settings in the database changed")
		}
	}
	if ctx.Err() == nil && err != nil {
		p.log.WarnContext(ctx, "read settings in the database failed", "error", err)
	}
}

// reload reads the configuration again and adopts its lists and their site. Other settings keep their values, and the log names those
// that have changed. If anything in the configuration is invalid, nothing changes. If lists were disabled at the start,
// reload cannot enable them, because the views lack what lists need.
func (p *program) reload(ctx context.Context, load func() (configs.Config, error)) error {
	cfg, err := load()
	if err != nil {
		return err
	}
	begins := cfg.Lists.Enabled && !p.institute.config.Lists.Enabled
	stale := slices.DeleteFunc(p.institute.config.Changed(cfg), func(path string) bool {
		return (strings.HasPrefix(path, "lists.") || strings.HasPrefix(path, "site.")) && !(begins && path == "lists.enabled")
	})
	cfg.Lists.Enabled = cfg.Lists.Enabled && !begins
	next, err := newLists(cfg)
	if err != nil {
		return err
	}
	p.adopting.Lock()
	defer p.adopting.Unlock()
	before := p.institute.lists.Swap(next)
	current, err := p.institute.settings(ctx)
	if err == nil {
		err = p.adopt(current)
	}
	if err != nil {
		p.institute.lists.Store(before)
		return err
	}
	if len(stale) > 0 {
		p.log.WarnContext(ctx, "changed settings keep their old values until a restart", "settings", stale)
	}
	if p.runner != nil {
		_ = p.runner.Trigger(materialize.Request{}) // a standby leaves the runs to the leader, which has its own configuration
	}
	return nil
}

func (p *program) adopt(s settings) error {
	o, err := p.proxyOptions(s)
	if err == nil {
		err = p.server.Adopt(o)
	}
	if err == nil {
		p.settings = s
	}
	return err
}
