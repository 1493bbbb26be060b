package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"vitrine/configs"
	"vitrine/materialize"
	"vitrine/rules"
	"vitrine/rules/filter"
	"vitrine/rules/mark"
)

// lists are the configured lists, and the rule by which rows are marked for them.
type lists struct {
	configs.Lists
	public *filter.Filter
}

// newLists compiles the rule. Without lists no record is public, so that no row has a mark.
func newLists(cfg configs.Lists) (*lists, error) {
	l := &lists{Lists: cfg}
	text := cfg.Public
	if !cfg.Enabled {
		text = `{"$nor": [{}]}`
	}
	var err error
	if l.public, err = parseListFilter(text); err != nil {
		return nil, fmt.Errorf("lists.public: %w", err)
	}
	return l, nil
}

// parseListFilter reads a filter of the configuration of lists. Rows are made, and answers
// kept, whatever the time is, so it may not depend on that.
func parseListFilter(text string) (*filter.Filter, error) {
	f, err := filter.Parse([]byte(text), filter.Options{HexIDs: true})
	if err == nil && !f.Until().IsZero() {
		return nil, errors.New("may not use $$NOW")
	}
	if wrong := (*rules.Error)(nil); errors.As(err, &wrong) {
		err = &rules.Error{Kind: wrong.Kind, Where: wrong.Where, Reason: wrong.Reason} // the caller names the setting
	}
	return f, err
}

// marked returns a job whose rows have marks, by the lists that are current in each run.
func (i *institute) marked(job materialize.Job) materialize.Job {
	return materialize.Marked(job, func() mark.Options {
		return mark.Options{Public: i.lists.Load().public, Topics: i.given.Catalog.TopicsPath, Now: time.Now().In(i.zone)}
	})
}

// reload reads the configuration again and adopts its lists. Other settings keep their
// values. If anything in the configuration is wrong, nothing changes.
func (p *program) reload(ctx context.Context, load func() (configs.Config, error)) error {
	cfg, err := load()
	if err != nil {
		return err
	}
	next, err := newLists(cfg.Lists)
	if err != nil {
		return err
	}
	before := p.institute.lists.Swap(next)
	current, err := p.institute.settings(ctx)
	if err == nil {
		err = p.adopt(current)
	}
	if err != nil {
		p.institute.lists.Store(before)
		return err
	}
	if p.runner != nil {
		_ = p.runner.Trigger(materialize.Request{}) // a standby leaves it to the leader, which has its own configuration
	}
	return nil
}

// configFile is the configuration of a server that can be read again.
type configFile struct {
	load    func() (configs.Config, error)
	signals chan os.Signal // each asks for it to be read
}

// watchFile makes SIGHUP ask for the configuration to be read again. It returns nil if the
// configuration has no file: then SIGHUP ends the process.
func watchFile(s configs.Sources) (_ *configFile, stop func()) {
	if s.File() == "" {
		return nil, func() {}
	}
	f := &configFile{load: func() (configs.Config, error) { return configs.Load(s) }, signals: make(chan os.Signal, 1)}
	signal.Ignore(syscall.SIGHUP) // it does not end the process any longer
	signal.Notify(f.signals, syscall.SIGHUP)
	return f, func() { signal.Stop(f.signals) }
}

// follow reloads the lists whenever a signal asks for it, until ctx ends.
func (p *program) follow(ctx context.Context, f *configFile) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-f.signals:
			if err := p.reload(ctx, f.load); err != nil {
				p.log.ErrorContext(ctx, "configuration not reloaded, all settings stay", "error", err)
			} else {
				p.log.InfoContext(ctx, "lists reloaded")
			}
		}
	}
}
