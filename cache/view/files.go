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

// Files says where snapshots are kept on disk. From its file a view can be shown while
// the store is away, and it need not be read whole when the store is there.
type Files struct {
	Dir   string        // the folder; empty: nothing is kept
	Store string        // the store's name; files of another store are not used
	Every time.Duration // least time between two writings of one view; 0 means 1 minute
	// Stripped names the fields that Options.Strip takes from rows. A file whose rows lack
	// others is not used.
	Stripped string
}

// fileState is what the file of a view holds.
type fileState struct {
	epoch      string
	generation uint64
	confirmed  time.Time // when the store had confirmed it
	tried      time.Time // when it was last written, or should have been
	err        error     // of the last try
}

// rewriteAfter is how old the confirmation in a file may become before the file is
// written again with the same generation: Age counts from that time when it is used.
const rewriteAfter = time.Hour

// fileSnapshot is a snapshot from a file, not shown yet.
type fileSnapshot struct {
	snapshot  *Snapshot
	confirmed time.Time
}

// readFile reads a view's file before the view is first refreshed. A file that cannot be
// used is logged and left alone: the next writing replaces it.
func (s *Set) readFile(v *view) {
	if s.o.Files.Dir == "" || s.o.Mode == Store {
		return
	}
	began, path := time.Now(), snapfile.Path(s.o.Files.Dir, v.def.Name)
	h, rows, err := snapfile.Read(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return
	case err == nil && h.View != v.def.Name:
		err = fmt.Errorf("%s: %w: it is of view %s", path, snapfile.ErrRefused, h.View)
	case err == nil && h.Store != s.o.Files.Store:
		err = fmt.Errorf("%s: %w: it is of the store %s", path, snapfile.ErrRefused, h.Store)
	case err == nil && h.Stripped != "" && h.Stripped != s.o.Files.Stripped:
		err = fmt.Errorf("%s: %w: its records lack other fields (%s)", path, snapfile.ErrRefused, h.Stripped)
	}
	if err != nil {
		s.o.Logger.Warn("snapshot file not used", "view", v.def.Name, "error", err)
		return
	}
	size := int64(0)
	v.stripped = h.Stripped != ""
	if h.Stripped == "" {
		v.strip(rows)
	}
	for _, row := range rows {
		size += int64(len(row))
	}
	if !s.room.take(v.def.Name, size) {
		s.o.Logger.Info("snapshot file not used: the view does not fit views.budget", "view", v.def.Name)
		return
	}
	v.fromFile = &fileSnapshot{v.resident(h.Meta, v.builder.Load(rows)), h.Confirmed}
	v.recordFile(fileState{epoch: h.Epoch, generation: h.Generation, confirmed: h.Confirmed, tried: began})
	s.o.Logger.Info("view read from its snapshot file", "view", v.def.Name, "generation", h.Generation, "rows", len(rows),
		"confirmed", h.Confirmed, "took", time.Since(began))
}

// resume shows the snapshot from the file: brought up to date if the store answers, as it
// is if not. If the view has another epoch by now, or an older generation, which happens
// only in a store restored from a copy, the file is of no use.
func (v *view) resume(ctx context.Context, meta origin.Meta, away error) (*Snapshot, error) {
	kept := v.fromFile
	v.fromFile = nil
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
		v.recordConfirmed(from, kept.confirmed)
	}
	return v.swap(ctx, kept.snapshot), away
}

// recordConfirmed records what another process had confirmed of the view, and when.
func (v *view) recordConfirmed(meta origin.Meta, at time.Time) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.checked.IsZero() {
		v.newest, v.checked = meta, at
	}
}

func (v *view) recordFile(f fileState) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.file = f
}

// file keeps every view's file up to date until ctx ends, and writes once more then. It
// writes one view at a time, since no request waits for it.
func (s *Set) file(ctx context.Context) {
	for {
		select {
		case <-time.After(s.fileDue(time.Now())):
		case <-s.unfiled:
		case <-ctx.Done():
			s.fileDue(time.Now().Add(s.o.Files.Every))
			return
		}
	}
}

// fileDue writes the files that are due by a time, and returns how long it is until the
// next one is due if no view is swapped.
func (s *Set) fileDue(now time.Time) time.Duration {
	wait := rewriteAfter
	for _, name := range s.names {
		v := s.views[name]
		v.mu.Lock()
		before, confirmed := v.file, v.checked
		v.mu.Unlock()
		snap := v.current.Load()
		if snap == nil || snap.memory == nil || confirmed.IsZero() { // it is shown a moment before it is confirmed
			continue
		}
		same := before.epoch == snap.meta.Epoch && before.generation == snap.meta.Generation
		due := before.tried.Add(s.o.Files.Every)
		switch {
		case same && confirmed.Sub(before.confirmed).Abs() < rewriteAfter: // a clock may have been set back since
			continue
		case due.After(now):
			wait = min(wait, due.Sub(now))
			continue
		}
		if !s.write(v, snap, confirmed, before.err == nil) {
			wait = min(wait, s.o.Files.Every)
		}
	}
	return wait
}

// write writes a view's file and reports whether it could. It logs the first failure in
// a row.
func (s *Set) write(v *view, snap *Snapshot, confirmed time.Time, wasWell bool) bool {
	began := time.Now()
	path := snapfile.Path(s.o.Files.Dir, v.def.Name)
	h := snapfile.Header{Store: s.o.Files.Store, Meta: snap.meta, Confirmed: confirmed}
	h.Health = origin.Health{} // of a job that has run again by the time the file is read
	if snap.whole != nil {
		h.Stripped = s.o.Files.Stripped
	}
	err := snapfile.Write(path, h, snap.memory.Docs())
	v.mu.Lock()
	f := fileState{epoch: snap.meta.Epoch, generation: snap.meta.Generation, confirmed: confirmed, tried: began}
	if err != nil {
		f = v.file
		f.tried, f.err = began, err
	}
	v.file = f
	v.mu.Unlock()
	switch {
	case err == nil:
		s.o.Logger.Debug("snapshot file written", "view", v.def.Name, "generation", snap.meta.Generation, "took", time.Since(began))
	case wasWell:
		s.o.Logger.Warn("snapshot file not written", "view", v.def.Name, "error", err)
	}
	return err == nil
}
