package view

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"time"
	"weak"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/origin"
	"vitrine/cache/view/index"
	"vitrine/cache/view/snapfile"
)

// Files says where to keep snapshots on disk. With its file, a view can be shown while the store is unavailable, and
// need not be read as a whole afterwards.
type Files struct {
	Dir   string        // the folder; if empty, no files are kept
	Store string        // the store's name; files of another store are not used
	Every time.Duration // least time between two writes of one view's file; 0 means 1 minute
	// Stripped names the fields that Options.Strip removes. A file whose rows lack other fields is not used.
	Stripped string
}

// rewriteAfter is the age of the confirmation in a file at which it is written again, even with the same generation:
// a front end that starts from the file counts Age from that. Each confirmation would otherwise write all rows
// again.
const rewriteAfter = time.Hour

// readFile reads a view's file before the view is first refreshed. It leaves an unusable file to the next write.
//
// It shows nothing: the first refresh decides whether the snapshot is continued, replaced or held.
func (s *Set) readFile(v *view) {
	if s.o.Files.Dir == "" || s.o.Mode == Store {
		return
	}
	began := time.Now()
	h, rows, err := snapfile.Open(snapfile.Path(s.o.Files.Dir, v.def.Name), v.builder.Files,
		func(h snapfile.Header) error {
			switch {
			case h.View != v.def.Name:
				return fmt.Errorf("%w: it belongs to view %s", snapfile.ErrRefused, h.View)
			case h.Store != s.o.Files.Store:
				return fmt.Errorf("%w: it belongs to the store %s", snapfile.ErrRefused, h.Store)
			// Fields that were stripped cannot be added again; rows that have too many are stripped below.
			case h.Stripped != "" && h.Stripped != s.o.Files.Stripped:
				return fmt.Errorf("%w: its records lack other fields (%s)", snapfile.ErrRefused, h.Stripped)
			}
			return nil
		})
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	if err != nil {
		s.o.Logger.Warn("snapshot file not used: the view is read from the store", "view", v.def.Name, "error", err)
		return
	}
	l := &loader{view: v, stripped: h.Stripped != ""}
	if h.Without != s.o.Files.Stripped {
		for i, row := range rows {
			l.put(i, row)
		}
		rows = l.rows()
	}
	table := v.builder.Load(rows)
	if !s.rowBudget.reserve(v.def.Name, table.RowBytes()) {
		v.builder.Drop()
		s.o.Logger.Info("snapshot file not used: the view does not fit views.budget", "view", v.def.Name)
		return
	}
	v.stripped = l.stripped
	v.fromFile = v.snapshotOf(h.Meta, table)
	file := fileState{meta: h.Meta, id: h.ID, table: weak.Make(table), confirmed: h.Confirmed, tried: began}
	if h.Without == s.o.Files.Stripped {
		v.rowBytes.Store(table.RowBytes())
		s.fitIndexes()
		file.derived.names = s.readDerived(v, h.ID, table)
	}
	v.progress.update(func(s *state) { s.file = file })
	s.o.Logger.Info("view read from its snapshot file", "view", v.def.Name, "generation", h.Generation, "rows",
		len(rows),
		"confirmed", h.Confirmed, "took", time.Since(began))
}

// derivedPath returns the path of the file of the values derived from a view's rows. It is a file of its own, since
// it changes when requests need other indexes, and rows when the view is published.
func (s *Set) derivedPath(v *view) string { return snapfile.Path(s.o.Files.Dir, v.def.Name+".indexes") }

// readDerived reads the values derived from the rows of a view's file, and returns their names. Values that it cannot
// read are derived again. The identifiers of both files must agree: one may be written without the other.
func (s *Set) readDerived(v *view, id bson.ObjectID, table *index.Table) []string {
	_, docs, err := snapfile.Open(s.derivedPath(v), v.builder.Files, func(h snapfile.Header) error {
		if h.ID != id || h.Derived != v.def.DerivedRules() {
			return fmt.Errorf("%w: it belongs to other rows or rules", snapfile.ErrRefused)
		}
		return nil
	})
	if err == nil {
		err = table.Adopt(docs)
	}
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			s.o.Logger.Info("indexes are built, not read from their file", "view", v.def.Name, "error", err)
		}
		return nil
	}
	return table.DerivedNames()
}

