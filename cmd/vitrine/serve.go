package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"runtime"
	"runtime/debug"
	"sync"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"vitrine/cache/origin"
	"vitrine/cache/origin/circuit"
	"vitrine/cache/view"
	"vitrine/cache/view/mapped"
	"vitrine/cmd/vitrine/internal/asynclog"
	"vitrine/cmd/vitrine/internal/logging"
	"vitrine/cmd/vitrine/internal/memory"
	"vitrine/cmd/vitrine/internal/systemd"
	"vitrine/cmd/vitrine/internal/unrecorded"
	"vitrine/configs"
	"vitrine/materialize"
	osirisdb "vitrine/materialize/osiris"
	"vitrine/proxy"
	"vitrine/proxy/cockpit"
	"vitrine/proxy/listener"
	"vitrine/proxy/metrics"
)

// serveCommand runs the server. The command reads and checks everything that can be wrong before it opens anything,
// so that a mistake ends it at once and with all reasons. From logging.Detach on, nothing that it prints may wait
// for a reader.
func serveCommand() *cobra.Command {
	var demo bool
	cmd := newCommand("serve")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		cfg, err := loadConfig(cmd, demo)
		if err == nil {
			err = checkServing(cfg)
		}
		if err != nil {
			return err
		}
		log, stderr := logging.Detach(cmd, cfg.Log)
		// asynchronous, because printing the tour must not wait for a reader, either
		cmd.SetOut(asynclog.New(cmd.OutOrStdout(), nil))
		slog.SetDefault(log) // for libraries
		warnOfVisible(cmd, log)
		// Before anything is opened: a store that hangs then must not keep the process alive after a signal.
		defer enforceShutdown(cmd.Context(), cfg.Shutdown, log, func(code int) {
			logging.Flush(cmd.OutOrStdout(), cmd.ErrOrStderr())
			os.Exit(code)
		})()
		sources := sourcesOf(cmd, demo)
		hangups, stop := watchHangups(sources)
		defer stop()
		return serve(cmd.Context(), cfg, demo, log, func(p *program, public, admin string) {
			p.sources, p.hangups = sources, hangups
			p.notifier = systemd.New(os.Getenv, log)
			p.metrics.WatchLog(stderr.Dropped)
			for _, warning := range cfg.Warnings() {
				log.Warn(warning)
			}
			log.Info("listening", "address", public, "admin", admin, "store", p.store.Name())
			if demo {
				p.onSettled = sync.OnceFunc(func() {
					// ignore the error: standard output may be closed
					_ = output.ExecuteTemplate(cmd.OutOrStdout(), "tour",
						map[string]any{"Tour": tour, "Public": public, "Admin": admin})
				})
			}
		})
	}
	configs.AddFlags(cmd.Flags())
	cmd.Flags().BoolVar(&demo, "demo", false, "serve a made-up institute")
	return cmd
}

// serve runs the program until ctx ends, and returns nil after everything was drained, stopped and closed. It opens
// the listeners first, so that a port in use is reported before any work is done. Before it serves, it calls begin
// with their addresses.
//
// The phases: open the listeners and the store; fill a demo; assemble the parts; call begin; run. Requests that
// come between the first and the last wait in the backlog of the listeners. bench calls serve, too, so what only
// the command needs is in begin.
func serve(ctx context.Context, cfg configs.Config, demo bool, log *slog.Logger,
	begin func(p *program, public, admin string)) (err error) {
	public, admin, err := listen(cfg)
	if err != nil {
		return err
	}
	memory.Limit()
	open := openExisting
	if demo {
		open = openDemo
	}
	store, err := open(ctx, cfg)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	// Damage that prevents no read is a warning: the server shows what is sound.
	warnOfDamage(store, log)
	if demo {
		if err := loadDemo(ctx, store); err != nil {
			return err
		}
	}
	p, err := assemble(ctx, cfg, store, log)
	if err != nil {
		return err
	}
	p.control = p.controlServer(store)
	adminAddr := ""
	if admin != nil {
		adminAddr = admin.Addr().String()
	}
	begin(p, public.Addr().String(), adminAddr)
	return p.run(ctx, public, admin)
}

// checkSource returns an origin.ForeignError if the store has views that were made from another database. Otherwise
// the instance would show another institute's rows as soon as an older program wrote a meta without the source's
// name. checkSource ignores other errors of metas: the front end and the jobs report them. Two institutes may share
// a database of views by mistake.
func checkSource(ctx context.Context, store origin.Views) error {
	metas, _ := store.Metas(ctx)
	for _, m := range metas {
		if errors.Is(m.Err, origin.ErrForeign) {
			return m.Err
		}
	}
	return nil
}

