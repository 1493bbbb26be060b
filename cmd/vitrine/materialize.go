package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"os"
	"slices"

	"github.com/schollz/progressbar/v3"
	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"
	"golang.org/x/term"

	"vitrine/cache/kept"
	"vitrine/cache/origin"
	"vitrine/cache/view"
	"vitrine/cmd/vitrine/internal/logging"
	"vitrine/configs"
	"vitrine/materialize"
)

// materializeCommand builds views without a server. "upstream" among the names of --view means the kept answers of
// the other server, which are refreshed as their schedules do it.
func materializeCommand() *cobra.Command {
	var q materialize.Request
	cmd := withConfig("materialize", func(cmd *cobra.Command, _ []string, cfg configs.Config) error {
		return runMaterialize(cmd, cfg, q)
	}, "store", "preset", "log.level", "log.format")
	cmd.Flags().StringArrayVar(&q.Views, "view", nil, "`NAME` of a view to build, or upstream; may be repeated")
	cmd.Flags().BoolVar(&q.Full, "full", false, "render every record anew and repair what differs")
	cmd.Flags().BoolVar(&q.Force, "force", false,
		"publish even if too many rows would be removed (materialize.max_shrink)")
	return cmd
}

// runMaterialize builds the views first and refreshes kept answers after them: a new generation of a view makes the
// answers stale that depend on it. What was done before an error is printed, too.
func runMaterialize(cmd *cobra.Command, cfg configs.Config, q materialize.Request) error {
	// checked before logging.Detach replaces the output, which may be a terminal
	progress := rowProgress(cmd.ErrOrStderr())
	// detached, because an unread log must not delay processes that wait for the lease
	log, _ := logging.Detach(cmd, cfg.Log)
	warnOfVisible(cmd, log)
	var outcomes []materialize.Outcome
	var runs map[string]kept.Run
	all := len(q.Views) == 0
	named := slices.Contains(q.Views, keptView)
	q.Views = slices.DeleteFunc(q.Views, func(name string) bool { return name == keptView })
	if named && len(cfg.Upstream.Keep) == 0 {
		return fmt.Errorf("view %s: upstream.keep has no rules", keptView)
	}
	err := withStore(cmd.Context(), cfg, func(store origin.Store) (err error) {
		warnOfDamage(store, log)
		if all || len(q.Views) > 0 {
			outcomes, err = buildViews(cmd.Context(), cfg, store, log, q, progress)
		}
		if ctx := cmd.Context(); ctx.Err() == nil && (named || all && len(cfg.Upstream.Keep) > 0) {
			var failed error
			runs, failed = refreshKept(ctx, cfg, store, log)
			err = errors.Join(err, failed)
		}
		return err
	})
	if errors.Is(err, origin.ErrLocked) {
		return fmt.Errorf("%w; ask the running server with POST /admin/refresh on its admin listener", err)
	}
	if len(outcomes) > 0 { // ignore errors: standard output may be closed
		_ = printTable(cmd.OutOrStdout(), "outcomes", outcomes)
		_ = output.ExecuteTemplate(cmd.OutOrStdout(), "skipped records", outcomes)
	}
	_ = printTable(cmd.OutOrStdout(), "refreshed", runs) // likewise
	return err
}

