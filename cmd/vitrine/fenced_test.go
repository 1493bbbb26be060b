package main

import (
	"context"
	"log/slog"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"vitrine/cache/origin"
	"vitrine/configs"
	"vitrine/materialize"
	"vitrine/proxy/admin"
)

// refusingStore is a store whose metas can refuse the lease that is held, as one does whose metas are newer.
type refusingStore struct {
	origin.Store
	refuses atomic.Bool
}

func (s *refusingStore) Begin(ctx context.Context, view string, l origin.Lease) (origin.Publication, error) {
	if s.refuses.Load() {
		return nil, origin.ErrFenced
	}
	return s.Store.Begin(ctx, view, l)
}

func (s *refusingStore) SetHealth(ctx context.Context, view string, l origin.Lease, h origin.Health) error {
	if s.refuses.Load() {
		return origin.ErrFenced
	}
	return s.Store.SetHealth(ctx, view, l, h)
}

// Acquire makes the runner stay between two terms while the metas refuse its lease.
func (s *refusingStore) Acquire(ctx context.Context, name, holder string, ttl time.Duration) (origin.Lease, error) {
	if s.refuses.Load() {
		return origin.Lease{}, origin.ErrFenced
	}
	return s.Store.Acquire(ctx, name, holder, ttl)
}

// Release leaves the name of the holder in the lease meanwhile.
func (s *refusingStore) Release(ctx context.Context, l origin.Lease) error {
	if s.refuses.Load() {
		return nil
	}
	return s.Store.Release(ctx, l)
}

// TestFencedLeader: an instance whose publications are refused although it holds the lease does not go on leading.
// Every place where an operator looks says that its job fails, though the store has not taken that; a refresh is
// refused, but does not name the instance itself; and once the store accepts its lease, all is well again.
func TestFencedLeader(t *testing.T) {
	t.Parallel()
	cfg := configs.Default()
	cfg.Materialize.Schedule, cfg.Materialize.Full, cfg.Materialize.Lease = nil, "", 15*time.Second
	store := &refusingStore{}
	r := runOver(t, cfg, func(r *running) { r.put("activities", activity("a1", "First")) },
		func(s origin.Store) origin.Store {
			store.Store = s
			return store
		})
	get := func(address string) string {
		t.Helper()
		_, body := fetch(t, http.MethodGet, address)
		return body
	}
	refresh := func() (int, string) {
		t.Helper()
		return fetch(t, http.MethodPost, r.admin+"/admin/refresh?wait=1")
	}
	r.checked() // a job of the start whose outcome is refused would end the term before the refresh
	const failing, refused = `"job_failing":true`, "is not the newest in the view's meta"
	if body := get(r.base + "/readyz"); strings.Contains(body, failing) {
		t.Errorf("readyz before: %s", body)
	}
	store.refuses.Store(true)
	if status, body := refresh(); status != http.StatusConflict ||
		!strings.Contains(body, "This instance stopped running the jobs after 1 of") {
		t.Errorf("refresh in a term that ends fenced: %d %s", status, body)
	}
	if status, body := refresh(); status != http.StatusConflict ||
		!strings.Contains(body, "This instance holds the lease but does not run the jobs") {
		t.Errorf("refresh between two terms: %d %s", status, body)
	}
	await(t, "the metrics tell that the term has ended", func() string { // a moment after requests are refused
		body := get(r.admin + "/metrics")
		if strings.Contains(body, "vitrine_job_leading 0") {
			return ""
		}
		return body
	})
	for address, want := range map[string]string{
		r.base + "/readyz": failing, r.admin + "/admin/views": refused, r.admin + "/metrics": "} 1",
	} {
		body := get(address)
		if strings.HasSuffix(address, "/metrics") {
			if !strings.Contains(body, `outcome="error"`) {
				t.Errorf("metrics: %s", body)
			}
			_, body, _ = strings.Cut(body, "\nvitrine_view_job_failing{")
		}
		if !strings.Contains(body, want) {
			t.Errorf("%s lacks %s: %s", address, want, body)
		}
	}
	metas, err := r.store.Metas(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range metas {
		if m.Health.Status != origin.HealthOK {
			t.Errorf("the store has the health %+v of %s", m.Health, m.View)
		}
	}
	store.refuses.Store(false)
	var body string
	await(t, "the jobs run again", func() string {
		var status int
		status, body = refresh()
		return unless(status == http.StatusOK)
	})
	await(t, "all is well", func() string {
		body = get(r.base + "/readyz")
		return unless(!strings.Contains(body, failing))
	})
}

// TestLeaderOfAnEmbeddedStore: its lease may be that of a process that was killed. A process that runs no jobs does
// not report that name, which would be its own.
func TestLeaderOfAnEmbeddedStore(t *testing.T) {
	t.Parallel()
	cfg := configs.Default()
	cfg.Materialize.Enabled = false
	r := runConfigured(t, cfg, func(r *running) {
		built := cfg
		built.Store = "bolt://v.db" // only its kind counts
		_, err := buildViews(t.Context(), built, r.store, slog.New(slog.DiscardHandler), materialize.Request{}, nil)
		if err == nil {
			_, err = r.store.Acquire(t.Context(), "materialize", embeddedHolder, time.Hour)
		}
		if err != nil {
			t.Fatal(err)
		}
	})
	if _, err := r.program.refresh(t.Context(), admin.Refresh{}); err == nil ||
		!strings.HasPrefix(err.Error(), "No instance runs the jobs") {
		t.Errorf("refresh: %v", err)
	}
}
