package view

import (
	"cmp"
	"context"
	"fmt"
	"strconv"

	"vitrine/cache/origin"
	"vitrine/cache/view/mapped"
	"vitrine/rules/fault"
)

// Rows lie in mapped files, of which the snapshot file has a name: another program may cut it or write into it, and a
// disk may fail to return what is in it. Then the snapshot is lost. Requests wait while the view is read again from
// the store, or fail with rules.ErrUnavailable if it cannot be read. No answer of the lost snapshot is used any more,
// because the next one has another edition.

// newFiles returns where the rows of a view are mapped from now on, or nil if they stay in memory. Each loss begins
// with new files: mapped.Files that are lost stay so.
func (v *view) newFiles() *mapped.Files {
	s := v.set
	if s.o.RowFiles == nil {
		return nil
	}
	return &mapped.Files{
		Create: s.o.RowFiles,
		Failed: func(err error) {
			s.unmapped.Do(func() { s.o.Logger.Warn("rows are held in memory, not in mapped files", "error", err) })
		},
		Lost: func(err error) {
			v.losses.Add(1)
			s.o.Logger.Error("rows lost: the view is read again from the store", "view", v.def.Name, "error", err)
			s.Notify(v.def.Name)
		},
	}
}

// leaveLost leaves the mapped files if they are lost, so that the rows that are about to be read lie in others, and
// makes the snapshot file due, which may be damaged. The new edition separates kept answers from those of the lost
// rows.
func (v *view) leaveLost() {
	if v.builder.Files.Err() == nil {
		return
	}
	v.builder.Drop()
	v.builder.Files = v.newFiles()
	v.editions++
	v.progress.update(func(s *state) { s.file = fileState{} })
}

// edition returns the edition of a snapshot that is being made. For the epoch e it is e before the first loss, and
// e~1 after it.
func (v *view) edition(meta origin.Meta) string {
	if v.editions == 0 {
		return meta.Epoch
	}
	return meta.Epoch + "~" + strconv.Itoa(v.editions)
}

// Intact returns a MovedError if the rows are lost. It checks whether their files have changed: if not, what was read
// before is right. If rows that stay in the store are known to be missing, the error is rules.ErrUnavailable.
func (s *Snapshot) Intact() error { return cmp.Or(s.filesIntact(), s.incomplete()) }

func (s *Snapshot) filesIntact() error { return s.movedBy(s.files.Check()) }

// lost is Intact for what was found before.
func (s *Snapshot) lost() error { return s.movedBy(s.files.Err()) }

// movedBy returns a MovedError with the reason for the loss, or nil without one.
func (s *Snapshot) movedBy(lost error) error {
	if lost == nil {
		return nil
	}
	return &MovedError{View: s.meta.View, From: s.meta, Lost: lost}
}

// Moved returns a MovedError if the rows were lost while work on them failed, because that is then the cause.
// Otherwise it returns the error of the work.
func (s *Snapshot) Moved(err error) error {
	if err == nil {
		return nil
	}
	return cmp.Or(s.Intact(), err)
}

// contain calls work that reads the rows outside of a request. If the work panics because they are lost, it returns
// an error.
func (s *Snapshot) contain(work func()) error { return contain(s.Intact, work) }

// contain calls work. If the work panics while rows are lost, it returns that error. Another panic goes on.
func contain(lost func() error, work func()) (err error) {
	defer fault.Panics()()
	defer func() {
		r := recover()
		if r == nil {
			return
		}
		fault.Report(r)
		if err = lost(); err == nil {
			panic(r)
		}
		err = fmt.Errorf("%w: %v", err, r)
	}()
	work()
	return nil
}

// lost returns why rows that the refreshing goroutine reads are lost, or nil.
func (v *view) lost() error {
	err := v.builder.Files.Check()
	for _, snap := range []*Snapshot{v.fromFile, v.current.Load()} {
		if snap != nil {
			err = cmp.Or(err, snap.files.Check())
		}
	}
	return err
}

// mustLoad reports whether no snapshot may be made from the rows of one, because they are lost. A delta would copy
// damaged rows into the next snapshot.
func (v *view) mustLoad(shown *Snapshot) bool {
	return cmp.Or(shown.filesIntact(), v.builder.Files.Err()) != nil
}

// refreshIntact is refresh, which it calls again if rows were lost meanwhile. The second attempt reads into other
// files (leaveLost). If it fails too, the next poll tries again.
func (v *view) refreshIntact(ctx context.Context, p pollResult) (next *Snapshot, err error) {
	if lost := contain(v.lost, func() { next, err = v.refresh(ctx, p) }); lost == nil {
		return next, err
	}
	p.read = false // the meta may be outdated by now
	if lost := contain(v.lost, func() { next, err = v.refresh(ctx, p) }); lost != nil {
		return nil, lost
	}
	return next, err
}
