package proxy_test

import (
	"strings"
	"sync"
	"testing"

	"vitrine/proxy/proxytest"

	"vitrine/rules/access"
	"vitrine/rules/label"
)

// TestAdopt: keys and first year come from the newest options from the next request on, also for
// URLs requested before.
func TestAdopt(t *testing.T) {
	o := proxytest.Options(t)
	s := proxytest.Open(t, proxytest.Institute(t), o)
	since := func() int { t.Helper(); return *s.Get("/api/html").Envelope(t).Count }
	all := since()
	if all == 0 {
		t.Fatal("no publications to begin with")
	}

	o.StartYear = 3000
	if err := s.Server.Adopt(o); err != nil {
		t.Fatal(err)
	}
	if got := since(); got != 0 {
		t.Errorf("publications since the year 3000: %d", got)
	}

	o.StartYear, o.Auth.APIKey = 2000, "new"
	if err := s.Server.Adopt(o); err != nil {
		t.Fatal(err)
	}
	if got := s.Get("/api/html").StatusCode; got != 403 {
		t.Errorf("without the new key: status %d", got)
	}
	if got := *s.Get("/api/html?apikey=new").Envelope(t).Count; got != all {
		t.Errorf("with the new key: %d publications, want %d", got, all)
	}
	if got := s.Get("/healthz").StatusCode; got != 200 {
		t.Errorf("healthz: status %d", got)
	}
}

// TestAdoptRights: so do labels and rights.
func TestAdoptRights(t *testing.T) {
	o := proxytest.Options(t)
	o.Access = access.New(access.Options{Anonymous: []access.Permission{access.PortfolioSpectrum}})
	s := proxytest.Open(t, personal(t), o)
	o.Labels = label.Sets{label.Text: {"User not found": {EN: "No such person"}}}
	if err := s.Server.Adopt(o); err != nil {
		t.Fatal(err)
	}
	if got := s.Get("/api/users/unknown-user").Envelope(t).Msg; got != "No such person" {
		t.Errorf("label: got %q", got)
	}

	rights := access.New(access.Options{})
	if *s.Get("/portfolio/spectrum").Envelope(t).Count == 0 {
		t.Fatal("no topics to begin with")
	}
	o.Access = rights
	if err := s.Server.Adopt(o); err != nil {
		t.Fatal(err)
	}
	if got := *s.Get("/portfolio/spectrum").Envelope(t).Count; got != 0 {
		t.Errorf("%d topics without the right to see them", got)
	}
}

func TestAdoptRefuses(t *testing.T) {
	o := proxytest.Options(t)
	s := proxytest.Open(t, proxytest.Institute(t), o)
	o.Auth.APIKey, o.CORS.Credentials, o.CORS.Origins = "new", true, []string{"*"}
	if err := s.Server.Adopt(o); err == nil || !strings.Contains(err.Error(), "*") {
		t.Errorf("credentials are allowed for all sites: %v", err)
	}
	if got := s.Get("/api/activities").StatusCode; got != 200 {
		t.Errorf("with the former options: status %d", got)
	}
}

// TestAdoptUnderTraffic: every answer uses exactly one version of the options.
func TestAdoptUnderTraffic(t *testing.T) {
	o := proxytest.Options(t)
	s := proxytest.Open(t, proxytest.Institute(t), o)
	var parts sync.WaitGroup
	defer parts.Wait()
	for range 4 {
		parts.Go(func() {
			for range 30 {
				if got := s.Get("/api/html").StatusCode; got != 200 && got != 403 {
					t.Errorf("status %d", got)
				}
			}
		})
	}
	for i := range 30 {
		o.Auth.APIKey = strings.Repeat("k", i%2)
		if err := s.Server.Adopt(o); err != nil {
			t.Error(err)
		}
	}
}
