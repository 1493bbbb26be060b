package stores

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	driver "go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"vitrine/cache/origin/mongo/mongotest"
	"vitrine/cmd/vitrine/programtest"
)

// polls watches the commands that a front end sends, and can keep it from polling.
type polls struct {
	mu       sync.Mutex
	open     chan struct{} // closed unless polls wait
	commands []string      // since the last reset
	polls    int           // finds of all metas
}

// firstOfPoll is how commands names the find of all metas, which begins each poll.
const firstOfPoll = "find all metas"

func newPolls() *polls {
	p := &polls{open: make(chan struct{})}
	close(p.open)
	return p
}

// see is a mongotest.Fault.Request. A poll that must wait is let through once polls are released.
func (p *polls) see(command bson.Raw) bool {
	first, err := command.IndexErr(0)
	if err != nil {
		return true
	}
	name, isPoll := first.Key(), false
	if of, ok := first.Value().StringValueOK(); ok {
		filter, _ := command.Lookup("filter").DocumentOK()
		elements, _ := filter.Elements()
		if name += " " + of; name == "find view_meta" && len(elements) == 0 {
			name, isPoll = firstOfPoll, true
		}
	}
	p.mu.Lock()
	p.commands = append(p.commands, name)
	if isPoll {
		p.polls++
	}
	open := p.open
	p.mu.Unlock()
	if isPoll {
		<-open
	}
	return true
}

// stop makes later polls wait until the returned function is called.
func (p *polls) stop() (release func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	gate := make(chan struct{})
	p.open = gate
	return sync.OnceFunc(func() { close(gate) })
}

// more waits for further polls, and returns the commands sent from then on, the last poll's first one included.
func (p *polls) more(t *testing.T, n int) (commands []string) {
	t.Helper()
	p.mu.Lock()
	p.commands, p.polls = nil, 0
	p.mu.Unlock()
	programtest.Await(t, fmt.Sprintf("%d polls", n), func() string {
		p.mu.Lock()
		defer p.mu.Unlock()
		commands = p.commands
		return programtest.Unless(p.polls >= n)
	})
	return commands
}

// storeModeDemo publishes 60 activities and starts an instance in store mode that only reads, through a proxy.
func storeModeDemo(t *testing.T) (dir, uri, store string, p *polls, start func(mode string) *programtest.Server) {
	t.Helper()
	uri = mongotest.Start(t)
	wire := mongotest.NewProxy(t, uri)
	p = newPolls()
	wire.Set(mongotest.Fault{Request: p.see})
	dir = t.TempDir()
	programtest.WriteDemo(t, dir, 60)
	programtest.Setenv(dir, "VITRINE_MONGO_BATCH", "50")
	programtest.Setenv(dir, "VITRINE_VIEWS_POLL", "100ms")
	// scheduled runs would restore the rows that the test looks at
	programtest.Setenv(dir, "VITRINE_MATERIALIZE_SCHEDULE", "")
	programtest.Setenv(dir, "VITRINE_MATERIALIZE_FULL", "")
	programtest.Run(t, dir, "import", "--store", uri+"institute", "--batch", "50", "dump")
	programtest.Run(t, dir, "materialize", "--store", uri+"institute")
	store = wire.URI() + "institute"
	return dir, uri, store, p, func(mode string) *programtest.Server {
		return programtest.Start(t, dir, "--store", store, "--no-materialize", "--views-mode", mode).Ready()
	}
}

// answer is the response to a request.
type answer struct {
	*http.Response
	count int // of the list; -1 if there is none
}

func answerOf(s *programtest.Server, path string) answer {
	s.T.Helper()
	res, body := programtest.GetEncoded(s.T, s.Base+path, "identity")
	list := struct{ Count *int }{}
	if err := json.Unmarshal([]byte(body), &list); err != nil || list.Count == nil ||
		res.StatusCode != http.StatusOK {
		return answer{res, -1}
	}
	return answer{res, *list.Count}
}

// answered is answer, but waits while the store is too slow for an answer.
func answered(s *programtest.Server, path string) (got answer) {
	s.T.Helper()
	programtest.Await(s.T, path+" is answered", func() string {
		if got = answerOf(s, path); got.StatusCode == http.StatusServiceUnavailable {
			return got.Status
		}
		return ""
	})
	return got
}

