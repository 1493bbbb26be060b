package proxy_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"path/filepath"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/proxy"
	"vitrine/rules"
	"vitrine/rules/access"
	"vitrine/rules/display"
	"vitrine/rules/label"
)

// ofHoldings reads a collection of the small set that projects, proposals and
// searches are tested on.
func ofHoldings(t testing.TB, collection string) []bson.Raw {
	t.Helper()
	return documents(t, "testdata/holdings/"+collection+".jsonl")
}

// holdings is a store with the views of that set, as their jobs make them.
func holdings(t testing.TB) *store {
	t.Helper()
	s := newStore()
	directory := display.NewDirectory(ofHoldings(t, "organizations"), ofHoldings(t, "persons"))
	for view, collection := range map[string]string{rules.ViewProjects: "projects", rules.ViewProposals: "proposals"} {
		for _, record := range ofHoldings(t, collection) {
			s.publish(view, resolved(t, directory, record))
		}
	}
	s.publish(rules.ViewJournals, ofHoldings(t, "journals")...)
	s.publish(rules.ViewPersons, ofHoldings(t, "persons")...)
	s.publish(rules.ViewActivities, ofHoldings(t, "activities")...)
	s.publish(rules.ViewEvents, ofHoldings(t, "conferences")...)
	return s
}

// resolved is a record's row.
func resolved(t testing.TB, d *display.Directory, record bson.Raw) bson.Raw {
	t.Helper()
	names := d.Resolve(record)
	if names == nil {
		return record
	}
	elements, err := record.Elements()
	if err != nil {
		t.Fatal(err)
	}
	row := bson.D{}
	for _, e := range elements {
		row = append(row, bson.E{Key: e.Key(), Value: e.Value()})
	}
	raw, err := bson.Marshal(append(row, bson.E{Key: display.Reserved, Value: names}))
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// holdingsOptions let all callers see everything, in English.
func holdingsOptions(t testing.TB) proxy.Options {
	t.Helper()
	rights := access.New(access.Options{Anonymous: []access.Permission{access.ProjectsView, access.ProposalsView}})
	o := options(t)
	o.Access = rights
	o.Labels = label.Sets{
		label.ProjectType:   {"third-party": {EN: "Third-party funded", DE: "Drittmittel"}, "own": {EN: "Own", DE: "Eigen"}},
		label.Funder:        {"eu": {EN: "European Union", DE: "Europäische Union"}},
		label.ProjectRole:   {"partner": {EN: "Partner"}},
		label.ProjectStatus: {"ongoing": {EN: "Ongoing", DE: "Laufend"}},
		label.Text:          {"today": {EN: "today", DE: "heute"}},
	}
	return o
}

// TestHoldingsGolden compares whole answers, each checked by hand against API.md.
func TestHoldingsGolden(t *testing.T) {
	q := url.QueryEscape
	s := open(t, holdings(t), holdingsOptions(t))
	tests := []struct{ name, target string }{
		{"projects", "/api/projects"},
		{"projects_german", "/api/projects?lang=de&limit=1&offset=1"},
		{"projects_raw", "/api/projects?raw=0"},
		{"projects_columns", "/api/projects?columns[]=_id&columns[]=name&columns[]=public&columns[]=budget&columns[]=collaborators&columns[]=persons.user&columns[]=collaborators2.x&columns[]=status"},
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
		{"search_proposals_columns", "/api/search/proposals?columns[]=name&columns[]=persons.user&columns[]=units&columns[]=title&raw"},
		{"search_proposals_columns_shown", "/api/search/proposals?columns[]=id&columns[]=persons&columns[]=topics&limit=3&offset=2"},
		{"search_proposals_count", "/api/search/proposals?aggregate=units"},
		{"search_proposals_sum", "/api/search/proposals?aggregate=status&aggregate_function=sum&aggregate_value=budget"},
		{"search_proposals_mean", "/api/search/proposals?aggregate=units&aggregate_function=mean&aggregate_value=budget"},
		{"search_proposals_median", "/api/search/proposals?aggregate=status&aggregate_function=median&aggregate_value=budget"},
		{"search_projects", "/api/search/projects?json=" + q(`{"public":true}`)},
		{"search_projects_sum", "/api/search/projects?aggregate=type&aggregate_function=sum&aggregate_value=budget"},
		{"search_journals", "/api/search/journals"},
		{"search_journals_impact", "/api/search/journals?columns[]=journal&columns[]=impact.impact"},
		{"search_journals_mean", "/api/search/journals?aggregate=publisher&aggregate_function=mean&aggregate_value=impact.impact"},
		{"search_journals_median", "/api/search/journals?aggregate=impact.year&aggregate_function=median&aggregate_value=impact.impact&limit=2"},
		{"search_persons", "/api/search/persons"},
		{"search_persons_units", "/api/search/persons?columns[]=last&columns[]=units.unit"},
		{"search_activities", "/api/search/activities"},
		{"search_activities_authors", "/api/search/activities?columns[]=title&columns[]=authors.last&columns[]=metrics.kind&limit=4"},
		{"search_conferences", "/api/search/conferences"},
		{"funding_number", "/api/projects-by-funding-number?number=EU-1"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			res := s.get(tt.target)
			if res.StatusCode != http.StatusOK || !json.Valid(res.body) {
				t.Fatalf("status %d: %s", res.StatusCode, res.body)
			}
			compare(t, filepath.Join("testdata", "golden", tt.name+".json"), res.body)
		})
	}
}
