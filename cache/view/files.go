package view

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"vitrine/cache/origin"
	"vitrine/cache/view/snapfile"
)

// Files says where snapshots are kept on disk, so that views can be shown while the
// store is away, and need not be read whole when it is there.
type Files struct {
	Dir   string        // the folder; empty: nothing is kept
	Store string        // the store's name; files of another store are not used
	Every time.Duration // least time between two writings of one view; 0 means 1 minute
}

// filed is what the file of a view is known to hold.
type filed struct {
	epoch      string
	generation uint64
	confirmed  time.Time // when the store had confirmed it
	tried      time.Time // when it was last written, or should have been
	err        error     // of the last try
}

// refiled is how old a file's word that the store confirmed it may become though the
// generation stays the same: Age counts from there when it is used.
const refiled = time.Hour

// recalled is a snapshot from a file, not shown yet.
type recalled struct {
	snapshot  *Snapshot
	confirmed time.Time
}

// recall reads a view's file, before the view is first refreshed. A file that cannot be
// used is told of and left alone: the next writing replaces it.
func (s *Set) recall(v *view) {
	if s.files.Dir == "" || v.away {
		return
	}
	began, path := time.Now(), snapfile.Path(s.files.Dir, v.def.Name)
	h, rows, err := snapfile.Read(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return
	case err == nil && h.View != v.def.Name:
		err = fmt.Errorf("%s: %w: it is of view %s", path, snapfile.ErrRefused, h.View)
	case err == nil && h.Store != s.files.Store:
		err = fmt.Errorf("%s: %w: it is of the store %s", path, snapfile.ErrRefused, h.Store)
	}
	if err != nil {
		s.log.Warn("snapshot file not used", "view", v.def.Name, "error", err)
		return
	}
	size := int64(0)
	for _, row := range rows {
		size += int64(len(row))
	}
	if !v.room.take(v.def.Name, size) {
		s.log.Info("snapshot file not used: the view does not fit views.budget", "view", v.def.Name)
		return
	}
	v.recalled = &recalled{&Snapshot{meta: h.Meta(), memory: v.builder.Load(rows)}, h.Confirmed}
	v.noteFiled(filed{epoch: h.Epoch, generation: h.Generation, confirmed: h.Confirmed, tried: began})
	s.log.Info("view read from its snapshot file", "view", v.def.Name, "generation", h.Generation, "rows", len(rows),
		"confirmed", h.Confirmed, "took", time.Since(began))
}

// resume shows what was recalled: brought up to date if the store answers, as it is if
// not. If the store says that the view has begun another life, or has gone back, which
// only a store restored from a copy does, the file is of no use.
func (v *view) resume(ctx context.Context, meta origin.Meta, away error) (*Snapshot, error) {
	kept := v.recalled
	v.recalled = nil
	from := kept.snapshot.meta
	if away == nil && (meta.Epoch != from.Epoch || meta.Generation < from.Generation) {
		if meta.Generation == 0 {
			return nil, nil
		}
		return v.load(ctx)
	}
	if away == nil && meta.Generation > from.Generation {
		next, err := v.delta(ctx, from)
		if err == nil {
			return next, nil
		}
		if errors.Is(err, origin.ErrStale) {
			if next, err = v.load(ctx); err == nil {
				return next, nil
			}
		}
		away = err
	}
	if away != nil {
		v.noteConfirmed(from, kept.confirmed)
	}
	return v.swap(ctx, kept.snapshot), away
}

// noteConfirmed takes down what another process had confirmed of the view, and when.
func (v *view) noteConfirmed(meta origin.Meta, at time.Time) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.checked.IsZero() {
		v.known, v.checked = meta, at
	}
}

func (v *view) noteFiled(f filed) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.filed = f
}

// file keeps every view's file up to date until ctx ends, and once more then: one view
// at a time, since nobody waits for it.
func (s *Set) file(ctx context.Context) {
	for {
		wait := s.fileDue(time.Now())
		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
		case <-s.unfiled:
		case <-ctx.Done():
			timer.Stop()
			s.fileDue(time.Now().Add(s.files.Every))
			return
		}
		timer.Stop()
	}
}

// fileDue writes the files that are due by a time and returns how long none will be,
// unless a view is swapped.
func (s *Set) fileDue(now time.Time) time.Duration {
	wait := refiled
	for _, name := range s.names {
		v := s.views[name]
		v.mu.Lock()
		before, confirmed := v.filed, v.checked
		v.mu.Unlock()
		snap := v.current.Load()
		if snap == nil || snap.memory == nil || confirmed.IsZero() { // it is shown a moment before it is confirmed
			continue
		}
		same := before.epoch == snap.meta.Epoch && before.generation == snap.meta.Generation
		due := before.tried.Add(s.files.Every)
		switch {
		case same && confirmed.Sub(before.confirmed).Abs() < refiled: // a clock may have been set back since
			continue
		case due.After(now):
			wait = min(wait, due.Sub(now))
			continue
		}
		if !s.write(v, snap, confirmed, before.err == nil) {
			wait = min(wait, s.files.Every)
		}
	}
	return wait
}

// write writes a view's file and reports whether it could. If not, that is told once.
func (s *Set) write(v *view, snap *Snapshot, confirmed time.Time, wasWell bool) bool {
	began := time.Now()
	path := snapfile.Path(s.files.Dir, v.def.Name)
	err := snapfile.Write(path, snapfile.HeaderOf(s.files.Store, snap.meta, confirmed), snap.memory.Docs())
	v.mu.Lock()
	f := filed{epoch: snap.meta.Epoch, generation: snap.meta.Generation, confirmed: confirmed, tried: began}
	if err != nil {
		f = v.filed
		f.tried, f.err = began, err
	}
	v.filed = f
	v.mu.Unlock()
	switch {
	case err == nil:
		s.log.Debug("snapshot file written", "view", v.def.Name, "generation", snap.meta.Generation, "took", time.Since(began))
	case wasWell:
		s.log.Warn("snapshot file not written", "view", v.def.Name, "error", err)
	}
	return err == nil
}
