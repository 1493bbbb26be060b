package osiris

import (
	"context"
	"fmt"
	"iter"
	"log/slog"
	"reflect"
	"slices"
	"sync"
	"sync/atomic"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/materialize"
	"vitrine/rules/access"
	"vitrine/rules/osiris"
	"vitrine/rules/render"
)

// Follower reads the settings of an OSIRIS database, and logs each warning once. It is safe for concurrent use.
type Follower struct {
	// Source is the database, or a Keeper that reads it. It may be replaced before the first call of a method.
	Source Source
	log    *slog.Logger
	latest atomic.Pointer[Rendering] // rendering of the last run of activities; nil before the first
	had    atomic.Bool               // Answers has found settings before

	mu       sync.Mutex                       // guards the fields below
	portal   osiris.Portal                    // as last known
	reported map[string]map[render.Fault]bool // faults that were logged, by the use of the settings
}

// NewFollower returns a follower of a database.
func NewFollower(source Source, log *slog.Logger) *Follower {
	return &Follower{Source: source, log: log, reported: map[string]map[render.Fault]bool{}}
}

// Answers reads the settings that answers depend on. It fails if the database has lost them: without keys and rights
// all records would be public.
func (f *Follower) Answers(ctx context.Context) (osiris.Settings, error) {
	s, err := Read(ctx, f.Source, osiris.ForAnswers()...)
	settings := s
	settings.Departments = nil // a database that has units alone has lost its settings
	if none := reflect.DeepEqual(settings, osiris.From(nil)); err == nil && !none {
		f.had.Store(true)
	} else if err == nil && f.had.Load() {
		err = errLost
	}
	if err == nil {
		s.Portal = f.settle("answers", s)
	}
	return s, err
}

// Portal returns what the portal shows by the documents of osiris.ForPortal, for marks.
func (f *Follower) Portal(docs map[string][]bson.Raw) osiris.Portal {
	// A job has read more collections than the portal's: the others must not add their faults to the use "marks".
	own := map[string][]bson.Raw{}
	for _, name := range osiris.ForPortal() {
		own[name] = docs[name]
	}
	s := osiris.From(own)
	if len(s.Portal.Subtypes) == 0 {
		none := render.Fault{From: osiris.Types,
			Reason: "the portal shows none of the subtypes: no activity is public"}
		s.Warnings = append(s.Warnings, none)
	}
	return f.settle("marks", s)
}

// settle reports warnings, and returns what the portal shows, with the last known settings in place of those that are
// gone.
func (f *Follower) settle(use string, s osiris.Settings) osiris.Portal {
	f.mu.Lock()
	portal, gone := s.Portal.Keeping(f.portal)
	f.portal = portal
	f.mu.Unlock()
	for _, setting := range gone {
		kept := render.Fault{From: setting, Reason: "it is gone: its last value counts until a restart"}
		s.Warnings = append(s.Warnings, kept)
	}
	f.report(use, s.Warnings)
	return portal
}

// Rendering has the rules and options for rendering activities.
type Rendering struct {
	Rules   *render.Rules
	Options render.Options
	Faults  []render.Fault // faults in the settings that completed the rules
	Hidden  *access.Fields // fields that rules cannot see, because all callers see rendered documents
}

// Complete is the materialize.RenderFunc of a rendering.
func (r *Rendering) Complete(record bson.Raw) (bson.Raw, error) {
	return r.Rules.Complete(r.Hidden.Strip(record), r.Options)
}

// Fingerprint covers everything that the result of Complete depends on.
func (r *Rendering) Fingerprint() string {
	return fmt.Sprint(r.Rules.Fingerprint(), " ", r.Options.Language, " ", r.Options.Affiliated, " ", r.Options.Zone,
		" ", r.Hidden)
}

// Activities returns the job of activities rendered by the database's settings, and a function that returns the
// rendering of that job's last run, with which other jobs render activities.
func (f *Follower) Activities(ctx context.Context,
	by func(osiris.Settings) *Rendering) (materialize.Job, func() *Rendering, error) {
	first, err := Read(ctx, f.Source, osiris.ForRendering()...)
	if err != nil {
		return materialize.Job{}, nil, err
	}
	rendering := func(s osiris.Settings) *Rendering {
		r := by(s)
		f.report("rendering", append(s.Warnings, r.Faults...))
		f.latest.Store(r)
		return r
	}
	// Other jobs may ask for the rendering before the first run of activities.
	rendering(first)
	job := materialize.ActivitiesBy(osiris.ForRendering(),
		func(deps materialize.Deps) (materialize.RenderFunc, string) {
			r := rendering(osiris.From(deps))
			return r.Complete, r.Fingerprint()
		})
	job.Settings = osiris.Administrative()
	return job, f.latest.Load, nil
}

// report logs each warning once, and again if it returns after it was gone. Answers, marks and rendering read the
// same collections at different times: a warning that any of them has reported is not new, and it is gone once none
// reports it any more.
func (f *Follower) report(use string, now []render.Fault) {
	f.mu.Lock()
	defer f.mu.Unlock()
	fresh := make(map[render.Fault]bool, len(now))
	for _, warning := range now {
		known := fresh[warning]
		for _, reported := range f.reported {
			known = known || reported[warning]
		}
		if fresh[warning] = true; !known {
			collection, id := warning.Record()
			f.log.Warn("setting of the database ignored", "collection", collection, "id", id, "reason",
				warning.Reason)
		}
	}
	f.reported[use] = fresh
}

// Source reads collections; origin.Store is one.
type Source interface {
	Scan(ctx context.Context, collection string) iter.Seq2[bson.Raw, error]
}

// Read reads each of the collections once. It returns only errors of the source.
func Read(ctx context.Context, src Source, collections ...string) (osiris.Settings, error) {
	docs := make(map[string][]bson.Raw)
	for _, name := range slices.Compact(slices.Sorted(slices.Values(collections))) {
		for doc, err := range src.Scan(ctx, name) {
			if err != nil {
				return osiris.Settings{}, fmt.Errorf("read settings of the OSIRIS database: scan %s: %w", name, err)
			}
			docs[name] = append(docs[name], doc)
		}
	}
	return osiris.From(docs), nil
}