// assemble creates the parts, and connects the runner to the views and the metrics. The order follows from what
// needs what: settings; the views, which need the institute; the keeper, which needs the views; the jobs, which
// notify the views and the keeper; the server, which needs all of them. run starts them.
func assemble(ctx context.Context, cfg configs.Config, opened origin.Store,
	log *slog.Logger) (p *program, err error) {
	p = &program{metrics: metrics.New(), journal: &cockpit.Journal{}, onSettled: func() {}}
	p.changing = make(chan struct{}, 1)
	log = slog.New(p.journal.Tee(log.Handler()))
	p.log = log
	release, revision := build()
	p.metrics.Build(release, revision, runtime.Version())
	store := circuit.New(opened, log, p.storeChanged)
	p.store, p.records, p.examine = store, store, checker(opened)
	if p.institute, err = newInstitute(cfg, store, log); err != nil {
		return nil, err
	}
	store.Probe(ctx) // ping now, so that the next steps need not wait for an unavailable store
	if err := checkSource(ctx, store); err != nil {
		return nil, err
	}
	if dir := cfg.Views.Snapshot; dir != "" {
		if db := p.institute.database; db != nil {
			if db.Source, err = osirisdb.Keep(db.Source, dir, store.Name(), log); err != nil {
				return nil, fmt.Errorf("views.snapshot: %w", err)
			}
		}
	}
	if p.settings, err = p.institute.inForce(ctx, p.institute.loaded.Load()); err != nil {
		return nil, err
	}
	// The views get the store with its circuit: while the store is away, their reads fail at once.
	of := view.Options{
		Store: store, Mode: view.Mode(cfg.Views.Mode), RowBudget: int64(cfg.Views.Budget),
		Index: cfg.Materialize.Enabled, // a process that only serves may have a read-only user
		Views: p.institute.allViews(), Poll: cfg.Views.Poll, MaxShrink: cfg.Materialize.MaxShrink,
		Foreign: readThrough(cfg, store), Logger: log, MostIndexes: memory.Share(),
		RowFiles: mapped.In(cmp.Or(cfg.Views.Snapshot, os.TempDir())),
		Files:    view.Files{Dir: cfg.Views.Snapshot, Store: store.Name(), Every: snapshotEvery},
		// otherwise the collector would keep the memory used for loading for a long time
		OnSwap: func(*view.Snapshot) { p.settle() }, OnLoaded: debug.FreeOSMemory,
	}
	if hidden := p.institute.hidden; hidden != nil {
		of.Strip, of.Files.Stripped = hidden.Strip, hidden.String()
	}
	if p.views, err = view.New(of); err != nil {
		return nil, err
	}
	if p.keeper, err = p.newKeeper(cfg, store, log); err != nil {
		return nil, err
	}
	if cfg.Materialize.Enabled {
		// Jobs do not wait in the line in which requests wait for the store.
		patient := circuit.Jobs(store)
		jobs, err := runnerOptions(ctx, cfg, patient, p.institute, log)
		if err != nil {
			return nil, err
		}
		jobs.Before, jobs.OnPublish, jobs.Observer = p.views.WaitLoaded, func(m origin.Meta) {
			p.views.Notify(m.View)
		}, p.observer()
		jobs.CurrentMeta = p.views.CurrentMeta
		if p.keeper != nil { // a nil *Keeper in the interface would not be nil
			jobs.Keeper, jobs.Marks = p.keeper, keptMarks{patient, patient.Responses()}
		}
		if p.runner, err = materialize.New(jobs); err != nil {
			return nil, err
		}
		p.institute.logCollections(ctx, store, jobs.Jobs, log)
	}
	p.citations = newCitations(cfg.Citation.URL)
	// proxyOptions has what a reload may change. The rest, below, stays for the life of the server.
	o, err := p.proxyOptions(p.settings)
	if err != nil {
		return nil, err
	}
	o.Views, o.Store = unrecorded.Views{Set: p.views, Unrecorded: &p.unrecorded}, p.store.State
	o.Admin.Refresh, o.Admin.Reload, o.Admin.Config, o.Admin.Leader = p.refresh, p.reload, p.writeConfig, p.leader
	o.Admin.ListsDiff, o.Admin.Check, o.Admin.Journal = p.listsDiff, p.examine, p.journal
	o.Admin.Survey = func(ctx context.Context) (any, error) {
		return p.institute.survey(ctx, store, func(string) bool { return true })
	}
	p.server, err = proxy.New(o)
	return p, err
}

// run runs the parts until ctx ends or one fails. Views and jobs stop after the front end has drained.
//
// behind does not end with ctx: requests that are still served need the views and the store. A part that fails does
// not end the others; its error is returned in the end.
func (p *program) run(ctx context.Context, public, admin net.Listener) error {
	behind, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	var parts errgroup.Group
	parts.Go(func() error { return p.store.Run(behind) })
	parts.Go(func() error { return p.views.Run(behind) })
	parts.Go(func() error { return p.follow(behind) })
	if p.keeper != nil {
		parts.Go(func() error { p.keeper.Run(behind); return nil })
	}
	if p.control != nil {
		parts.Go(func() error { return p.control.Run(behind) })
	}
	if p.runner != nil {
		parts.Go(func() error { return p.runner.Run(behind) })
	}
	parts.Go(func() error {
		p.notifier.Run(behind, func(ctx context.Context) (systemd.State, error) { return p.probe(ctx, public) })
		return nil
	})
	defer context.AfterFunc(ctx, p.notifier.Stopping)()
	served := p.server.Serve(ctx, public, admin)
	if p.citations != nil {
		p.citations.Close()
	}
	stop()
	return errors.Join(served, parts.Wait())
}