// showFromFile shows the snapshot from the file. err says why it could not be refreshed. The first refresh calls it
// if it has not brought a newer snapshot.
func (v *view) showFromFile(ctx context.Context, fromFile *Snapshot, err error) *Snapshot {
	v.progress.update(func(s *state) { // the state of the view that another process had confirmed, and when
		if err != nil && s.checked.IsZero() {
			s.checked = s.file.confirmed
		}
		if s.newest.View == "" {
			s.newest = fromFile.meta
		}
	})
	return v.swap(ctx, fromFile, nil)
}

// writeShare is the least time between two writes of a file, as a multiple of the time that one takes. A view that
// is published again and again thus takes at most a fiftieth of the time for its file.
const writeShare = 50

// writePoll is how often the set checks which files are due. A check compares a few values in memory.
const writePoll = time.Second

// writeFiles keeps every view's file up to date until ctx ends, and then writes once more, one file at a time. The
// last write makes the next start as quick as possible.
func (s *Set) writeFiles(ctx context.Context) {
	for {
		select {
		case <-time.After(min(writePoll, s.o.Files.Every)):
			s.writeDue(false)
		case <-ctx.Done():
			s.writeDue(true)
			return
		}
	}
}

// writeDue writes the files that differ from the snapshots shown: those whose time has come, or all. It leaves out
// views in the store, and snapshots with lost rows, which would get a right checksum.
func (s *Set) writeDue(all bool) {
	for _, v := range s.views {
		snap := v.current.Load()
		if snap == nil || snap.Intact() != nil {
			continue
		}
		if table, resident := snap.Resident(); resident {
			_ = snap.contain(func() { s.writeView(v, snap, table, all) }) // the view is read again, and written then
		}
	}
}

// writeView is writeDue for one view.
func (s *Set) writeView(v *view, snap *Snapshot, table *index.Table, all bool) {
	known := v.progress.known()
	due := func(tried time.Time, took time.Duration) bool {
		return all || time.Since(tried) >= max(s.o.Files.Every, writeShare*took)
	}
	same := snap.meta.Is(known.file.meta) == nil
	// Abs, because a clock may have been set back
	confirmed := known.checked.Sub(known.file.confirmed).Abs() < rewriteAfter
	if (!same || !confirmed) && due(known.file.tried, known.file.took) {
		known = s.write(v, snap, table, known)
	}
	names := table.DerivedNames()
	d, current := known.file.derived, known.file.table == weak.Make(table) && !known.file.id.IsZero()
	if current && !slices.Equal(names, d.names) && due(d.tried, d.took) {
		s.writeDerived(v, snap, table, known.file, names)
	}
}

// writeDerived writes the file of the values derived from the rows in a view's file. It logs the first failure in a
// row.
func (s *Set) writeDerived(v *view, snap *Snapshot, table *index.Table, file fileState, names []string) {
	began := time.Now()
	h := snapfile.Header{Store: s.o.Files.Store, Meta: file.meta, ID: file.id, Derived: v.def.DerivedRules()}
	err := snapfile.WriteIntact(s.derivedPath(v), h, table.Derived(), snap.files.Check)
	if err != nil {
		names = nil // try again
		if file.derived.err == nil {
			s.o.Logger.Warn("file of indexes not written", "view", v.def.Name, "error", err)
		}
	}
	v.progress.update(func(s *state) { s.file.derived = derivedState{names, began, time.Since(began), err} })
}

// write writes a view's file, and returns the state with it. It logs the first failure in a row.
func (s *Set) write(v *view, snap *Snapshot, table *index.Table, known state) state {
	began := time.Now()
	h := snapfile.Header{Store: s.o.Files.Store, Meta: snap.meta, Confirmed: known.checked, ID: bson.NewObjectID()}
	h.Health = origin.Health{} // a job will have run again by the time the file is read
	if h.Without = s.o.Files.Stripped; snap.whole != nil {
		h.Stripped = h.Without
	}
	err := snapfile.WriteIntact(snapfile.Path(s.o.Files.Dir, v.def.Name), h, table.Docs(), snap.files.Check)
	switch {
	case err == nil:
		s.o.Logger.Debug("snapshot file written", "view", v.def.Name, "generation", snap.meta.Generation, "took",
			time.Since(began))
	case known.file.err == nil:
		s.o.Logger.Warn("snapshot file not written", "view", v.def.Name, "error", err)
	}
	return v.progress.update(func(s *state) {
		if err == nil {
			s.file.meta, s.file.confirmed = snap.meta, known.checked
			s.file.id, s.file.table, s.file.derived.names = h.ID, weak.Make(table), nil
		}
		s.file.tried, s.file.took, s.file.err = began, time.Since(began), err
	})
}
