package api_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"path/filepath"
	"testing"

	"vitrine/proxy/proxytest"
)

// TestHoldingsGolden compares whole answers, each checked by hand against the API's description. What it leaves open,
// the default columns of proposals, activities and conferences and the rendered columns of activities, was checked
// against the rows of an OSIRIS 2.0.1 (docs/decisions.md: Rows of OSIRIS).
func TestHoldingsGolden(t *testing.T) {
	q := url.QueryEscape
	s := proxytest.Open(t, holdings(t), holdingsOptions(t))
	tests := []struct{ name, target string }{
		{"projects", "/api/projects"},
		{"projects_german", "/api/projects?lang=de&limit=1&offset=1"},
		{"projects_raw", "/api/projects?raw=0"},
		{"projects_columns",
			"/api/projects?columns[]=_id&columns[]=name&columns[]=public&columns[]=budget&columns[]=collaborators&" +
				"columns[]=persons.user&columns[]=collaborators2.x&columns[]=status"},
		{"projects_columns_id", "/api/projects?columns[]=name&columns[]=id"},
		{"projects_columns_raw", "/api/projects?raw&columns=_id,proposal_id,persons.user,collaborators.name"},
		{"projects_aggregate", "/api/projects?aggregate=type"},
		{"projects_aggregate_persons", "/api/projects?aggregate=persons.user&full&formatted&raw"},
		{"projects_aggregate_collaborators", "/api/projects?aggregate=collaborators.country&limit=1"},
		{"projects_full", "/api/projects?full=0&columns[]=name&limit=1&offset=1&formatted=1"},
		{"projects_search", "/api/projects?search=" + q(" ^MOTHS|owls ") + "&json=" + q(`{"name":"DUST"}`)},
		{"proposals", "/api/proposals?raw=1"},
		{"proposals_full", "/api/proposals?full"},
		{"search_proposals", "/api/search/proposals"},
		{"search_proposals_raw", "/api/search/proposals?raw&limit=2"},
		{"search_proposals_columns",
			"/api/search/proposals?columns[]=name&columns[]=persons.user&columns[]=units&columns[]=title&raw"},
		{"search_proposals_columns_shown",
			"/api/search/proposals?columns[]=id&columns[]=persons&columns[]=topics&limit=3&offset=2"},
		{"search_proposals_count", "/api/search/proposals?aggregate=units"},
		{"search_proposals_sum",
			"/api/search/proposals?aggregate=status&aggregate_function=sum&aggregate_value=budget"},
		{"search_proposals_mean",
			"/api/search/proposals?aggregate=units&aggregate_function=mean&aggregate_value=budget"},
		{"search_proposals_median",
			"/api/search/proposals?aggregate=status&aggregate_function=median&aggregate_value=budget"},
		{"search_projects", "/api/search/projects?json=" + q(`{"public":true}`)},
		{"search_projects_sum", "/api/search/projects?aggregate=type&aggregate_function=sum&aggregate_value=budget"},
		{"search_journals", "/api/search/journals"},
		{"search_journals_impact", "/api/search/journals?columns[]=journal&columns[]=impact.impact"},
		{"search_journals_mean",
			"/api/search/journals?aggregate=publisher&aggregate_function=mean&aggregate_value=impact.impact"},
		{"search_journals_median",
			"/api/search/journals?aggregate=impact.year&aggregate_function=median&aggregate_value=impact.impact&" +
				"limit=2"},
		{"search_persons", "/api/search/persons"},
		{"search_persons_units", "/api/search/persons?columns[]=last&columns[]=units.unit"},
		{"search_activities", "/api/search/activities"},
		{"search_activities_columns",
			"/api/search/activities?columns[]=web&columns[]=type&columns[]=subtype&columns[]=authors&" +
				"columns[]=editors&columns[]=supervisors&columns[]=title&" +
				"columns[]=departments&columns[]=id&columns[]=year&lang=de"},
		{"search_activities_authors",
			"/api/search/activities?columns[]=title&columns[]=authors.last&columns[]=metrics.kind&limit=4"},
		{"search_conferences", "/api/search/conferences"},
		{"funding_number", "/api/projects-by-funding-number?number=EU-1"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			res := s.Get(tt.target)
			if res.StatusCode != http.StatusOK || !json.Valid(res.Body) {
				t.Fatalf("status %d: %s", res.StatusCode, res.Body)
			}
			compare(t, filepath.Join("testdata", "golden", tt.name+".json"), res.Body)
		})
	}
}
