package main

import (
	"bytes"
	"context"
	"errors"
	"iter"
	"log/slog"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/origin"
	"vitrine/configs"
	"vitrine/proxy/admin"
)

// stuckStore is a store that does not answer before the context ends.
type stuckStore struct {
	origin.Store
	asked chan struct{}
}

func (s stuckStore) Scan(ctx context.Context, _ string) iter.Seq2[bson.Raw, error] {
	return func(yield func(bson.Raw, error) bool) {
		s.asked <- struct{}{}
		<-ctx.Done()
		yield(nil, context.Cause(ctx))
	}
}

// TestSettingsWhileStoreHangs: while the settings in the database are read, those in use can be shown and compared,
// and a reload waits no longer than its context.
func TestSettingsWhileStoreHangs(t *testing.T) {
	t.Parallel()
	cfg := configs.Default()
	cfg.Preset, cfg.Lists.Enabled = "osiris", false
	log := slog.New(slog.DiscardHandler)
	asked := make(chan struct{})
	inst, err := newInstitute(cfg, stuckStore{asked: asked}, log)
	if err != nil {
		t.Fatal(err)
	}
	p := &program{institute: inst, log: log, changing: make(chan struct{}, 1), settings: settings{Config: cfg}}
	ctx, stop := context.WithCancel(t.Context())
	checked := make(chan struct{})
	go func() {
		defer close(checked)
		p.check(ctx)
	}()
	<-asked
	var shown bytes.Buffer
	if err := p.writeConfig(&shown); err != nil || !bytes.Contains(shown.Bytes(), []byte("preset: osiris")) {
		t.Errorf("%v, %s", err, &shown)
	}
	if _, err := p.listsDiff(t.Context(), admin.ListsChange{}); err == nil {
		t.Error("lists that are disabled were compared")
	}
	gone := errors.New("the operator has gone")
	leaving, leave := context.WithCancelCause(t.Context())
	leave(gone)
	if _, err := p.reload(leaving); !errors.Is(err, gone) {
		t.Errorf("reload: %v, want %v", err, gone)
	}
	stop()
	<-checked
}
