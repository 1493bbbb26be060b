package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"sync/atomic"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/origin"
	"vitrine/cache/view"
	"vitrine/cache/view/index"
	"vitrine/configs"
	"vitrine/materialize"
	osirisdb "vitrine/materialize/osiris"
	"vitrine/proxy/api"
	proxylists "vitrine/proxy/lists"
	"vitrine/rules/access"
	"vitrine/rules/cite"
	"vitrine/rules/label"
	"vitrine/rules/osiris"
	"vitrine/rules/render"
)

// institute is the configuration and the settings in the database, which may change meanwhile.
type institute struct {
	config   configs.Config
	database *osirisdb.Follower // nil if only the configuration counts
	zone     *time.Location
	lists    atomic.Pointer[lists] // lists of the configuration as last read
	rules    *render.Rules
	cite     *cite.Mapping  // how to read records in public lists
	labels   label.Sets     // built-in names, without those of the rules
	ownNames label.Sets     // names from the site's own file; nil if there is none
	sealed   string         // a random key that no caller can know
	hidden   *access.Fields // nil if there are none, or every caller may see them
}

// newInstitute reads the files named in the configuration.
func newInstitute(cfg configs.Config, store origin.Store, log *slog.Logger) (i *institute, err error) {
	i = &institute{config: cfg, sealed: rand.Text()}
	if cfg.Preset == "osiris" { // the preset for databases that contain their own settings
		i.database = osirisdb.NewFollower(store, log)
	}
	if i.zone, err = time.LoadLocation(cfg.Timezone); err != nil {
		return nil, err
	}
	if !slices.Contains(cfg.Access.Anonymous, string(access.FieldsHidden)) {
		if i.hidden, err = access.NewFields(cfg.Access.HiddenFields); err != nil {
			return nil, fmt.Errorf("access.hidden_fields: %w", err)
		}
	}
	if i.rules, err = loadRules(cfg.Rules); err != nil {
		return nil, err
	}
	if i.cite, err = readFile("rules.cite_file", cfg.Rules.CiteFile, configs.CiteRules, cite.Load); err != nil {
		return nil, err
	}
	if i.labels, err = label.Parse(configs.LabelSets()); err == nil && cfg.Labels.File != "" {
		i.ownNames, err = readFile("labels.file", cfg.Labels.File, configs.LabelSets, label.Parse)
	}
	if err != nil {
		return nil, err
	}
	l, err := newLists(cfg)
	if err != nil {
		return nil, err
	}
	i.lists.Store(l)
	return i, nil
}

// settings are the part of the institute that answers depend on. They are read-only.
type settings struct {
	configs.Config
	labels label.Sets
	member []string       // the roles of every user with a session
	stored configs.Stored // what Config has from the database
}

// settings fails if the database cannot be read: the configuration alone could reveal what is hidden.
func (i *institute) settings(ctx context.Context) (settings, error) {
	s := settings{Config: i.config, labels: i.labels.With(i.rules.Labels())}
	if i.database != nil {
		stored, err := i.database.Answers(ctx)
		if err != nil {
			return settings{}, err
		}
		rules, _ := i.rulesOf(stored) // ignore the faults here: a run of activities reports them
		own := i.storedOf(stored)
		s = settings{Config: i.config.With(own), labels: i.labels.With(rules.Labels()).With(stored.Labels), member: []string{osiris.RoleUser}, stored: own}
	}
	l := i.lists.Load()
	s.Lists, s.Site, s.labels = l.Lists, l.site, s.labels.With(i.ownNames)
	return s, nil
}

// rulesOf returns the rules of rendering, completed by the database unless the site has a rules file of its own.
func (i *institute) rulesOf(stored osiris.Settings) (*render.Rules, []render.Fault) {
	if i.config.Rules.File != "" {
		return i.rules, nil
	}
	return i.rules.WithOsiris(stored.Render)
}

// rendering returns the rules and options for rendering activities.
func (i *institute) rendering(stored osiris.Settings) *osirisdb.Rendering {
	r := &osirisdb.Rendering{Rules: i.rules, Hidden: i.hidden}
	cfg := i.config
	if i.database != nil {
		cfg = i.config.With(i.storedOf(stored))
		r.Rules, r.Faults = i.rulesOf(stored)
	}
	r.Options = render.Options{Language: cfg.Language, Affiliated: cfg.Affiliation.Fields, Zone: i.zone}
	return r
}