// checks waits until a server has compared a view with the store so many times.
func checks(s *programtest.Server, view string, times int) {
	s.T.Helper()
	for range times {
		since := time.Now()
		programtest.Await(s.T, "the server has compared view "+view+" with the store", func() string {
			_, body := programtest.Fetch(s.T, http.MethodGet, s.Admin+"/admin/views")
			var views struct {
				Data []struct {
					View    string
					Checked time.Time
				}
			}
			if err := json.Unmarshal([]byte(body), &views); err != nil {
				return err.Error()
			}
			for _, v := range views.Data {
				if v.View == view && v.Checked.After(since) {
					return ""
				}
			}
			return body
		})
	}
}

// refuses checks that new questions about a held view are refused, and that no cache may keep the refusal.
func refuses(s *programtest.Server, questions ...string) {
	s.T.Helper()
	for _, path := range questions {
		got := answerOf(s, path)
		said := got.Header.Get
		if got.StatusCode != http.StatusServiceUnavailable || said("Retry-After") == "" ||
			said("Cache-Control") != "no-store" || said("ETag") != "" || said("Last-Modified") != "" {
			s.T.Errorf("%s while the view is held: %s, %d rows, %v", path, got.Status, got.count, got.Header)
		}
	}
}

// TestLostRowsInStoreMode deletes rows of a view, or drops it, under a front end whose views stay in the store. At
// its next poll the front end holds the view: it refuses new questions, serves those answers that it made before, and
// none that it made from the rest.
func TestLostRowsInStoreMode(t *testing.T) {
	t.Parallel()
	for name, leads := range map[string]bool{"with a leader": true, "without a leader": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, uri, store, p, start := storeModeDemo(t)
			c, err := driver.Connect(options.Client().ApplyURI(uri))
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = c.Disconnect(t.Context()) })
			rows := c.Database("institute").Collection("view_activities")
			var builder *programtest.Server
			generation := 1
			if leads {
				generation = 2 // with the words of rows that stay in the store
				// Its first runs end here. Later ones would restore rows; it would also begin them if it lost a short
				// lease and took it again. Beside many polls, runs hardly write anything: see TestLostDatabase.
				programtest.Setenv(dir, "VITRINE_MATERIALIZE_LEASE", "5m")
				programtest.Setenv(dir, "VITRINE_VIEWS_POLL", "2s")
				builder = programtest.Start(t, dir, "--store", uri+"institute", "--views-mode", "store").Ready()
				builder.RunJobs("wait=1")
				programtest.Setenv(dir, "VITRINE_VIEWS_POLL", "100ms")
			}
			front := start("store")
			const before, within = "/api/activities?limit=7", "/api/activities?limit=9&filter[title][$ne]=within"
			fresh := []string{
				"/api/activities?limit=3", "/api/activities?filter[title][$ne]=x",
				"/api/activities?aggregate=authors.user",
				"/lists/activities.json?limit=3", "/lists/activities.html?q=a",
				"/api/search/activities?columns[]=title",
				"/api/html", "/api/activities?full=1",
			}
			for answerOf(front, before).Header.Get("Cache-Status") != "vitrine; hit" {
				if t.Failed() {
					return
				}
			}
			all := answerOf(front, before).count
			// one that began after the answer was made, whatever polls were under way then
			checks(front, "activities", 4)
			release := p.stop()
			t.Cleanup(release)
			p.more(t, 1)
			missing := 60
			if leads {
				err = rows.Drop(t.Context())
			} else {
				missing = 30
				err = deleteSome(t, rows, missing)
			}
			if err != nil {
				t.Fatal(err)
			}
			answerOf(front, within) // made and kept between two polls
			release()
			reason := fmt.Sprintf("the store has %d of the 60 rows of generation %d", 60-missing, generation)
			front.Until("/readyz", reason, `"state":"degraded"`)
			refuses(front, append(fresh, within)...)
			programtest.Await(t, "the kept answer is marked as stale", func() string {
				got := answerOf(front, before)
				if got.count != all {
					t.Fatalf("a kept answer: %s, %d of %d rows", got.Status, got.count, all)
				}
				return programtest.Unless(got.Header.Get("Cache-Status") == "vitrine; hit; detail=stale")
			})
			sayHeld(t, front, dir, store, reason, fmt.Sprint(missing))
			p.more(t, 3)
			refuses(front, fresh...)
			if leads {
				builder.Until("/readyz", reason)
				release := p.stop()
				t.Cleanup(release)
				restores(builder, missing)
				release()
			} else {
				forced(front, 60-missing)
				if got := answerOf(front, "/api/activities?filter[title][$ne]=y").count; got > 60-missing {
					t.Errorf("%d rows after the loss was accepted", got)
				}
				programtest.Run(t, dir, "materialize", "--store", uri+"institute")
			}
			serves(front, all)
			if got := answered(front, within); got.count != all {
				t.Errorf("after the next run: %s, %d of %d rows", got.Status, got.count, all)
			}
			programtest.Await(t, "nothing is held", func() string {
				_, body := front.Get("/readyz")
				return programtest.Unless(!strings.Contains(body, "held"))
			})
		})
	}
}

