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

// watchHangups makes SIGHUP ask for the configuration to be read again. It returns no signals
// if the configuration has no file: then SIGHUP ends the process.
func watchHangups(s configs.Sources) (signals chan os.Signal, stop func()) {
	if s.File() == "" {
		return nil, func() {}
	}
	signals = make(chan os.Signal, 1)
	signal.Ignore(syscall.SIGHUP) // it does not end the process any longer
	signal.Notify(signals, syscall.SIGHUP)
	return signals, func() { signal.Stop(signals) }
}

// poll is how often follow checks whether the settings of the database have changed.
const poll = 15 * time.Second

// follow adopts other settings until ctx ends: lists when a signal asks for them, and what
// the database stores when that has changed.
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

// check adopts the settings of the database if they have changed. While it does not answer, or
// the server refuses what it holds, the settings stay as they are.
func (p *program) check(ctx context.Context) {
	p.adopting.Lock()
	defer p.adopting.Unlock()
	next, err := p.institute.settings(ctx)
	if err == nil && !reflect.DeepEqual(next, p.settings) {
		if err = p.adopt(next); err == nil {
			p.log.InfoContext(ctx, "settings of the database changed")
		}
	}
	if ctx.Err() == nil && err != nil {
		p.log.WarnContext(ctx, "read settings of the database", "error", err)
	}
}

// reload reads the configuration again and adopts its lists. Other settings keep their
// values, and the log names those that have changed. If anything in the configuration is
// wrong, nothing changes. Views without what lists need cannot get it later.
func (p *program) reload(ctx context.Context, load func() (configs.Config, error)) error {
	cfg, err := load()
	if err != nil {
		return err
	}
	begins := cfg.Lists.Enabled && !p.institute.given.Lists.Enabled
	stale := slices.DeleteFunc(p.institute.given.Changed(cfg), func(path string) bool {
		return strings.HasPrefix(path, "lists.") && !(begins && path == "lists.enabled")
	})
	cfg.Lists.Enabled = cfg.Lists.Enabled && !begins
	next, err := newLists(cfg.Lists)
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
		p.log.WarnContext(ctx, "changed settings need a restart, their old values stay", "settings", stale)
	}
	if p.runner != nil {
		_ = p.runner.Trigger(materialize.Request{}) // a standby leaves it to the leader, which has its own configuration
	}
	return nil
}

// adopt makes the server answer by new settings.
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
