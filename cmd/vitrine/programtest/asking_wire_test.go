package programtest

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/origin/mongo/mongotest"
)

// mostCommands is how many commands a new list may send to the store.
const mostCommands = 6

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

// startStoring starts a front end whose views stay in a MongoDB-compatible server behind a proxy, with some records of
// the demo. It polls so seldom that all commands are for requests.
func startStoring(t *testing.T, records int) (*server, *mongotest.Proxy) {
	t.Helper()
	uri := mongotest.Start(t)
	dir := t.TempDir()
	copySources(t, dir, uri, records)
	set(dir, "VITRINE_MONGO_BATCH", "50")
	set(dir, "VITRINE_ACCESS_ANONYMOUS", "projects.view,proposals.view,portfolio-spectrum")
	vitrine(t, dir, "materialize", "--store", uri+costDatabase)
	set(dir, "VITRINE_VIEWS_POLL", "1h")
	network := mongotest.NewProxy(t, uri)
	args := []string{"--store", network.URI() + "institute", "--no-materialize", "--views-mode", "store"}
	return startServer(t, dir, args...).ready(), network
}

// TestCommandsOfLists counts the commands that a new list of each usual form sends to the store.
func TestCommandsOfLists(t *testing.T) {
	t.Parallel()
	s, network := startStoring(t, 120)
	var seen commandLog
	network.Set(mongotest.Fault{Request: seen.note})
	s.get("/lists/activities.html?limit=1") // what all lists need once
	s.get("/lists/activities.json?facets=year&limit=1")
	seen.take()
	forms := map[string]string{
		"unit": "unit=MOTH", "person": "person=ssandman", "project": "project=unknown",
		"search": "q=moth+of", "year": "sort=-year", "type": "type=publication&subtype=article",
		"grouped": "unit=MOTH&group=year&limit=30", "page": "group=year&limit=10&page=2",
		"facets": "facets=unit,person,type,year&type=publication",
	}
	for i, format := range []string{"json", "html", "bib"} {
		for _, form := range slices.Sorted(maps.Keys(forms)) {
			// No two lists select the same rows, as far as the program can tell: they would share counts.
			path := fmt.Sprintf("/lists/activities.%s?%s&not.person=%s%d", format, forms[form], form, i)
			status, body := s.get(path)
			commands := seen.take()
			t.Logf("count: %d commands for a new list by %s as %s", len(commands), form, format)
			if slices.Sort(commands); status != 200 || len(commands) > mostCommands {
				t.Errorf("%s: %d %.100s, commands\n  %s", path, status, body, strings.Join(commands, "\n  "))
			}
		}
	}
}

// TestCrowdOfLists asks for 64 new lists at once, of a store that reads all rows for each. Each is answered, or
// refused with the time until its turn would come: none waits in vain until the time for requests is over.
func TestCrowdOfLists(t *testing.T) {
	t.Parallel()
	s, _ := startStoring(t, 200)
	s.get("/lists/activities.html?limit=1") // what all lists need once
	began := time.Now()
	if res, body := ask(t, s.base+"/lists/activities.html?type=publication"); res.StatusCode != http.StatusOK {
		t.Fatalf("a list alone, after %v: %d %.200s", time.Since(began), res.StatusCode, body)
	}
	t.Logf("a list alone takes %v", time.Since(began))
	var mu sync.Mutex
	var answered, refused, vain int
	var clients sync.WaitGroup
	for i := range 64 {
		clients.Go(func() {
			res, body := ask(t, fmt.Sprintf("%s/lists/activities.html?type=publication&not.person=other%d", s.base, i))
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
	for line := range strings.Lines(s.logged()) {
		if strings.Contains(line, "deadline exceeded") {
			vain++
		}
	}
	t.Logf("count: of 64 clients with a new list each, %d answered, %d refused, %d in vain", answered, refused, vain)
	// On a machine that does nothing else for seconds, an admitted list can be late, but not most of them.
	if answered == 0 || vain > answered {
		t.Errorf("%d answered, %d in vain", answered, vain)
	}
}