// probe asks this process whether it is ready, by a request to its own public listener, as a balancer does. It
// returns an error only if there is no answer: 503 is one, while the process loads or drains, or has too many
// connections.
func (p *program) probe(ctx context.Context, public net.Listener) (s systemd.State, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet,
		"http://"+reachable(public.Addr().String())+"/readyz", nil)
	if err != nil {
		return s, err
	}
	req.Close = true // a new connection each time, so that the listener has to accept one
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return s, err
	}
	defer res.Body.Close()
	var answer struct{ State, Msg string }
	// ignore the error: a full listener answers without a body
	_ = json.NewDecoder(io.LimitReader(res.Body, 1<<20)).Decode(&answer)
	if s.Ready = res.StatusCode == http.StatusOK; !s.Ready {
		s.Text = cmp.Or(answer.Msg, res.Status)
		return s, nil
	}
	rows := 0
	for _, view := range p.views.Status() {
		rows += view.Rows
	}
	s.Text = fmt.Sprintf("Serving %d rows.", rows)
	if answer.Msg != "" {
		s.Text = fmt.Sprintf("Serving %d rows, %s: %s", rows, cmp.Or(answer.State, "ready"), answer.Msg)
	}
	return s, nil
}

// offline calls do with a program on the configured store whose views are loaded, without listeners, jobs and log.
// A command uses it to answer as a server would, with the same code, from the store as it is. It uses no snapshot
// files, which belong to the instance that serves.
func offline(ctx context.Context, cfg configs.Config, do func(*program) error) error {
	return withStore(ctx, cfg, func(store origin.Store) (err error) {
		cfg.Materialize.Enabled, cfg.Views.Snapshot = false, ""
		p, err := assemble(ctx, cfg, store, slog.New(slog.DiscardHandler))
		if err != nil {
			return err
		}
		defer p.server.Close()
		ctx, stop := context.WithCancel(ctx)
		var parts errgroup.Group
		defer func() { stop(); err = errors.Join(err, parts.Wait()) }()
		parts.Go(func() error { return p.store.Run(ctx) })
		parts.Go(func() error { return p.views.Run(ctx) })
		if p.keeper != nil {
			parts.Go(func() error { p.keeper.Run(ctx); return nil })
		}
		if p.views.WaitLoaded(ctx); !p.views.Ready() {
			return errors.New("a view is not built, or cannot be read: run vitrine materialize")
		}
		return do(p)
	})
}

// listen opens the public listener and, if one is configured, the operator's. It fails if the process may open too
// few files for their connections: a server that refuses almost all connections would still look healthy to its
// operator.
//
// If the second listener cannot be opened, the first is closed. The caller owns both afterwards; the server closes
// them.
func listen(cfg configs.Config) (public, admin net.Listener, err error) {
	if err := listener.CheckFiles(); err != nil {
		return nil, nil, err
	}
	if public, err = net.Listen("tcp", cfg.Listen); err != nil {
		return nil, nil, fmt.Errorf("listen (listen): %w", err)
	}
	if cfg.Admin.Listen == "" {
		return public, nil, nil
	}
	if admin, err = net.Listen("tcp", cfg.Admin.Listen); err != nil {
		return nil, nil, errors.Join(fmt.Errorf("listen (admin.listen): %w", err), public.Close())
	}
	return public, admin, nil
}

// minClosing is the least time for closing clients and stores, even on a busy machine. A fifth of a grace of zero
// would be nothing.
const minClosing = 2 * time.Second

// enforceShutdown ends the process if it still runs some time after ctx has ended: shutdown.delay, shutdown.grace,
// and a fifth of that, at least minClosing, for closing clients and stores. It logs the stacks of goroutines. The
// stores survive this as they survive a crash. The caller calls the returned function when everything has ended in
// time.
//
// A read from a store that hangs in the kernel cannot be interrupted. Without a limit the service manager would
// kill the process after a minute or more and report a failure, so the process ends itself, with code 0.
func enforceShutdown(ctx context.Context, times configs.Shutdown, log *slog.Logger,
	exit func(code int)) (ended func()) {
	done := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		after := times.Delay + times.Grace + max(times.Grace/5, minClosing)
		select {
		case <-done:
		case <-time.After(after):
			stacks := make([]byte, 64<<10)
			log.Error("shutdown deadline exceeded", "after", after, "goroutines",
				string(stacks[:runtime.Stack(stacks, true)]))
			exit(0)
		}
	})
	return func() { stop(); close(done) }
}
