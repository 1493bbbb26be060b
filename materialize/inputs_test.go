package materialize_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/configs"
	"vitrine/materialize"
)

// TestScheduledRunsReadWhatMayHaveChanged: a scheduled run reads no records if it can tell that
// there was no change. It then reports the counts of the last run that read them.
func TestScheduledRunsReadWhatMayHaveChanged(t *testing.T) {
	const minute = time.Minute
	for name, tt := range map[string]struct {
		options materialize.Options
		exact   bool // whether the store's versions are exact
		watcher bool
		change  func(h *reading)
		read    int // how many of five scheduled runs read; the change comes before the third
	}{
		"unknown versions": {read: 5},
		"exact versions": {exact: true,
			options: materialize.Options{Materialize: configs.Materialize{ReadAllEvery: -1}}, read: 0},
		"a record changed":             {exact: true, change: (*reading).changeRecord, read: 1},
		"a dependency changed":         {exact: true, change: func(h *reading) { h.bump("marks") }, read: 1},
		"a related collection changed": {exact: true, change: func(h *reading) { h.bump("related") }, read: 1},
		"another collection changed":   {exact: true, change: func(h *reading) { h.bump("others") }, read: 0},
		"something outside changed": {exact: true,
			change: func(h *reading) { h.setOutside("another day", nil) }, read: 1},
		"unknown outside": {exact: true,
			change: func(h *reading) { h.setOutside("", errors.New("no such file")) }, read: 3},
		"an unknown version": {exact: true, change: func(h *reading) { h.set("marks", "unknown") },
			read: 3},
		"a record to try again": {exact: true, change: (*reading).spoilRecord, read: 3},
		"a held view":           {exact: true, change: (*reading).emptySource, read: 3},
		"triggered":             {exact: true, change: (*reading).trigger, read: 1},
		"a lost row": {options: materialize.Options{Materialize: configs.Materialize{ReadAllEvery: time.Hour}},
			change: (*reading).loseRow, read: 1},
		"a lost row, a stream": {watcher: true, change: (*reading).loseRow, read: 1},
		"uncertain versions": {
			options: materialize.Options{Materialize: configs.Materialize{ReadAllEvery: time.Hour}}, read: 0},
		"uncertain versions, a change": {
			options: materialize.Options{Materialize: configs.Materialize{ReadAllEvery: time.Hour}},
			change:  (*reading).changeRecord, read: 1},
		"uncertain versions, for a while": {
			options: materialize.Options{Materialize: configs.Materialize{ReadAllEvery: 2 * minute}}, read: 2},
		"uncertain versions, never": {
			options: materialize.Options{Materialize: configs.Materialize{ReadAllEvery: minute}}, read: 5},
		"a stream": {watcher: true, read: 0},
		"a stream with a change": {watcher: true,
			change: func(h *reading) { h.watcher.changes <- "records" }, read: 1},
		"a stream with another change": {watcher: true, change: func(h *reading) { h.watcher.changes <- "others" },
			read: 0},
		"a stream broken and opened": {watcher: true,
			change: func(h *reading) { h.watcher.broken <- errors.New("reset") }, read: 1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := &reading{fakeStore: newFakeStore(), d: newDiary(), outside: "a day"}
				h.exact = tt.exact
				h.replace("records", rec(1, "one"), rec(2, "two"))
				job := (&shouting{deps: []string{"marks"}}).job()
				job.Related = []string{"related"}
				job.Outside = func(context.Context) (string, error) {
					h.mu.Lock()
					defer h.mu.Unlock()
					return h.outside, h.err
				}
				o := tt.options
				if o.Versioner = h; !tt.exact && o.ReadAllEvery == 0 {
					o.Versioner = nil
				}
				if tt.watcher {
					h.watcher = &fakeWatcher{changes: make(chan string), broken: make(chan error)}
					o.Watcher, o.Versioner = h.watcher, nil
					o.Before = func(context.Context) { time.Sleep(time.Second) } // the stream opens meanwhile
				}
				o.MaxShrink = 0.2
				o.Store, o.Jobs, o.Observer, o.Schedule = h, []materialize.Job{
					job}, h.d.observer(), map[string]string{"loud": "@every 1m"}
				r := newRunner(t, o)
				h.runner = r
				stop := started(t, r)
				time.Sleep(2*minute + minute/2)
				if tt.change != nil {
					tt.change(h)
				}
				time.Sleep(3 * minute)
				stop()
				if got := h.scanned["records"] - 1; got != tt.read {
					t.Errorf("scheduled runs read %d times, want %d", got, tt.read)
				}
				for _, out := range h.d.outcomes {
					if held := out.Result == materialize.Held; !held && out.Scanned != 2 ||
						out.Read.IsZero() != held {
						t.Errorf("scanned %d records, read at %s", out.Scanned, out.Read)
					}
				}
				if m, err := h.Meta(t.Context(), "loud"); err != nil || m.Health.Status == "error" ||
					len(m.Health.Counts) != 4 || m.Health.Read.IsZero() {
					t.Errorf("health %+v, error %v", m.Health, err)
				}
			})
		})
	}
}

// reading is a store whose collections have versions. Its methods make every change that can
// require a run to read.
type reading struct {
	*fakeStore
	d       *diary
	watcher *fakeWatcher
	runner  *materialize.Runner
	outside string
	err     error
}

func (h *reading) set(collection, version string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.version[collection] = version
}

func (h *reading) setOutside(text string, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.outside, h.err = text, err
}

func (h *reading) bump(collection string) { h.set(collection, h.version[collection]+"+") }

func (h *reading) changeRecord() {
	h.replace("records", rec(1, "one"), rec(2, "three"))
	h.bump("records")
}

func (h *reading) spoilRecord() {
	h.replace("records", rec(1, "one"), rec(2, "refused"))
	h.bump("records")
}

func (h *reading) emptySource() {
	h.replace("records")
	h.bump("records")
}

func (h *reading) trigger() { _ = h.runner.Trigger(materialize.Request{}) }

func (h *reading) loseRow() {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.views["loud"].rows, key(bson.RawValue{Type: bson.TypeInt32, Value: []byte{1, 0, 0, 0}}))
}