// buildViews runs the jobs once and returns their outcomes, even if there is an error. A view that was not published,
// because its run failed or was held back, is an error, but the others are still built. If rows may stay in the
// store, buildViews also creates the indexes for queries on them.
//
// A generation settles in two steps: a run publishes it with some rows staged beside the earlier ones, and the next
// run moves them into place. A server always runs again; this command may be the last run for a day, and says so.
func buildViews(ctx context.Context, cfg configs.Config, store origin.Store, log *slog.Logger, q materialize.Request,
	progress func(materialize.Progress)) ([]materialize.Outcome, error) {
	if err := checkSource(ctx, store); err != nil {
		return nil, err
	}
	inst, err := newInstitute(cfg, store, log)
	if err != nil {
		return nil, err
	}
	o, err := runnerOptions(ctx, cfg, store, inst, log)
	if err != nil {
		return nil, err
	}
	runner, err := materialize.New(o)
	if err != nil {
		return nil, err
	}
	outcomes, err := runner.RunOnce(ctx, q, progress)
	if err != nil {
		return outcomes, err
	}
	for _, o := range outcomes {
		if o.Result != materialize.Published && o.Result != materialize.Unchanged {
			err = errors.Join(err, fmt.Errorf("view %s: %s: %w", o.View, o.Result, o.Err))
		}
	}
	if view.Mode(cfg.Views.Mode) == view.Memory {
		return outcomes, err
	}
	for _, o := range outcomes { // the next run settles, but no other may follow this one
		if settled, e := store.Settled(ctx, o.Meta); e == nil && !settled {
			err = errors.Join(err,
				fmt.Errorf(
					"view %s: generation %d is published but not settled, and front ends that read it from the "+
						"store wait: run again", o.View, o.Meta.Generation))
		}
	}
	err = errors.Join(err, view.Index(ctx, store, inst.allViews()))
	return outcomes, err
}

// rowProgress returns a function that shows the progress of runs, with one bar per view. The total is the row count
// of the previous run, so it is an estimate; -1 shows a bar without an end.
func rowProgress(w io.Writer) func(materialize.Progress) {
	var bar *progressbar.ProgressBar
	shown := ""
	return func(p materialize.Progress) {
		if shown != p.View {
			shown, bar = p.View, newBar(w, int64(max(p.Total, -1)), p.View, progressbar.OptionShowCount())
		}
		if p.Scanned > bar.GetMax() { // the total is that of the previous run
			bar.ChangeMax(p.Scanned)
		}
		_ = bar.Set(p.Scanned)
		if p.Done {
			_ = bar.Finish()
		}
	}
}

// newBar returns a progress bar, invisible unless w is a terminal. Its errors say that the terminal is gone.
func newBar(w io.Writer, total int64, description string, options ...progressbar.Option) *progressbar.ProgressBar {
	f, ok := w.(*os.File)
	return progressbar.NewOptions64(total, append(options,
		progressbar.OptionSetWriter(w),
		progressbar.OptionSetVisibility(ok && term.IsTerminal(int(f.Fd()))),
		progressbar.OptionSetDescription(description),
		progressbar.OptionClearOnFinish(),
	)...)
}

// keptView is the name of what is kept of the other server's answers among the views of vitrine materialize.
const keptView = "upstream"

// refreshKept refreshes the kept answers of all rules once, and returns the runs by rule. It is an error if all
// requests for a rule fail: then the other server, or its key, is at fault, not a page.
//
// It needs a server, because the keeper fetches through it, but no listener. The jobs are enabled so that there is
// a runner: it takes the lease, and a running instance that has it delays this command. No snapshot files are
// written, since they belong to the instance that serves.
func refreshKept(
	ctx context.Context, cfg configs.Config, store origin.Store, log *slog.Logger,
) (map[string]kept.Run, error) {
	cfg.Materialize.Enabled, cfg.Views.Snapshot = true, ""
	p, err := assemble(ctx, cfg, store, log)
	if err != nil {
		return nil, err
	}
	defer p.server.Close()
	defer p.keeper.Close()
	ctx, stop := context.WithCancel(ctx)
	var parts errgroup.Group
	parts.Go(func() error { return p.store.Run(ctx) })
	parts.Go(func() error { return p.views.Run(ctx) })
	p.views.WaitLoaded(ctx) // their generations say what is stale
	runs, err := p.runner.RefreshKept(ctx)
	stop()
	for _, name := range slices.Sorted(maps.Keys(runs)) {
		if run := runs[name]; err == nil && run.Failed > 0 && run.Fetched == 0 {
			err = fmt.Errorf("rule %s: the other server sent no answer to keep to any of %d requests", name,
				run.Failed)
		}
	}
	return runs, errors.Join(err, parts.Wait())
}
