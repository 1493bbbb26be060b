package response_test

import (
	"cmp"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/view"
	"vitrine/configs"
	"vitrine/proxy"
	"vitrine/proxy/auth"
	"vitrine/proxy/proxytest"
	"vitrine/rules"
	"vitrine/rules/access"
	"vitrine/rules/raw"
	"vitrine/rules/views"
)

// kinds has a request for every kind of answer. CHANGED, NEW and GONE stand for the number of a record that the next
// generation of each view changes, adds or lacks.
var kinds = []string{
	"/api/activities", "/api/activities?full=1", "/api/activities?columns[]=title&columns[]=web&lang=de&limit=50",
	"/api/activities?aggregate=authors.user", `/api/activities?json={"year":{"$gte":2020}}&limit=9&offset=3`,
	"/api/html", "/api/html?limit=5", "/api/projects", "/api/projects?full=1", "/api/projects?formatted=1",
	"/api/projects?aggregate=units&lang=de", "/api/proposals", "/api/proposals?formatted=1", "/api/all-activities",
	"/api/all-activities?page=portal&path=https://site.example",
	"/api/all-activities?page=my-activities&user=gzwielic", "session /api/all-activities?page=my-activities",
	"session /api/projects", "/api/spectrum-activities?spectrum=Soil",
	"/api/levenshtein?title=Version of record CHANGED", "/api/users/PERSON-CHANGED", "/api/users/PERSON-GONE",
	"/api/users/PERSON-NEW", "/api/user-units/UNITS-CHANGED", "/api/user-units/UNITS-GONE?lang=de", "/api/events",
	"/api/conferences", "/api/deadlines", "/portfolio/spectrum", "/portfolio/spectrum?limit=2",
	"/api/projects-by-funding-number?number=LF-980046,F", "/api/search/proposals",
	"/api/search/projects?columns[]=persons.user&limit=40", "/api/search/journals", "/api/search/persons",
	"/api/search/activities?aggregate=authors.last&aggregate_function=sum&aggregate_value=year",
	"/api/search/activities?columns[]=authors.last&limit=9", "/api/search/conferences",
	"/api/search/activities?aggregate=type", "/", "/lists", "/lists?q=rest&lang=de", "/lists.json",
	"/lists.json?limit=3", "/sitemap.xml", "/sitemap.xml?part=1", "/sitemap.xml?part=2", "/robots.txt",
	"/oembed?url=https://data.example/lists/activities", "/oembed?url=https://data.example/items/ACTIVITIES-CHANGED",
	"/oembed?url=https://data.example/lists/unit/MOTH", "/lists/activities", "/lists/activities.html",
	"/lists/activities.json?q=version&group=year", "/lists/activities.bib", "/lists/activities.ris",
	"/lists/activities.csl.json", "/lists/activities.csv", "/lists/activities.jsonld", "/lists/activities.atom",
	"/lists/activities.rss", "/lists/activities.feed.json", "/lists/projects", "/lists/projects.json",
	"/lists/events", "/lists/events.json", "/lists/recent.json", "/lists/people", "/lists/people.json",
	"/lists/unit/MOTH", "/lists/unit/MOTH.bib", "/lists/person/gzwielic.json", "/lists/project/PROJECT-CHANGED",
	"/lists/project/PROJECT-NEW.json", "/lists/project/PROJECT-GONE.json", "/lists/topic/rest",
	"/lists/activities.json?ids=ACTIVITIES-GONE,ACTIVITIES-CHANGED", "/items/ACTIVITIES-CHANGED",
	"/items/ACTIVITIES-CHANGED.json", "/items/ACTIVITIES-CHANGED.bib", "/items/ACTIVITIES-GONE",
	"/items/ACTIVITIES-NEW", "/items/PROJECTS-CHANGED", "/items/PROJECTS-GONE.json", "/items/EVENTS-CHANGED.json",
	"/items/MOVED.json", "/api/activities?q=version&sort=-year,title", "/api/search/activities?q=record&sort=title",
	"/lists/persons", "/lists/persons.json?unit=MOTH&deep=1", "/lists/person/gzwielic",
	"/lists/activities?group=year&jump=1&numbered=1&limit=5",
}

// without are the routes whose answers come from no view.
var without = []string{
	"/healthz", "/livez", "/readyz", "/favicon.ico", "/openapi.json", "/openapi-3.0.json",
	"/docs", "/docs/embedding", "/docs/records",
	"/api/citation-index",
}