// activities returns the job of activities, and a function that returns the rendering by which other jobs render one.
func (i *institute) activities(ctx context.Context) (materialize.Job, func() *osirisdb.Rendering, error) {
	if i.database == nil {
		r := i.rendering(osiris.Settings{})
		return materialize.Activities(r.Complete, r.Fingerprint()), func() *osirisdb.Rendering { return r }, nil
	}
	return i.database.Activities(ctx, i.rendering)
}

// filled returns a job of activities whose records have the fields that OSIRIS derives from others.
func (i *institute) filled(job materialize.Job) materialize.Job {
	if i.database == nil {
		return job
	}
	o := render.Options{Affiliated: i.config.Affiliation.Fields, Zone: i.zone}
	fill := func(record bson.Raw) bson.Raw { return render.Fill(record, o) }
	return materialize.Filled(job, fill, fmt.Sprint(o.Affiliated, o.Zone))
}

// storedOf returns the settings in the database that count where the configuration says nothing.
func (i *institute) storedOf(stored osiris.Settings) configs.Stored {
	roles := make(map[string][]string, len(stored.Roles))
	for role, rights := range stored.Roles {
		roles[role] = named[string](rights)
	}
	return configs.Stored{
		StartYear: stored.StartYear, Language: stored.Language, Portfolio: stored.Portfolio,
		APIKey: secretOf(stored.APIKey, i.sealed), PortfolioKey: secretOf(stored.PortfolioKey, i.sealed),
		Roles: roles, Types: stored.Visible,
	}
}

// secretOf returns a stored key. If it is unreadable, it returns sealed, which no caller can guess.
func secretOf(key osiris.APIKey, sealed string) configs.Secret {
	if key.Sealed {
		return configs.Secret(sealed)
	}
	return configs.Secret(key.Text)
}

// named converts names to another type.
func named[To, From ~string](names []From) []To {
	all := make([]To, len(names))
	for i, name := range names {
		all[i] = To(name)
	}
	return all
}

// loadRules reads the configured rendering rules, or else the built-in ones.
func loadRules(cfg configs.Rules) (*render.Rules, error) {
	return readFile("rules.file", cfg.File, configs.RenderRules, render.Parse)
}

// readFile reads and parses the file that a setting names, or else the built-in one.
func readFile[T any](setting, name string, builtIn func() (string, []byte), parse func(name string, src []byte) (T, error)) (read T, err error) {
	if name == "" {
		return parse(builtIn())
	}
	src, err := os.ReadFile(name)
	if err != nil {
		return read, fmt.Errorf("%s: %w", setting, err)
	}
	return parse(name, src)
}

func viewsOf(cfg configs.Config) []index.Definition { return api.Views(cfg.Catalog.TopicsPath + ".id") }

// allViews declares the views and, if there are public lists, what the lists need.
func (i *institute) allViews() []index.Definition {
	views := viewsOf(i.config)
	if !i.config.Lists.Enabled {
		return views
	}
	views = proxylists.Views(views, i.cite)
	hidden := ""
	if i.hidden != nil {
		hidden = i.hidden.String()
	}
	unsearched := view.Mode(i.config.Views.Mode) == view.Memory || embeddedPath(i.config) != ""
	for n := range views {
		if v := &views[n]; unsearched {
			v.WordRules = "" // no query would read the words
		} else if v.WordRules != "" {
			v.WordRules += " hidden(" + hidden + ")"
		}
	}
	return views
}

// withWords returns a job whose rows have the words by which the store finds them, if it is to search the view.
func (i *institute) withWords(job materialize.Job) materialize.Job {
	for _, v := range i.allViews() {
		if v.Name == job.View && v.WordRules != "" {
			words := v.WordsOf
			if i.hidden != nil { // callers must not find a record by what they may not see
				words = func(row bson.Raw) []string { return v.WordsOf(i.hidden.Strip(row)) }
			}
			return materialize.Searched(job, words, v.WordRules)
		}
	}
	return job
}
