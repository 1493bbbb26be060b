package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync/atomic"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/origin"
	"vitrine/cache/view"
	"vitrine/cache/view/index"
	"vitrine/configs"
	"vitrine/configs/regular"
	"vitrine/materialize"
	osirisdb "vitrine/materialize/osiris"
	"vitrine/proxy/api"
	proxylists "vitrine/proxy/lists"
	"vitrine/rules/access"
	"vitrine/rules/cite"
	"vitrine/rules/csl"
	"vitrine/rules/label"
	"vitrine/rules/mark"
	"vitrine/rules/osiris"
	"vitrine/rules/render"
	"vitrine/rules/styles"
)

// institute is the configuration and, with the preset osiris, the settings in the database, which may change
// meanwhile. Everything but loaded is fixed once assemble has made the parts, so methods need no lock. A reload
// stores other *settings, and a goroutine that has loaded the old ones may go on with them.
type institute struct {
	loaded   atomic.Pointer[settings]
	database *osirisdb.Follower // nil if only the configuration counts
	zone     *time.Location
	cite     *cite.Mapping  // how to read records in public lists
	labels   label.Sets     // built-in names, without those of the rules
	sealed   string         // a random key that no caller can know
	hidden   *access.Fields // nil if there are none, or every caller may see them
	listed   bool           // views have what lists need
}

// settings are the configuration with what depends on it in files and, with the preset osiris, in the database.
// They are read-only. institute.loaded has them without the database, program.settings has them as they are in
// force.
type settings struct {
	configs.Config
	public    mark.Rule           // the rule by which rows are marked for lists
	labels    label.Sets          // built-in names, those of the rules, of the database and of the site
	ownNames  label.Sets          // names from the site's own file; nil if there is none
	rendering *osirisdb.Rendering // by the configuration alone; see rulesOf
	member    []string            // the roles of every user with a session
	stored    configs.Stored      // what Config has from the database
	portal    osiris.Portal       // what the database's portal shows
	styles    *styles.Set         // citation styles of lists
	// departments are the units that /api/html names; nil if it names all
	departments []string
}

// newInstitute reads the files named in the configuration. With an error, i may be incomplete and must not be used.
// store may be nil for a check: only the preset osiris reads it, and not yet here.
func newInstitute(cfg configs.Config, store origin.Store, log *slog.Logger) (i *institute, err error) {
	i = &institute{sealed: rand.Text(), listed: cfg.Lists.Enabled}
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
	if i.labels, err = label.Parse(configs.LabelSets()); err != nil {
		return nil, err
	}
	// Mistakes in the rules of citing and in the other files are reported together.
	var wrong error
	i.cite, wrong = i.loadCite(cfg.Rules)
	if wrong != nil {
		i.cite = &cite.Mapping{} // only to report mistakes in other files
	}
	l, err := i.load(cfg)
	i.loaded.Store(l)
	return i, errors.Join(wrong, err)
}

// load reads the files that a configuration names and that may change while the program runs. Its error has every
// mistake in them.
//
// The readers do not depend on each other, so one mistake does not hide the next. The labels of the rules lie
// over the built-in ones, and the site's own over both. The names of the database lie between those two; inForce
// lays them there.
func (i *institute) load(cfg configs.Config) (*settings, error) {
	l := &settings{Config: cfg}
	var failed [4]error
	l.public.Public, failed[0] = publicRule(cfg.Lists)
	l.styles, failed[3] = i.loadStyles(cfg.Lists)
	var rules *render.Rules
	if rules, failed[1] = loadRules(cfg.Rules); failed[1] == nil {
		l.labels = i.labels.With(rules.Labels())
	}
	if cfg.Labels.File != "" {
		l.ownNames, failed[2] = readFile("labels.file", cfg.Labels.File, configs.LabelSets, label.Parse)
		l.labels = l.labels.With(l.ownNames)
	}
	l.rendering = &osirisdb.Rendering{
		Rules: rules, Hidden: i.hidden,
		Options: render.Options{Language: cfg.Language, Affiliated: cfg.Affiliation.Fields, Zone: i.zone},
	}
	return l, errors.Join(failed[:]...)
}

// inForce returns what is in force under settings from files. It fails if the database cannot be read: the
// configuration alone could reveal what is hidden.
//
// l is not changed: a later call with the same l and other settings in the database starts from the files again.
func (i *institute) inForce(ctx context.Context, l *settings) (settings, error) {
	s := *l
	if i.database == nil {
		return s, nil
	}
	stored, err := i.database.Answers(ctx)
	if err != nil {
		return settings{}, err
	}
	rules, _ := l.rulesOf(stored) // ignore the faults here: a run of activities reports them
	s.stored, s.portal, s.member = i.storedOf(stored), stored.Portal, []string{osiris.RoleUser}
	s.departments = stored.Departments
	s.Config = l.With(s.stored)
	s.public.Portal = s.shownBy(l.Lists)
	s.labels = i.labels.With(rules.Labels()).With(stored.Labels).With(l.ownNames)
	return s, nil
}

// rulesOf returns the rules of rendering, completed by the database unless the site has a rules file of its own.
func (s *settings) rulesOf(stored osiris.Settings) (*render.Rules, []render.Fault) {
	if s.Rules.File != "" {
		return s.rendering.Rules, nil
	}
	return s.rendering.Rules.WithOsiris(stored.Render)
}

