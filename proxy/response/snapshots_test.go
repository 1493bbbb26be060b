package response_test

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/gofiber/fiber/v2"

	"vitrine/cache/result"
	"vitrine/cache/view"
	"vitrine/proxy/proxytest"
	"vitrine/proxy/response"
	"vitrine/rules"
)

// served serves the plans of a function at / from views, to callers without a session. An error is the body of a 500.
func served(t *testing.T, views response.Views, plan response.MakePlan) *fiber.App {
	t.Helper()
	results, err := result.New(result.Options{Budget: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(results.Close)
	r := response.New(response.Options{
		Views: views, Results: results, Planner: new(response.Planner), Popular: new(response.Popular),
		KeptBytes: 1 << 20, Timeout: time.Hour, Now: func() time.Time { return proxytest.Published },
	})
	app := fiber.New()
	app.Get("/", func(c *fiber.Ctx) error { return r.Serve(c, response.Audience{Anonymous: true}, plan) })
	return app
}

// moving are views that call read before each snapshot is read.
type moving struct {
	response.Views
	read func(name string)
}

func (m moving) Snapshot(name string) (*view.Snapshot, error) {
	m.read(name)
	return m.Views.Snapshot(name)
}

// TestOnePlanOneRead: a plan's Build gets one snapshot of each view that the plan names and of no other. Each is read
// once: the key is that of the same snapshot, even if a view is published between two reads.
func TestOnePlanOneRead(t *testing.T) {
	s := proxytest.Open(t, proxytest.Institute(t), proxytest.Options(t))
	var reads []string
	publishes := true
	views := moving{s.Views, func(name string) {
		if reads = append(reads, name); publishes {
			s.Refresh(name)
		}
	}}
	var kept *response.Planning
	build := func(_ context.Context, snaps response.Snapshots) (*response.Body, error) {
		projects, err := snaps.Of(rules.ViewProjects)
		if err != nil {
			return nil, err
		}
		if _, err := snaps.Of(rules.ViewPersons); err == nil {
			t.Error("a view that the plan does not name has a snapshot")
		}
		if _, err := kept.Snapshot(rules.ViewPersons); err == nil {
			t.Error("a snapshot is read after the plan was made")
		}
		names := snaps.Own().Meta().View + " " + projects.Meta().View
		return response.Bytes([]byte(names + " " + snaps.Version())), nil
	}
	app := served(t, views, func(planning *response.Planning) (response.Plan, error) {
		kept = planning
		return response.Plan{View: rules.ViewEvents, Also: []string{rules.ViewProjects}, Query: "text",
			Build: build}, nil
	})
	_, first := get(t, app, http.MethodGet)
	if want := []string{rules.ViewEvents, rules.ViewProjects}; !slices.Equal(reads, want) {
		t.Errorf("read %q, want %q", reads, want)
	}
	publishes = false
	res, again := get(t, app, http.MethodGet)
	if res.Header.Get("Cache-Status") != "vitrine; hit" || string(again) != string(first) {
		t.Errorf("%s: %q, before %q: the key is not that of the snapshots", res.Header.Get("Cache-Status"), again,
			first)
	}
}

// TestPlanFromASnapshot: a plan that was made from a snapshot is never built on another, although its view is
// published between plan and answer, and the answer's key names it, although the plan does not.
func TestPlanFromASnapshot(t *testing.T) {
	s := proxytest.Open(t, proxytest.Institute(t), proxytest.Options(t))
	publishes := 0
	views := moving{s.Views, func(name string) {
		if publishes > 0 && name == rules.ViewEvents { // the plan has read persons already
			publishes--
			s.Refresh(rules.ViewPersons)
		}
	}}
	plans := 0
	app := served(t, views, func(planning *response.Planning) (response.Plan, error) {
		plans++
		from, err := planning.Snapshot(rules.ViewPersons)
		build := func(_ context.Context, snaps response.Snapshots) (*response.Body, error) {
			now, err := snaps.Of(rules.ViewPersons)
			if err == nil && now != from {
				err = errors.New("built on another snapshot")
			}
			return response.Bytes([]byte(snaps.Version())), err
		}
		return response.Plan{View: rules.ViewEvents, Query: "text", Build: build}, err
	})
	seen := map[string]bool{}
	for i, want := range []int{1, 2, 4} {
		publishes = i
		res, body := get(t, app, http.MethodGet)
		if res.StatusCode != http.StatusOK || plans != want || seen[string(body)] {
			t.Errorf("%d publications: %s %q after %d plans, want %d", i, res.Status, body, plans, want)
		}
		seen[string(body)] = true
	}
}

// TestGuessedPlan: a cached plan that guessed where a record is, and finds nothing, is made anew.
func TestGuessedPlan(t *testing.T) {
	s := proxytest.Open(t, proxytest.Institute(t), proxytest.Options(t))
	place, plans := rules.ViewEvents, 0
	app := served(t, s.Views, func(planning *response.Planning) (response.Plan, error) {
		plans++
		if _, err := planning.Guess(place); err != nil {
			return response.Plan{}, err
		}
		guess := place
		build := func(context.Context, response.Snapshots) (*response.Body, error) {
			if place != guess {
				return nil, response.ErrGuess
			}
			return response.Bytes([]byte(guess)), nil
		}
		return response.Plan{View: guess, Query: "text", Build: build}, nil
	})
	for _, tt := range []struct {
		place string
		plans int
	}{{rules.ViewEvents, 1}, {rules.ViewEvents, 1}, {rules.ViewProjects, 2}, {rules.ViewProjects, 2}} {
		if tt.place != place {
			place = tt.place
			s.Refresh(rules.ViewEvents) // so that no answer is kept
		}
		if _, body := get(t, app, http.MethodGet); string(body) != tt.place || plans != tt.plans {
			t.Errorf("%q after %d plans, want %q after %d", body, plans, tt.place, tt.plans)
		}
	}
}
