package main

import (
	"context"
	"crypto/rand"
	"log/slog"
	"maps"
	"time"

	"vitrine/cache/origin"
	"vitrine/configs"
	"vitrine/materialize"
	osirisdb "vitrine/materialize/osiris"
	"vitrine/rules/label"
	"vitrine/rules/osiris"
	"vitrine/rules/render"
)

// presetOsiris is the preset of databases that describe themselves.
const presetOsiris = "osiris"

// institute is the configuration and, with the preset osiris, what the database says
// about itself wherever the configuration says nothing. The latter may change while the
// program runs.
type institute struct {
	given    configs.Config
	database *osirisdb.Follower // nil: the configuration says everything
	zone     *time.Location
	rules    *render.Rules
	labels   *label.Sets // built in, those of the rules included
	ownNames *label.Sets // of the site's own file; nil if there is none
	sealed   string      // a key that no caller can know
}

// newInstitute reads the files that the configuration names.
func newInstitute(cfg configs.Config, store origin.Store, log *slog.Logger) (i *institute, err error) {
	i = &institute{given: cfg, sealed: rand.Text()}
	if cfg.Preset == presetOsiris {
		i.database = osirisdb.NewFollower(store, log)
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

// settings are what answers depend on.
type settings struct {
	configs.Config
	labels *label.Sets
	member []string // the roles of every user with a session
}

// settings returns the current ones. Without the database the configuration alone could
// leave open what the institute has closed, so then it is an error.
func (i *institute) settings(ctx context.Context) (settings, error) {
	if i.database == nil {
		return settings{Config: i.given, labels: i.labels.With(i.ownNames)}, nil
	}
	said, err := i.database.Answers(ctx)
	if err != nil {
		return settings{}, err
	}
	rules, _ := i.rulesOf(said) // a run of activities reports the faults
	return settings{
		Config: completed(i.given, said, i.sealed),
		labels: i.labels.With(rules.Labels()).With(said.Labels).With(i.ownNames),
		member: []string{osiris.Everybody},
	}, nil
}

// rulesOf returns the rules of rendering as the database completes them. A rules file of
// the site's own counts alone.
func (i *institute) rulesOf(said osiris.Settings) (*render.Rules, []render.Fault) {
	if i.given.Rules.File != "" {
		return i.rules, nil
	}
	return i.rules.WithOsiris(said.Render)
}

// rendering returns what activities are rendered by, completed by the database.
func (i *institute) rendering(said osiris.Settings) *osirisdb.Rendering {
	r := &osirisdb.Rendering{Rules: i.rules}
	cfg := i.given
	if i.database != nil {
		cfg = completed(cfg, said, i.sealed)
		r.Rules, r.Faults = i.rulesOf(said)
	}
	r.Options = render.Options{Language: cfg.Language, Affiliated: cfg.Affiliation.Fields, Zone: i.zone}
	return r
}

// activities makes the job of activities, and the function by which other jobs render one.
func (i *institute) activities(ctx context.Context) (materialize.Job, materialize.RenderFunc, error) {
	if i.database == nil {
		r := i.rendering(osiris.Settings{})
		return materialize.Activities(r.Complete, r.Fingerprint()), r.Complete, nil
	}
	return i.database.Activities(ctx, i.rendering)
}

// filled makes a job of activities see the fields that OSIRIS derives from others.
func (i *institute) filled(job materialize.Job) materialize.Job {
	if i.database == nil {
		return job
	}
	return osirisdb.Filled(job, render.Options{Affiliated: i.given.Affiliation.Fields, Zone: i.zone})
}

// completed returns a configuration with what the database says wherever the
// configuration says nothing. Of rights and visibility that holds role by role and type
// by type. sealed replaces keys that cannot be read.
func completed(cfg configs.Config, said osiris.Settings, sealed string) configs.Config {
	if said.StartYear != 0 && !cfg.Given("start_year") {
		cfg.StartYear = said.StartYear
	}
	if said.Language != "" && !cfg.Given("language") {
		cfg.Language = said.Language
	}
	if said.Portfolio != nil && !cfg.Given("portfolio.enabled") {
		cfg.Portfolio.Enabled = *said.Portfolio
	}
	if !cfg.Given("auth.api_key") {
		cfg.Auth.APIKey = secretOf(said.APIKey, sealed)
	}
	if !cfg.Given("auth.portfolio_key") {
		cfg.Auth.PortfolioKey = secretOf(said.PortfolioKey, sealed)
	}
	cfg.Access.Roles = maps.Clone(cfg.Access.Roles)
	for role, rights := range said.Roles {
		if !cfg.Given("access.roles." + role) {
			cfg.Access.Roles[role] = named[string](rights)
		}
	}
	cfg.Access.Types = maps.Clone(cfg.Access.Types)
	for kind, roles := range said.Visible {
		if !cfg.Given("access.types." + kind) {
			cfg.Access.Types[kind] = roles
		}
	}
	return cfg
}

func secretOf(key osiris.Key, sealed string) configs.Secret {
	if key.Sealed {
		return configs.Secret(sealed)
	}
	return configs.Secret(key.Text)
}

// named returns names as those of another type.
func named[To, From ~string](names []From) []To {
	all := make([]To, len(names))
	for i, name := range names {
		all[i] = To(name)
	}
	return all
}
