package materialize

import (
	"context"
	"fmt"
	"log/slog"
	"net/url"
	"time"

	"vitrine/cache/kept"
	"vitrine/rules/backoff"
)

// keptTask is a rule's schedule, with the time of its next run. It belongs to the goroutine that refreshes.
type keptTask struct {
	spec     string // that schedule was parsed from
	schedule *Schedule
	next     time.Time // zero if there is none
	pauses   *backoff.Exponential
	part     kept.Pass // of the run under way; zero if there is none
}

// refreshPart is how long a rule is refreshed before the other rules that are due have their turn: what clients have
// had kept for one, perhaps on purpose, must not delay the pages of another for hours.
const refreshPart = 30 * time.Second

// refresher has kept answers fetched again, one rule at a time, in parts. It runs beside the jobs of views: the other
// server may take minutes for what a change has made stale.
type refresher struct{ o *Options }

// run refreshes by the schedules of the rules until ctx ends. Several missed times count as one.
func (r *refresher) run(ctx context.Context) {
	shown := func() time.Time { return r.o.Now().Round(0) } // without a monotonic reading
	clock := &wallClock{now: shown, shown: shown(), at: time.Now()}
	tasks := map[string]*keptTask{}
	look := func() (now time.Time) { // as Runner.look
		if clock.step() != 0 {
			for _, t := range tasks {
				t.next = t.schedule.anew(t.next, clock.shown)
			}
		}
		return clock.shown
	}
	for ctx.Err() == nil {
		wait := recheck
		for _, rule := range r.o.Keeper.Rules() {
			now := look()
			t := r.task(ctx, tasks, rule, now)
			if !t.next.IsZero() && !t.next.After(now) && ctx.Err() == nil {
				run, err := r.refresh(ctx, rule, t.begin(now))
				if now = look(); err != nil || run.Left == 0 {
					t.finish(now, err != nil || run.Failed > 0)
				}
			}
			if !t.next.IsZero() {
				wait = min(wait, max(t.next.Sub(now), 0))
			}
		}
		_ = backoff.Sleep(ctx, wait) // the loop ends if ctx has ended
	}
}

// task returns the task of a rule. A new rule, or one with another schedule, is due at once.
func (r *refresher) task(ctx context.Context, tasks map[string]*keptTask, rule *kept.Rule, now time.Time) *keptTask {
	t := tasks[rule.Name]
	if t != nil && t.spec == rule.Refresh {
		return t
	}
	t = &keptTask{spec: rule.Refresh, pauses: newPauses()}
	tasks[rule.Name] = t
	if rule.Refresh == "" {
		return t
	}
	var err error
	if t.schedule, err = ParseSchedule(rule.Refresh, r.o.Location); err != nil { // the configuration has checked it
		r.o.Log.ErrorContext(ctx, "refresh kept answers", "rule", rule.Name, "error", err)
		return t
	}
	t.next = now
	return t
}

// begin returns the next part of the run.
func (t *keptTask) begin(now time.Time) kept.Pass {
	if t.part.Began.IsZero() {
		t.part = kept.Pass{Began: now, Due: t.schedule.Next(now)}
	}
	t.part.End = now.Add(refreshPart)
	return t.part
}

// finish ends the run, and sets the time of the next. After a failure it may be before the scheduled one.
func (t *keptTask) finish(now time.Time, failed bool) {
	t.next, t.part = t.schedule.Next(now), kept.Pass{}
	if !failed {
		t.pauses.Reset()
		return
	}
	if retry := now.Add(t.pauses.NextBackOff()); retry.Before(t.next) || t.next.IsZero() {
		t.next = retry
	}
}

// once refreshes each rule that has a schedule, and returns the runs by rule.
func (r *refresher) once(ctx context.Context) (runs map[string]kept.Run, err error) {
	runs = map[string]kept.Run{}
	for _, rule := range r.o.Keeper.Rules() {
		if rule.Refresh == "" {
			continue
		}
		schedule, err := ParseSchedule(rule.Refresh, r.o.Location)
		if err == nil {
			runs[rule.Name], err = r.refresh(ctx, rule, kept.Pass{Due: schedule.Next(r.o.Now().Round(0))})
		}
		if err != nil {
			return runs, err
		}
	}
	return runs, nil
}

// refresh refreshes the answers of a rule, and logs the run at its end.
func (r *refresher) refresh(ctx context.Context, rule *kept.Rule, p kept.Pass) (run kept.Run, err error) {
	warm, err := r.warmKeys(ctx, rule)
	if err == nil { // without all warm keys a run would remove their answers
		run, err = r.o.Keeper.Refresh(ctx, rule, warm, p)
	} else {
		err = fmt.Errorf("refresh kept answers of rule %s: %w", rule.Name, err)
	}
	if r.o.Observer.Refreshed != nil {
		r.o.Observer.Refreshed(rule.Name, run, err)
	}
	level := slog.LevelInfo
	switch {
	case ctx.Err() != nil:
		return run, err // on request, or because the lease was lost
	case err != nil || run.Failed > 0 && run.Left == 0:
		level = slog.LevelWarn
	case run.Changed+run.Removed == 0 || run.Left > 0:
		level = slog.LevelDebug
	}
	attrs := []slog.Attr{
		slog.String("rule", rule.Name), slog.Int("due", run.Due), slog.Int("fetched", run.Fetched),
		slog.Int("changed", run.Changed), slog.Int("confirmed", run.Confirmed), slog.Int("failed", run.Failed),
		slog.Int("removed", run.Removed), slog.Duration("took", run.Took),
	}
	if err != nil {
		attrs = append(attrs, slog.String("error", err.Error()))
	}
	r.o.Log.LogAttrs(ctx, level, "refresh of kept answers", attrs...)
	return run, err
}

// warmKeys returns the keys of the paths that a rule's templates stand for.
func (r *refresher) warmKeys(ctx context.Context, rule *kept.Rule) (keys []string, err error) {
	for _, template := range rule.Warm {
		w, err := ParseWarm(template)
		if err != nil {
			return nil, err
		}
		paths, err := w.expand(ctx, r.o.Store)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", template, err)
		}
		for _, path := range paths {
			u, err := url.ParseRequestURI(path)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", template, err)
			}
			key, _ := rule.Key(u.Path, u.Query())
			keys = append(keys, key)
		}
		if len(keys) > mostWarm {
			return nil, fmt.Errorf("warm paths of rule %s: %w", rule.Name, errTooMany)
		}
	}
	return keys, nil
}
