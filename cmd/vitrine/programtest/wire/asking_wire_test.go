package wire

import (
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/origin/mongo/mongotest"
	"vitrine/cmd/vitrine/programtest"
)

// mostCommands is how many commands a new list may send to the store. That of a person also reads the card, from
// another view: one query more, which is a command and another to check the generation.
const mostCommands, mostOfPerson = 6, 6 + 2

// commandLog keeps the commands that pass a proxy.
type commandLog struct {
	mu    sync.Mutex // guards names
	names []string   // of the commands and their collections
}

// take returns the commands since the last call.
func (s *commandLog) take() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	names := s.names
	s.names = nil
	return names
}

func (s *commandLog) note(command bson.Raw) bool {
	first, err := command.IndexErr(0)
	if err != nil {
		return true
	}
	what, _ := first.Value().StringValueOK()
	if of, ok := command.Lookup("collection").StringValueOK(); ok {
		what = of // of getMore, whose own value is the cursor
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.names = append(s.names, first.Key()+" "+what)
	return true
}

// startStoring starts a front end whose views stay in a MongoDB-compatible server behind a proxy, with some records
// of the demo. It polls so seldom that all commands are for requests.
func startStoring(t *testing.T, records int) (*programtest.Server, *mongotest.Proxy) {
	t.Helper()
	uri := mongotest.Start(t)
	dir := t.TempDir()
	copySources(t, dir, uri, records)
	programtest.Setenv(dir, "VITRINE_MONGO_BATCH", "50")
	programtest.Setenv(dir, "VITRINE_ACCESS_ANONYMOUS", "projects.view,proposals.view,portfolio-spectrum")
	programtest.Run(t, dir, "materialize", "--store", uri+costDatabase)
	programtest.Setenv(dir, "VITRINE_VIEWS_POLL", "1h")
	network := mongotest.NewProxy(t, uri)
	args := []string{"--store", network.URI() + "institute", "--no-materialize", "--views-mode", "store"}
	return programtest.Start(t, dir, args...).Ready(), network
}

// listForms are usual parameters of lists.
var listForms = map[string]string{
	"unit": "unit=MOTH", "person": "person=ssandman", "project": "project=unknown",
	"search": "q=moth+of", "year": "sort=-year", "type": "type=publication&subtype=article",
	"grouped": "unit=MOTH&group=year&limit=30", "page": "group=year&limit=10&page=2",
	"facets": "facets=unit,person,type,year&type=publication",
}

// rareForms are each other way to select, divide and sort rows and to count facets.
var rareForms = map[string]string{
	"by type": "group=type", "by type, later": "group=type&page=3&limit=20", "by subtype": "group=subtype&limit=100",
	"by unit": "group=unit&limit=60", "by person": "group=person&limit=50",
	"by project":       "group=project&page=2&limit=7",
	"by person, later": "group=person&page=4&limit=30", "by unit, ascending": "group=unit&sort=year&limit=60",
	"by year, then type": "group=year,type&limit=50", "by type, then year": "group=type,year&page=2&limit=20",
	"by unit, then person": "group=unit,person&limit=50", "by year, ascending": "group=year&sort=year&limit=100",
	"sorted by year": "sort=year&limit=100", "sorted by title": "sort=title", "sorted by author": "sort=-author",
	"sorted by type": "sort=type&limit=100", "sorted by date added": "sort=-added",
	"titles in types": "group=type&sort=title&limit=60", "types in units": "group=unit&sort=-type&limit=60",
	"a choice":         "and.type=publication",
	"choices":          "and.type=publication&and.year=2015..&facets=year,type,unit&limit=10",
	"choices in units": "and.type=publication&and.unit=MOTH&facets=type,unit,year&group=unit&limit=60",
	"words within":     "type=publication&and.q=of&and.year=2015..",
	"search in groups": "q=of&group=type&sort=relevance",
	"by relevance":     "q=of&sort=relevance", "far page by relevance": "q=of&sort=relevance&page=9&limit=30",
	"deep": "unit=MOTH&deep=1&facets=unit", "chart": "chart=1&group=type",
	"all facets": "facets=year,type,subtype,unit,person,project,topic,keyword,oa", "many": "limit=500",
}

// otherForms are lists of other views and about subjects, and formats that show other parts of a list.
var otherForms = []string{
	"projects.json?group=type", "events.json?sort=year", "projects?and.type=nix",
	"unit/MOTH.json?sort=-year", "person/ssandman.json?group=type",
	"activities?and.type=publication&and.year=2015..&group=unit",
	"activities.atom?type=publication", "activities.csv?group=none&sort=type", "activities.ris?sort=title",
	"activities.jsonld?unit=MOTH", "unit/MOTH.bib?sort=year", "activities.json?ids=hints-1,nix",
}

// TestCommandsOfLists counts the commands that a new list of each form sends to the store.
func TestCommandsOfLists(t *testing.T) {
	t.Parallel()
	s, network := startStoring(t, 120)
	var seen commandLog
	network.Set(mongotest.Fault{Request: seen.note})
	ask := func(path string) (status int, body string, commands []string) {
		status, body = programtest.AskInTime(s, func(try string) string {
			seen.take()
			return path + try
		})
		return status, body, seen.take()
	}
	ask("/lists/activities.html?limit=1&not.person=first") // what all lists need once
	for _, list := range []string{"activities", "unit/MOTH", "person/ssandman"} {
		ask("/lists/" + list + ".json?facets=year&limit=1&not.person=first")
	}
	count := func(form, path string) {
		status, body, commands := ask(path)
		most := mostCommands
		if strings.HasPrefix(path, "/lists/person/") {
			most = mostOfPerson
		}
		t.Logf("count: %d commands for a new list by %s", len(commands), form)
		if slices.Sort(commands); status != 200 || len(commands) > most {
			t.Errorf("%s: %d %.100s, commands\n  %s", path, status, body, strings.Join(commands, "\n  "))
		}
	}
	// No two lists select the same rows, as far as the program can tell: they would share counts.
	path := func(form, parameters, format string) string {
		return fmt.Sprintf("/lists/activities.%s?%s&not.person=%s", format, parameters, url.QueryEscape(form+format))
	}
	for _, form := range slices.Sorted(maps.Keys(listForms)) {
		for _, format := range []string{"json", "html", "bib"} {
			count(form+" as "+format, path(form, listForms[form], format))
		}
	}
	for _, form := range slices.Sorted(maps.Keys(rareForms)) {
		count(form, path(form, rareForms[form], "json")) // which has facets beside rows and groups
	}
	for i, form := range otherForms {
		count(form, fmt.Sprintf("/lists/%s&not.person=other%d", form, i))
	}
}

// TestCrowdOfLists asks for 64 new lists at once, of a store that reads all rows for each. Each is answered, or
// refused with the time until its turn would come: none waits in vain until the time for requests is over.
func TestCrowdOfLists(t *testing.T) {
	t.Parallel()
	s, _ := startStoring(t, 200)
	// what all lists need once
	programtest.AskInTime(s, func(string) string { return "/lists/activities.html?limit=1" })
	var began time.Time
	status, body := programtest.AskInTime(s, func(try string) string {
		began = time.Now()
		return "/lists/activities.html?type=publication&not.person=alone" + try
	})
	alone := time.Since(began)
	if status != http.StatusOK {
		t.Fatalf("a list alone, after %v: %d %.200s", alone, status, body)
	}
	t.Logf("a list alone takes %v", alone)
	var mu sync.Mutex
	var answered, refused, vain int
	var clients sync.WaitGroup
	for i := range 64 {
		clients.Go(func() {
			res, body := programtest.Ask(t,
				fmt.Sprintf("%s/lists/activities.html?type=publication&not.person=other%d", s.Base, i))
			mu.Lock()
			defer mu.Unlock()
			switch {
			case res.StatusCode == http.StatusOK:
				answered++
			case res.StatusCode == http.StatusServiceUnavailable && res.Header.Get("Retry-After") != "":
				refused++
			default:
				t.Errorf("%d %.200s", res.StatusCode, body)
			}
		})
	}
	clients.Wait()
	for line := range strings.Lines(s.Log()) {
		if strings.Contains(line, "deadline exceeded") {
			vain++
		}
	}
	t.Logf("count: of 64 clients with a new list each, %d answered, %d refused, %d in vain", answered, refused, vain)
	// On a machine that does nothing else for seconds, an admitted list can be late, but not most of them. If lists
	// are so slow that those which the store reads at a time make each other late, these are the first ones.
	const atATime, limit = 4, 10 * time.Second
	late := 0
	if alone > limit/atATime {
		late = atATime
	}
	if answered+late == 0 || vain > answered+late {
		t.Errorf("%d answered, %d in vain; alone %v", answered, vain, alone)
	}
}