// versions are records of each view. NUMBER is that of the record, VERSION that of its text.
var versions = map[string]string{
	rules.ViewActivities: `{"_id": "ACTIVITIES-NUMBER", "type": "publication", "subtype": "article",
		"title": "Version VERSION of record NUMBER", "year": 2024, "created": "2024-05-0VERSION", "affiliated": true,
		"units": ["MOTH"], "topics": ["rest"], "projects": ["PROJECT-NUMBER", "MOTHLAMP"],
		"authors": [{"last": "LastVERSION", "first": "A", "user": "gzwielic", "affiliated": true, "aoi": true}],
		"spectrum": [{"display_name": "Soil", "score": 0.VERSION}],
		"rendered": {"web": "<b>Version VERSION of record NUMBER</b>", "print": "VERSION NUMBER", "type": "Publication",
			"users": ["gzwielic", "fdammerl"]}}`,
	rules.ViewProjects: `{"_id": "PROJECTS-NUMBER", "name": "PROJECT-NUMBER", "title": "Version VERSION of record NUMBER",
		"public": true, "type": "third-party", "start_date": "2024-01-0VERSION", "end_date": "2024-12-31",
		"units": ["MOTH"], "topics": ["rest"], "funding_number": "F", "persons": [{"user": "fdammerl", "name": "F"}]}`,
	rules.ViewProposals: `{"_id": "PROPOSALS-NUMBER", "name": "PROPOSAL-NUMBER", "title": "Version VERSION",
		"persons": [{"user": "fdammerl"}]}`,
	rules.ViewJournals: `{"_id": "JOURNALS-NUMBER", "journal": "Version VERSION of record NUMBER"}`,
	rules.ViewEvents: `{"_id": "EVENTS-NUMBER", "title": "Version VERSION of record NUMBER",
		"start": "2024-03-0VERSION", "type": "workshop"}`,
	rules.ViewDeadlines: `{"_id": "DEADLINES-NUMBER", "title": "Version VERSION", "start": "2024-03-0VERSION"}`,
	rules.ViewPersons: `{"_id": "PERSONS-NUMBER", "username": "PERSON-NUMBER", "first": "Version", "last": "VERSION",
		"units": [{"unit": "MOTH", "start": "2020-01-01", "end": null}]}`,
	rules.ViewUserUnits: `{"_id": "UNITS-NUMBER", "username": "UNITS-NUMBER", "name": "Version VERSION", "units": []}`,
	rules.ViewSpectrum:  `{"_id": "TOPIC-NUMBER", "id": "TOPIC-NUMBER", "name": "Version VERSION", "count": VERSION}`,
}

// replaced replaces the words for numbers in a text.
func replaced(text string, words ...any) string {
	for i := 0; i < len(words); i += 2 {
		text = strings.ReplaceAll(text, words[i].(string), fmt.Sprint(words[i+1]))
	}
	return text
}

// change publishes, in a round, the records of a view: new ones, one changed and one withdrawn. One record moves
// between projects and events in each round.
func change(t *testing.T, s *proxytest.Store, view string, round int) {
	t.Helper()
	record := func(number, version any) {
		s.PublishMarked(t, view,
			proxytest.Parse(t, replaced(versions[view], "NUMBER", number, "VERSION", version))...)
	}
	record(round, 1)
	record(round+1000, 1) // this one stays, so that counts change
	if round > 1 {
		record(round-1, 2)
		id := map[string]string{rules.ViewUserUnits: "UNITS", rules.ViewSpectrum: "TOPIC"}[view]
		s.Withdraw(view, raw.NewString(cmp.Or(id, strings.ToUpper(view))+fmt.Sprint("-", round-2)))
	}
	switch moves := []string{rules.ViewProjects, rules.ViewEvents}; {
	case moves[round%2] == view:
		text := strings.ReplaceAll(versions[view], strings.ToUpper(view)+"-NUMBER", "MOVED")
		s.PublishMarked(t, view, proxytest.Parse(t, replaced(text, "NUMBER", "M", "VERSION", 1))...)
	case slices.Contains(moves, view):
		s.Withdraw(view, raw.NewString("MOVED"))
	}
}

// popularOptions returns options with a session secret, by which callers may see all records, and with lists of a
// rolling year and of persons.
func popularOptions(t *testing.T, secret []byte) proxy.Options {
	o := proxytest.ListOptions(t)
	o.Auth.Session = auth.SessionOptions{Secret: secret}
	o.Access = access.New(access.Options{Anonymous: access.Permissions()})
	o.Lists.Named = proxytest.Named(map[string]configs.NamedList{
		"recent": {View: rules.ViewActivities, Select: "year=last3"},
		"people": {View: rules.ViewPersons},
	})
	return o
}

