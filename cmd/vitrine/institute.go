package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"log/slog"
	"reflect"
	"sync/atomic"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/origin"
	"vitrine/configs"
	"vitrine/materialize"
	osirisdb "vitrine/materialize/osiris"
	"vitrine/rules/label"
	"vitrine/rules/osiris"
	"vitrine/rules/render"
)

// institute is what the program knows of the institute it serves: the configuration, and
// with the preset osiris what the database says about itself wherever the configuration
// says nothing. The latter may change while the program runs.
type institute struct {
	given    configs.Config
	source   osirisdb.Source // nil: the configuration says everything
	log      *slog.Logger
	zone     *time.Location
	rules    *render.Rules
	labels   *label.Sets // built in, those of the rules included
	ownNames *label.Sets // of the site's own file; nil if there is none
	sealed   string      // stands for keys that nobody may know

	latest atomic.Pointer[rendering] // what activities were last rendered by; nil: not yet
	warned warnings
}

// newInstitute reads the files that the configuration names.
func newInstitute(cfg configs.Config, store origin.Store, log *slog.Logger) (i *institute, err error) {
	i = &institute{given: cfg, log: log, sealed: rand.Text()}
	if cfg.Preset == presetOsiris {
		i.source = store
	}
	if i.zone, err = cfg.Location(); err != nil {
		return nil, err
	}
	if i.rules, err = loadRules(cfg.Rules); err != nil {
		return nil, err
	}
	if i.labels, i.ownNames, err = loadLabels(cfg.Labels); err != nil {
		return nil, err
	}
	i.labels = i.labels.With(i.rules.Labels())
	return i, nil
}

// keep lets what the database says of itself be remembered in a folder.
func (i *institute) keep(dir, store string) (err error) {
	if i.source != nil {
		i.source, err = osirisdb.Keep(i.source, dir, store, i.log)
	}
	return err
}

// settings are what answers depend on.
type settings struct {
	configs.Config
	labels *label.Sets
	member []string // the roles of everybody with a session
}

// settings returns what holds now. Without the database the configuration alone would
// leave doors open that the institute has closed, so then there are none.
func (i *institute) settings(ctx context.Context) (settings, error) {
	if i.source == nil {
		return settings{Config: i.given, labels: i.labels.With(i.ownNames)}, nil
	}
	said, err := osirisdb.Read(ctx, i.source, osiris.ForAnswers()...)
	if err != nil {
		return settings{}, err
	}
	i.warned.tell(i.log, "answers", said.Warnings)
	rules, _ := i.rulesOf(said) // a run of activities reports the faults
	return settings{
		Config: completed(i.given, said, i.sealed),
		labels: i.labels.With(rules.Labels()).With(said.Labels).With(i.ownNames),
		member: []string{osiris.Everybody},
	}, nil
}

// settingsEvery is how often a running program looks whether settings have changed.
const settingsEvery = 15 * time.Second

// follow hands on settings that differ from now, and goes on with those, until ctx ends.
// While the database does not answer, or has something that cannot be used, what was
// handed on last stays.
func (i *institute) follow(ctx context.Context, now settings, adopt func(settings) error) error {
	if i.source == nil {
		return nil
	}
	tick := time.NewTicker(settingsEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
			now = i.check(ctx, now, adopt)
		}
	}
}

// check hands on settings if they differ from now, and returns those that hold.
func (i *institute) check(ctx context.Context, now settings, adopt func(settings) error) settings {
	next, err := i.settings(ctx)
	if err == nil && !reflect.DeepEqual(next, now) {
		if err = adopt(next); err == nil {
			i.log.InfoContext(ctx, "settings of the database have changed")
		}
	}
	if ctx.Err() == nil && err != nil {
		i.log.WarnContext(ctx, "settings of the database", "error", err)
	}
	if err != nil {
		return now
	}
	return next
}

// rendering is what activities are rendered by.
type rendering struct {
	rules   *render.Rules
	options render.Options
}

// rulesOf returns the rules of rendering as the database completes them. A rules file of
// the site's own has the say about everything in it.
func (i *institute) rulesOf(said osiris.Settings) (*render.Rules, []render.Fault) {
	if i.given.Rules.File != "" {
		return i.rules, nil
	}
	return i.rules.WithOsiris(said.Render)
}

// rendering returns what the configuration says about it, completed by the database.
func (i *institute) rendering(said osiris.Settings) *rendering {
	cfg, rules := i.given, i.rules
	if i.source != nil {
		cfg = completed(cfg, said, i.sealed)
		var faults []render.Fault
		rules, faults = i.rulesOf(said)
		i.warned.tell(i.log, "rendering", append(said.Warnings, osiris.Faults(faults)...))
	}
	return &rendering{rules, render.Options{Language: cfg.Language, Affiliated: cfg.Affiliation.Fields, Zone: i.zone}}
}

// fingerprint stands for everything that a rendering's outcome depends on.
func (r *rendering) fingerprint() string {
	return fmt.Sprint(r.rules.Fingerprint(), " ", r.options.Language, " ", r.options.Affiliated, " ", r.options.Zone)
}

// complete is the materialize.RenderFunc of a rendering.
func (r *rendering) complete(record bson.Raw) (bson.Raw, error) {
	return r.rules.Complete(record, r.options)
}

// activities makes the job of activities, and what other jobs render one with: the
// same, as of its last run.
func (i *institute) activities(ctx context.Context) (materialize.Job, materialize.RenderFunc, error) {
	if i.source == nil {
		r := i.rendering(osiris.Settings{})
		return materialize.Activities(r.complete, r.fingerprint()), r.complete, nil
	}
	said, err := osirisdb.Read(ctx, i.source, osiris.ForRendering()...)
	if err != nil {
		return materialize.Job{}, nil, err
	}
	i.latest.Store(i.rendering(said))
	by := func(deps materialize.Deps) (materialize.RenderFunc, string) {
		r := i.rendering(osiris.From(deps))
		i.latest.Store(r)
		return r.complete, r.fingerprint()
	}
	complete := func(record bson.Raw) (bson.Raw, error) { return i.latest.Load().complete(record) }
	return materialize.ActivitiesBy(osiris.ForRendering(), by), complete, nil
}

// filled makes a job of activities see what OSIRIS stores in those that it renders.
func (i *institute) filled(job materialize.Job) materialize.Job {
	if i.source == nil {
		return job
	}
	o := render.Options{Affiliated: i.given.Affiliation.Fields, Zone: i.zone}
	fill := func(record bson.Raw) bson.Raw { return render.Fill(record, o) }
	return materialize.Filled(job, fill, fmt.Sprint(o.Affiliated, o.Zone))
}
