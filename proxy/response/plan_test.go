package response_test

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/gofiber/fiber/v2"

	"vitrine/cache/result"
	"vitrine/proxy/proxytest"
	"vitrine/proxy/response"
	"vitrine/rules"
)

// TestPlansAreKept: a plan is rebuilt only for a request of a session, or if its inputs have
// changed.
func TestPlansAreKept(t *testing.T) {
	s := proxytest.Open(t, proxytest.Institute(t), proxytest.Options(t))
	results, err := result.New(result.Options{Budget: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(results.Close)
	clock := proxytest.NewClock(proxytest.Published)
	made, caller, caching := 0, response.Audience{Anonymous: true}, response.Caching{}
	of := "" // the view that plans are made from; empty for none
	var r *response.Responder
	var planner response.Planner
	adopt := func(generation int) {
		r = response.New(response.Options{
			Views: s.Views, Results: results, Planner: &planner, Popular: new(response.Popular), KeptBytes: 1 << 20,
			Timeout:    time.Hour,
			Generation: generation, Now: clock.Now,
		})
	}
	app := fiber.New()
	app.Get("/", func(c *fiber.Ctx) error {
		return r.Serve(c, caller, func(planning *response.Planning) (response.Plan, error) {
			made++
			if of != "" {
				if _, err := planning.Snapshot(of); err != nil {
					return response.Plan{}, err
				}
			}
			build := func(context.Context, response.Snapshots) (*response.Body, error) {
				return response.Bytes([]byte("text")), nil
			}
			return response.Plan{View: rules.ViewEvents, Query: "text", Build: build, Caching: caching}, nil
		})
	})
	adopt(0)
	tests := []struct {
		name   string
		change func()
		kept   bool // cached for later requests
		made   bool // built for the first request
	}{
		{"a plan", func() {}, true, true},
		{"again", func() {}, true, false},
		{"the next day", func() { clock.Advance(24 * time.Hour) }, true, false},
		{"a view published", func() { s.Refresh(rules.ViewPersons) }, true, false},
		{"a session", func() { caller.Anonymous = false }, false, true},
		{"no session", func() { caller.Anonymous = true }, true, false},
		{"other settings",
			func() { adopt(1); caching.Period = response.Until(clock.Now().Add(time.Second)) }, true, true},
		{"a moment before the end", func() { clock.Advance(time.Second - 1) }, true, false},
		{"the end",
			func() { clock.Advance(1); caching.Period = response.Until(clock.Now().Add(time.Hour)) }, true, true},
		{"a clock set back", func() { clock.Set(clock.Now().Add(-time.Hour)) }, true, true},
		{"a plan made from a snapshot", func() { adopt(2); caching, of = response.Caching{}, rules.ViewPersons },
			true, true},
		{"the next day", func() { clock.Advance(24 * time.Hour) }, true, false},
		{"another view published", func() { s.Refresh(rules.ViewUserUnits) }, true, false},
		{"the view published", func() { s.Refresh(rules.ViewPersons) }, true, true},
		{"a plan for one request", func() { adopt(3); caching = response.Caching{Once: true} }, false, true},
	}
	for _, tt := range tests {
		tt.change()
		request := func() (makes bool) {
			before := made
			if res, _ := get(t, app, http.MethodGet); res.StatusCode != http.StatusOK {
				t.Fatalf("%s: status %d", tt.name, res.StatusCode)
			}
			return made > before
		}
		if got := request(); got != tt.made {
			t.Errorf("%s: plan made %v, want %v", tt.name, got, tt.made)
		}
		if kept := !request(); kept != tt.kept {
			t.Errorf("%s: plan kept %v, want %v", tt.name, kept, tt.kept)
		}
	}
}