// activities returns the job of activities, and a function that returns the rendering by which other jobs render
// one.
//
// Each run calls for the rendering again, so that it renders by the settings of its own time. With a database, the
// job reads the collections of settings together with the records, and a change of them renders every record anew,
// because the fingerprint of the rendering changes.
func (i *institute) activities(ctx context.Context) (materialize.Job, func() *osirisdb.Rendering, error) {
	if i.database != nil {
		return i.database.Activities(ctx, func(stored osiris.Settings) *osirisdb.Rendering {
			l := i.loaded.Load()
			r := *l.rendering
			r.Rules, r.Faults = l.rulesOf(stored)
			r.Options.Language = l.With(i.storedOf(stored)).Language
			return &r
		})
	}
	latest := func() *osirisdb.Rendering { return i.loaded.Load().rendering }
	job := materialize.ActivitiesBy(nil, func(materialize.Deps) (materialize.RenderFunc, string) {
		r := latest()
		return r.Complete, r.Fingerprint()
	})
	return job, latest, nil
}

// filled returns a job of activities whose records have the fields that OSIRIS derives from others. The fields are
// filled by the settings of the start.
func (i *institute) filled(job materialize.Job) materialize.Job {
	if i.database == nil {
		return job
	}
	o := render.Options{Affiliated: i.loaded.Load().Affiliation.Fields, Zone: i.zone}
	fill := func(record bson.Raw) bson.Raw { return render.Fill(record, o) }
	return materialize.Filled(job, fill, fmt.Sprint(o.Affiliated, o.Zone))
}

// storedOf returns the settings in the database that count where the configuration says nothing.
// configs.Config.With decides by setting which of them counts.
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

// secretOf returns a stored key. If it is unreadable, it returns sealed, which no caller can guess. An empty key
// would mean that none is required, and would open what the institute had closed.
func secretOf(key osiris.APIKey, sealed string) configs.Secret {
	if key.Sealed {
		return configs.Secret(sealed)
	}
	return configs.Secret(key.Text)
}

// named converts names to another type. Packages of rules have types of their own for rights and roles; settings
// are plain texts.
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

// loadCite reads the configured rules of citations, or else the built-in ones. The rules read dates in the
// institute's zone and do not read hidden fields, both of which need a restart.
func (i *institute) loadCite(cfg configs.Rules) (*cite.Mapping, error) {
	m, err := readFile("rules.cite_file", cfg.CiteFile, configs.CiteRules, cite.Load)
	if err != nil {
		return nil, err
	}
	return m.In(i.zone).Hiding(i.hidden.String()), nil
}

// loadStyles reads the configured citation styles, and adds the built-in ones. It reads the files in the order of
// their names, so that the same mistakes are always reported in the same order.
func (i *institute) loadStyles(cfg configs.Lists) (*styles.Set, error) {
	all, err := styles.Builtin()
	if err != nil {
		return nil, err
	}
	locales, mistakes := map[string]styles.Source[*csl.Locale]{}, []error(nil)
	for _, tag := range slices.Sorted(maps.Keys(cfg.Locales)) {
		one, err := readFile("lists.locales."+tag, cfg.Locales[tag], nil, styles.ParseLocale)
		locales[tag], mistakes = one, append(mistakes, err)
	}
	for _, name := range slices.Sorted(maps.Keys(cfg.Styles)) {
		one, err := readFile("lists.styles."+name, cfg.Styles[name], nil, styles.ParseStyle)
		all[name], mistakes = one, append(mistakes, err)
	}
	if err := errors.Join(mistakes...); err != nil {
		return nil, err
	}
	set, err := styles.New(all, locales, i.cite.Fingerprint)
	if wrong, ok := errors.AsType[*styles.LocaleError](err); ok {
		return nil, configs.Wrong("lists.styles."+wrong.Style, "%s: %v", cfg.Styles[wrong.Style], wrong)
	}
	return set, err
}

// readFile reads and parses the file that a setting names, or else the built-in one if there is one. The parser
// gets the name for its errors, which then have the line. The setting is in the error, so that Config.Located can
// add where it was given.
func readFile[T any](setting, name string, builtIn func() (string, []byte),
	parse func(name string, src []byte) (T, error)) (read T, err error) {
	switch {
	case name == "" && builtIn == nil:
		return read, configs.Wrong(setting, "names no file")
	case name == "":
		return parse(builtIn())
	}
	src, err := regular.Read(name, regular.Most)
	if err != nil {
		return read, configs.Wrong(setting, "%s: %v", name, err)
	}
	if read, err = parse(name, src); err != nil {
		return read, configs.Wrong(setting, "%v", err)
	}
	return read, nil
}

// viewsOf declares the views without what lists need. The API filters by the ids of topics, so it needs to know
// where they are.
func viewsOf(cfg configs.Config) []index.Definition { return api.Views(cfg.Catalog.TopicsPath + ".id") }

// allViews declares the views with their words and, if there are public lists, what the lists need.
//
// i.listed and not the setting counts: a reload may turn lists off, and the views keep what they have until a
// restart.
func (i *institute) allViews() []index.Definition {
	cfg := i.loaded.Load().Config
	views := viewsOf(cfg)
	if !i.listed {
		return proxylists.Words(views, i.cite)
	}
	views = proxylists.Views(views, i.cite)
	unsearched := view.Mode(cfg.Views.Mode) == view.Memory || embeddedPath(cfg) != ""
	for n := range views {
		if unsearched {
			views[n].WordRules = "" // no query would read the words
		}
	}
	return views
}

// withWords returns a job whose rows have the words by which the store finds them, if it is to search the view.
// Only views in a MongoDB that front ends may read from there are searched by the store; memory has an index of
// words of its own.
func (i *institute) withWords(job materialize.Job) materialize.Job {
	for _, v := range i.allViews() {
		if v.Name == job.View && v.WordRules != "" {
			// callers must not find a record by what they may not see
			words := func(row bson.Raw) []string { return v.WordsOf(i.hidden.Strip(row)) }
			return materialize.Searched(job, words, v.WordRules)
		}
	}
	return job
}