// TestPopularAnswersShowEveryChange: after each view has changed, every kind of popular answer is the one of a server
// that has just started with the same records, whether or not it was prepared.
func TestPopularAnswersShowEveryChange(t *testing.T) {
	proxytest.WholeOnly(t)
	few := func(_ string, docs []bson.Raw) []bson.Raw { return docs[:min(len(docs), 40)] }
	store, secret := proxytest.ListStore(t, few), []byte("session secret")
	for view := range versions {
		change(t, store, view, 0)
		change(t, store, view, 1)
	}
	totals := `{"_id": {"$numberInt": "0"}, "activities": 5, "topics": 2, "catalogue": true}`
	store.Publish(rules.ViewSpectrum, proxytest.Parse(t, totals)...)
	open := func() *proxytest.Site {
		return proxytest.OpenViews(t, store, popularOptions(t, secret), proxytest.ListViews(t), 0)
	}
	ask := func(s *proxytest.Site, target string) proxytest.Response {
		t.Helper()
		target, session := strings.CutPrefix(target, "session ")
		req := httptest.NewRequest(http.MethodGet, strings.ReplaceAll(target, " ", "%20"), nil)
		req.Header.Set("Accept", "text/html")
		if session {
			req.Header.Set("Authorization", "Bearer "+proxytest.Token(t, "fdammerl", secret))
		}
		return s.Exchange(req)
	}
	s, prepared := open(), map[string]bool{}
	const together, often = 12, 200 // a sample of the requests is remembered: of these, hardly a kind is left out
	round := 1
	for group := range slices.Chunk(kinds, together) {
		round++
		group = slices.Clone(group)
		for i := range group {
			group[i] = replaced(group[i], "CHANGED", round-1, "NEW", round, "GONE", round-2)
		}
		for range often {
			for _, target := range group {
				ask(s, target)
			}
		}
		for _, view := range views.All() { // one after the other, so that no answer is wrong for a moment only
			change(t, store, view.Name, round)
			s.Await(view.Name)
			settle(s)
			fresh := inMemory(open)
			for _, target := range group {
				got, want := ask(s, target), ask(fresh, target)
				prepared[target] = prepared[target] || got.Header.Get("Cache-Status") == "vitrine; hit"
				same(t, fmt.Sprintf("%s after %s", target, view.Name), got, want)
			}
		}
	}
	t.Logf("%d of %d answers were in memory", len(prepared), len(kinds))
}

// inMemory opens a site with views in memory, wherever those of the test are.
func inMemory(open func() *proxytest.Site) *proxytest.Site {
	defer func(are view.Mode) { proxytest.ViewsAre = are }(proxytest.ViewsAre)
	proxytest.ViewsAre = view.Memory
	return open()
}

// same compares an answer with the one of a new server.
func same(t *testing.T, target string, got, want proxytest.Response) {
	t.Helper()
	if got.StatusCode != want.StatusCode || string(got.Body) != string(want.Body) {
		t.Errorf("%s: %d, a new server answers %d%s", target, got.StatusCode, want.StatusCode,
			apart(got.Body, want.Body))
	}
	for _, name := range []string{"Content-Type", "Etag", "Last-Modified", "Link", "Vitrine-Ignored",
		"Cache-Control"} {
		if got, want := got.Header.Get(name), want.Header.Get(name); got != want {
			t.Errorf("%s: %s is %q, from a new server %q", target, name, got, want)
		}
	}
}

// settle waits until the refreshes have ended whose generations are visible, and with them the preparation of
// answers.
func settle(s *proxytest.Site) {
	for i, before := range s.Views.Status() {
		for s.Views.Notify(before.View); s.Views.Status()[i].Checked.Equal(before.Checked); {
			runtime.Gosched()
		}
	}
}

// apart quotes two texts from where they differ.
func apart(got, want []byte) string {
	at := 0
	for at < min(len(got), len(want)) && got[at] == want[at] {
		at++
	}
	at = max(at-60, 0)
	return fmt.Sprintf("\n got …%.200s\nwant …%.200s", got[at:], want[at:])
}

// TestEveryKindIsAsked: each route is in kinds or without.
func TestEveryKindIsAsked(t *testing.T) {
	s := proxytest.OpenLists(t, nil)
	parameter := regexp.MustCompile(`:\w+`)
	for _, r := range s.Server.App().GetRoutes(true) {
		if r.Method != http.MethodGet || slices.Contains(without, r.Path) {
			continue
		}
		asked := slices.ContainsFunc(kinds, func(target string) bool {
			target, _, _ = strings.Cut(strings.TrimPrefix(target, "session "), "?")
			matches, _ := path.Match(parameter.ReplaceAllString(r.Path, "?*"), target)
			return matches
		})
		if !asked {
			t.Errorf("no request for %s", r.Path)
		}
	}
}
