package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/citation"
	"vitrine/cache/origin"
	"vitrine/cache/origin/bolt"
	"vitrine/cache/origin/dump"
	"vitrine/cache/origin/mongo"
	"vitrine/cache/origin/open"
	"vitrine/cache/view"
	"vitrine/configs"
	"vitrine/configs/regular"
	"vitrine/materialize"
	"vitrine/rules/spectrum"
)

// openStore opens the configured store. It creates an embedded store that does not exist, which only import, the demo
// and bench may do.
func openStore(ctx context.Context, cfg configs.Config) (origin.Store, error) {
	uri := cfg.Store.Reveal()
	if path := embeddedPath(cfg); path != "" {
		uri = "bolt://" + path // the full path, because a relative path means another file in another folder
	}
	return open.Store(ctx, uri, bolt.Options{},
		mongo.Options{ViewsDatabase: cfg.Views.Database, BatchSize: cfg.Mongo.Batch})
}

// openExisting is openStore for all other commands: for a mistyped path it returns an error and creates no file.
// MongoDB creates a database only with its first record, so a mistyped name there shows an empty one instead.
func openExisting(ctx context.Context, cfg configs.Config) (origin.Store, error) {
	if path := embeddedPath(cfg); path != "" {
		info, err := os.Stat(path)
		if err == nil && info.Size() == 0 {
			err = errors.New("the file is empty")
		}
		if err != nil {
			return nil, fmt.Errorf(
				"no store at bolt://%s: %w; vitrine import creates one, vitrine serve --demo has its own", path, err)
		}
	}
	return openStore(ctx, cfg)
}

// withStore calls do with the configured store, which must exist, and closes it afterwards. It returns the errors
// of both.
func withStore(ctx context.Context, cfg configs.Config, do func(origin.Store) error) error {
	store, err := openExisting(ctx, cfg)
	if err != nil {
		return err
	}
	return errors.Join(do(store), store.Close())
}

// embeddedPath returns the absolute path of the embedded store's file, or "" for other stores. It also tells the
// two kinds of stores apart: an empty path means MongoDB.
func embeddedPath(cfg configs.Config) string {
	path, ok := strings.CutPrefix(cfg.Store.Reveal(), "bolt://")
	if !ok || path == "" {
		return ""
	}
	if full, err := filepath.Abs(path); err == nil {
		return full
	}
	return path // the working directory does not exist any more; opening the path reports that
}

// readThrough evaluates filters that memory does not. It is nil for the embedded store, which evaluates no more.
// With nil a view refuses such a filter with status 400.
func readThrough(cfg configs.Config, store origin.Source) view.Foreign {
	if embeddedPath(cfg) != "" {
		return nil
	}
	return view.ReadThrough(store)
}

// Tests set these; 0 means the defaults of the packages.
var (
	publishBatch  int           // rows written at a time
	snapshotEvery time.Duration // least time between two writes of a snapshot file
)

// embeddedHolder is the holder of the lease and of claims in an embedded store. The name is fixed: only one process
// can open the store, and with the same name it takes over from a killed process at once.
const embeddedHolder = "embedded"

// runnerOptions returns the options of the runner by settings; assemble and the command materialize add what only
// they have. The embedded store has no change streams, so its runner compares versions of what a run would read.
// MongoDB announces changes where it has change streams; materialize.read_all_every is for one without them, whose
// versions the runner compares, too.
func runnerOptions(ctx context.Context, cfg configs.Config, store origin.Store, i *institute,
	log *slog.Logger) (materialize.Options, error) {
	jobs, err := newJobs(ctx, cfg, i)
	o := materialize.Options{
		Materialize: cfg.Materialize, Store: store, Jobs: jobs, Location: i.zone, Batch: publishBatch, Log: log,
	}
	if embeddedPath(cfg) != "" {
		o.Holder = embeddedHolder
		o.Versioner = store
	} else {
		o.Watcher = store
	}
	if o.ReadAllEvery > 0 {
		o.Versioner = store
	}
	return o, err
}

// newJobs returns the jobs of all views, in the order in which they run. Each job is wrapped from the inside out:
// rendered, filled with what OSIRIS derives, marked for lists, given words.
func newJobs(ctx context.Context, cfg configs.Config, i *institute) ([]materialize.Job, error) {
	activities, rendering, err := i.activities(ctx)
	if err != nil {
		return nil, err
	}
	topics := materialize.Spectrum(materialize.SpectrumOptions{
		Options: spectrum.Options{
			Topics: cfg.Catalog.TopicsPath, CatalogURL: cfg.Catalog.URL,
			Strip:  i.hidden.Strip, // because all callers see summaries
			Render: func(record bson.Raw) (bson.Raw, error) { return rendering().Complete(record) },
		},
		Catalogue: catalogueFile(cfg.Catalog.File), Fingerprint: func() string { return rendering().Fingerprint() },
	})
	jobs := materialize.Jobs(i.filled(i.marked(activities)), i.filled(topics), cfg.Views.Optional)
	for n, job := range jobs {
		// The job of activities is already marked.
		if job.View != activities.View {
			job = i.marked(job)
		}
		jobs[n] = i.withWords(job)
	}
	return jobs, nil
}

// catalogueFile returns a function that reads the topic catalogue from a JSON file, which has an array or one
// document per line. It returns nil if no file is configured. A file that is missing is an error, not an empty
// catalogue: the run fails, and front ends keep what they show.
func catalogueFile(name string) func(context.Context) ([]bson.Raw, error) {
	if name == "" {
		return nil
	}
	return func(ctx context.Context) (docs []bson.Raw, err error) {
		if err := regular.Check(name, configs.MostCatalogue); err != nil {
			return nil, fmt.Errorf("catalog.file: %s: %w", name, err)
		}
		d, err := dump.Open(ctx, []string{name}, dump.Options{})
		if err != nil {
			return nil, fmt.Errorf("catalog.file: %w", err)
		}
		size := 0
		defer func() { err = errors.Join(err, d.Close()) }()
		for _, source := range d.Sources {
			for doc, err := range source.Documents(ctx, func(int) {}) {
				if err != nil {
					return nil, fmt.Errorf("catalog.file: %w", err)
				}
				if size += len(doc.Raw); size > configs.MostCatalogue { // a compressed file may hold more than it has
					return nil, fmt.Errorf("catalog.file: %s has more than %v of topics", name,
						configs.Size(configs.MostCatalogue))
				}
				docs = append(docs, doc.Raw)
			}
		}
		return docs, nil
	}
}

// newCitations returns the client of the external citation index, or nil if none is configured. The times keep the
// load on the index low: a citation count of a day ago is good enough, and one of a month ago is better than none
// while the index fails.
func newCitations(origin string) *citation.Client {
	if origin == "" {
		return nil
	}
	return citation.New(citation.Options{
		Origin: origin, Lifetime: 24 * time.Hour, StaleFor: 30 * 24 * time.Hour, MinInterval: 2 * time.Second,
		Timeout: 15 * time.Second,
	})
}

// warnOfDamage logs damage to an embedded store beyond single records. Only the embedded store has the method. A
// server starts all the same, since what is readable can be served.
func warnOfDamage(store origin.Store, log *slog.Logger) {
	if s, ok := store.(interface{ Damage() []string }); ok {
		for _, note := range s.Damage() {
			log.Warn("the store is damaged: vitrine check says what to do", "store", store.Name(), "damage", note)
		}
	}
}
