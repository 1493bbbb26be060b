package view

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/origin"
	"vitrine/cache/view/index"
	"vitrine/cache/view/snapfile"
)

// Files says where snapshots are kept on disk. From its file a view can be shown while
// the store is away, and it need not be read whole when the store is there.
type Files struct {
	Dir   string        // the folder; empty: nothing is kept
	Store string        // the store's name; files of another store are not used
	Every time.Duration // least time between two writings of one view; 0 means 1 minute
	// Stripped names the fields that Options.Strip removes from rows. A file whose rows lack
	// other fields is not used.
	Stripped string
}

// fileState is what the file of a view holds.
type fileState struct {
	meta      origin.Meta
	confirmed time.Time // when the store had confirmed it
	tried     time.Time // when it was last written, or should have been
	err       error     // of the last try
}

// rewriteAfter is how old the confirmation in a file may become before the file is
// written again with the same generation: Age counts from that time when it is used.
const rewriteAfter = time.Hour

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
		v.strip(len(rows), func(i int) *bson.Raw { return &rows[i] })
	}
	for _, row := range rows {
		size += int64(len(row))
	}
	if !s.room.take(v.def.Name, size) {
		s.o.Logger.Info("snapshot file not used: the view does not fit views.budget", "view", v.def.Name)
		return
	}
	v.fromFile = v.snapshotOf(h.Meta, v.builder.Load(rows))
	v.update(func(s *state) { s.file = fileState{meta: h.Meta, confirmed: h.Confirmed, tried: began} })
	s.o.Logger.Info("view read from its snapshot file", "view", v.def.Name, "generation", h.Generation, "rows", len(rows),
		"confirmed", h.Confirmed, "took", time.Since(began))
}

// showFiled shows the snapshot from the file as it is. err says why it could not be refreshed.
func (v *view) showFiled(ctx context.Context, filed *Snapshot, err error) *Snapshot {
	v.update(func(s *state) { // what another process had confirmed of the view, and when
		if err != nil && s.checked.IsZero() {
			s.checked = s.file.confirmed
		}
		if s.newest.View == "" {
			s.newest = filed.meta
		}
	})
	return v.swap(ctx, filed)
}

// writePoll is how often the set checks which files are due.
const writePoll = time.Second

// writeFiles keeps every view's file up to date until ctx ends, and writes once more then. It
// writes one view at a time, since no request waits for it.
func (s *Set) writeFiles(ctx context.Context) {
	for {
		select {
		case <-time.After(min(writePoll, s.o.Files.Every)):
			s.writeDue(time.Now())
		case <-ctx.Done():
			s.writeDue(time.Now().Add(s.o.Files.Every))
			return
		}
	}
}

// writeDue writes the files that are due by a time.
func (s *Set) writeDue(now time.Time) {
	for _, v := range s.views {
		known, snap := v.known(), v.current.Load()
		if snap == nil || known.checked.IsZero() { // it is shown a moment before it is confirmed
			continue
		}
		table, resident := snap.Resident()
		same := snap.meta.Is(known.file.meta) == nil
		if same && known.checked.Sub(known.file.confirmed).Abs() < rewriteAfter { // a clock may have been set back since
			continue
		}
		if resident && !known.file.tried.Add(s.o.Files.Every).After(now) {
			s.write(v, snap, table, known)
		}
	}
}

// write writes a view's file. It logs the first failure in a row.
func (s *Set) write(v *view, snap *Snapshot, table *index.Table, known state) {
	began := time.Now()
	h := snapfile.Header{Store: s.o.Files.Store, Meta: snap.meta, Confirmed: known.checked}
	h.Health = origin.Health{} // of a job that has run again by the time the file is read
	if snap.whole != nil {
		h.Stripped = s.o.Files.Stripped
	}
	err := snapfile.Write(snapfile.Path(s.o.Files.Dir, v.def.Name), h, table.Docs())
	v.update(func(s *state) {
		if err == nil {
			s.file.meta, s.file.confirmed = snap.meta, known.checked
		}
		s.file.tried, s.file.err = began, err
	})
	switch {
	case err == nil:
		s.o.Logger.Debug("snapshot file written", "view", v.def.Name, "generation", snap.meta.Generation, "took", time.Since(began))
	case known.file.err == nil:
		s.o.Logger.Warn("snapshot file not written", "view", v.def.Name, "error", err)
	}
}
