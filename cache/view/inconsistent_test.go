package view_test

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"vitrine/cache/origin"
	"vitrine/cache/view"
	"vitrine/cache/view/index"
)

// mixing is a store whose rows are not those of a generation, or are not settled.
type mixing struct {
	*publisher
	mixed     atomic.Uint64
	unsettled atomic.Bool
}

func (m *mixing) check(meta origin.Meta, err error) error {
	if err == nil && meta.Generation == m.mixed.Load() {
		return origin.ErrInconsistent
	}
	return err
}

func (m *mixing) Rows(ctx context.Context, name string, since uint64,
	fn func(origin.Row) error) (origin.Meta, error) {
	meta, err := m.publisher.Rows(ctx, name, since, fn)
	return meta, m.check(meta, err)
}

func (m *mixing) RowCount(ctx context.Context, name string) (int, error) {
	n, err := m.publisher.RowCount(ctx, name)
	if err != nil {
		return n, err
	}
	return n, m.check(m.publisher.Meta(ctx, name))
}

func (m *mixing) Settled(ctx context.Context, at origin.Meta) (bool, error) {
	settled, err := m.publisher.Settled(ctx, at)
	return settled && !m.unsettled.Load(), err
}

// begun runs a set until the test ends.
func begun(t *testing.T, o view.Options) *view.Set {
	t.Helper()
	s, err := view.New(o)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error)
	go func() { done <- s.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		<-done // always nil
	})
	return s
}

// becomes waits until a set's view is as wanted.
func becomes(s *view.Set, is func(view.Status) bool) {
	for !is(s.Status()[0]) {
		s.Notify("things")
		<-time.After(time.Millisecond)
	}
}

// TestMixedRowsAreNotShown: rows that are not those of their generation are held, though none are missing, until they
// are published again or the operator accepts them.
func TestMixedRowsAreNotShown(t *testing.T) {
	for _, mode := range []view.Mode{view.Memory, view.Store} {
		t.Run(string(mode), func(t *testing.T) {
			m := &mixing{publisher: newPublisher(t)}
			m.publish("things", 5, numberedDocs(t, 5, 1)...)
			m.mixed.Store(1)
			s := begun(t,
				view.Options{Store: m, Mode: mode, Poll: time.Millisecond,
					Views: []index.Definition{{Name: "things"}}})
			becomes(s, heldFor("the store has rows of other generations than 1"))
			if s.Ready() {
				t.Error("ready without rows of one generation")
			}
			m.publish("things", 5, numberedDocs(t, 5, 2)...)
			becomes(s, shows(5))
			m.mixed.Store(3)
			m.publish("things", 5, numberedDocs(t, 5, 3)...)
			becomes(s, heldFor("the store has rows of other generations than 3"))
			if st := s.Status()[0]; st.Meta.Generation != 2 || st.Missing != 0 {
				t.Errorf("held: %+v", st)
			}
			if !s.Force("things") {
				t.Error("not forced")
			}
			becomes(s, func(st view.Status) bool { return st.Held == nil && st.Meta.Generation == 3 })
		})
	}
}

// TestUnsettledForLong: a generation that stays unsettled is held after some polls, whether or not one is shown
// already, and shown once it is settled.
func TestUnsettledForLong(t *testing.T) {
	const words = "some of its rows are still staged"
	m := &mixing{publisher: newPublisher(t)}
	m.publish("things", 5, numberedDocs(t, 5, 1)...)
	m.unsettled.Store(true)
	s := begun(t,
		view.Options{Store: m, Mode: view.Store, Poll: time.Millisecond, Views: []index.Definition{{Name: "things"}}})
	for generation := uint64(1); generation < 3; generation++ {
		becomes(s, heldFor("generation "+string(rune('0'+generation))+" is published"))
		if held := heldBy(s.Status()[0]); !strings.Contains(held, words) {
			t.Errorf("held: %s", held)
		}
		m.unsettled.Store(false)
		becomes(s, func(st view.Status) bool { return st.Held == nil && st.Meta.Generation == generation })
		m.unsettled.Store(true)
		m.publish("things", 5, numberedDocs(t, 5, int(generation)+1)...)
	}
}