// deleteSome deletes some documents of a collection.
func deleteSome(t *testing.T, rows *driver.Collection, n int) error {
	t.Helper()
	for range n {
		if _, err := rows.DeleteOne(t.Context(), bson.D{}); err != nil {
			return err
		}
	}
	return nil
}

// TestIdleFrontEnd counts the commands of a front end without requests: with a poll every 2 s they must be at most 60
// a minute.
func TestIdleFrontEnd(t *testing.T) {
	t.Parallel()
	_, _, _, p, start := storeModeDemo(t)
	for _, mode := range []string{"memory", "store"} {
		s := start(mode)
		p.more(t, 10) // after that it compares what it could not while views were loading
		const polled = 20
		commands := ofPolls(p.more(t, polled+1), polled)
		t.Logf("count: idle front end, views.mode %s: %d commands in %d polls, %d a minute with views.poll of 2s: %s",
			mode, len(commands), polled, 30*len(commands)/polled,
			strings.Join(commands[:min(len(commands), 4)], ", "))
		if len(commands) > 2*polled {
			t.Errorf("%d commands in %d polls: %q", len(commands), polled, commands)
		}
		if code := s.Stop(); code != 0 {
			t.Errorf("exit code %d", code)
		}
	}
}

// ofPolls returns the commands of the first n whole polls: more may have begun before the test looked.
func ofPolls(commands []string, n int) []string {
	commands = commands[slices.Index(commands, firstOfPoll):]
	for i, name := range commands {
		if name == firstOfPoll {
			if n--; n < 0 {
				return commands[:i]
			}
		}
	}
	return commands
}

// TestUnreadableMeta spoils the meta of one view under front ends that run: the others go on, and of that view they
// serve what they have, never an error of their own.
func TestUnreadableMeta(t *testing.T) {
	t.Parallel()
	_, uri, _, p, start := storeModeDemo(t)
	c, err := driver.Connect(options.Client().ApplyURI(uri))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Disconnect(t.Context()) })
	generation := func(value any) {
		t.Helper()
		change := bson.D{{Key: "$set", Value: bson.D{{Key: "gen", Value: value}}}}
		metas := c.Database("institute").Collection("view_meta")
		if _, err := metas.UpdateOne(t.Context(), bson.D{{Key: "_id", Value: "activities"}}, change); err != nil {
			t.Fatal(err)
		}
	}
	memory, stored := start("memory"), start("store")
	generation("many")
	for _, s := range []*programtest.Server{memory, stored} {
		programtest.Await(t, "the view is reported as failing, alone", func() string {
			_, metrics := programtest.Fetch(t, http.MethodGet, s.Admin+"/metrics")
			return programtest.Unless(strings.Contains(metrics, `vitrine_view_failing{view="activities"} 1`) &&
				strings.Contains(metrics, `vitrine_view_failing{view="persons"} 0`))
		})
		if got := answered(s, "/api/search/journals"); got.count != 12 {
			t.Errorf("another view: %s, %d rows", got.Status, got.count)
		}
	}
	p.more(t, 3)
	if got := answerOf(memory, "/api/activities?limit=4"); got.count != 60 {
		t.Errorf("from memory: %s, %d rows", got.Status, got.count)
	}
	refuses(stored, "/api/activities?limit=4")
	generation(int64(1))
	serves(memory, 60)
	serves(stored, 60)
}
