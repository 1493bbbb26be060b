package wire

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/origin/mongo/mongotest"
	"vitrine/cmd/vitrine/programtest"
)

// wireLog records what the program sends over the wire: each kind of command and its target, once.
type wireLog struct {
	mu   sync.Mutex
	seen map[sent]bool
}

// sent is one kind of command. The stages of an aggregation that would write count as separate
// commands.
type sent struct{ command, database, collection string }

func (s sent) String() string { return fmt.Sprintf("%s %s.%s", s.command, s.database, s.collection) }

// record starts a proxy before a server that records all commands.
func record(t *testing.T, uri string) (*wireLog, string) {
	t.Helper()
	log := &wireLog{seen: map[sent]bool{}}
	p := mongotest.NewProxy(t, uri)
	p.Set(mongotest.Fault{Request: log.note})
	return log, p.URI()
}

// note records a command and passes it on.
func (l *wireLog) note(command bson.Raw) bool {
	first := command.Index(0)
	database, _ := command.Lookup("$db").StringValueOK()
	collection, ok := first.Value().StringValueOK()
	if !ok {
		collection, _ = command.Lookup("collection").StringValueOK() // a getMore names it here
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if first.Key() == "renameCollection" { // sent to another database, with the names of both collections
		to, _ := command.Lookup("to").StringValueOK()
		for _, namespace := range []string{collection, to} {
			database, collection, _ := strings.Cut(namespace, ".")
			l.seen[sent{first.Key(), database, collection}] = true
		}
		return true
	}
	l.seen[sent{first.Key(), database, collection}] = true
	if pipeline, ok := command.Lookup("pipeline").ArrayOK(); ok {
		stages, _ := pipeline.Values()
		for _, stage := range stages {
			doc, _ := stage.DocumentOK()
			for _, writing := range []string{"$out", "$merge"} {
				if _, err := doc.LookupErr(writing); err == nil {
					l.seen[sent{writing, database, collection}] = true
				}
			}
		}
	}
	return true
}

// all lists the recorded commands, sorted.
func (l *wireLog) all() []sent {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.SortedFunc(maps.Keys(l.seen),
		func(a, b sent) int { return strings.Compare(a.String(), b.String()) })
}

// reading are the commands that change nothing, whatever their arguments.
var reading = []string{
	"find", "getMore", "killCursors", "aggregate", "count", "distinct", "listCollections", "listIndexes",
	"buildInfo", "serverStatus", "collStats", "dbStats", "connectionStatus", "explain",
}

func (s sent) writes() bool { return !slices.Contains(reading, s.command) }

// TestSourcesAreOnlyRead records everything that a materializer and a front end send while they
// build, serve, refresh and answer every endpoint: only the materializer writes, and only to the
// side collections.
func TestSourcesAreOnlyRead(t *testing.T) {
	t.Parallel()
	uri := mongotest.Start(t) // skips unless the environment asks for such a server
	for _, tt := range []struct{ name, viewsDatabase, mode string }{
		{"one database", "", "memory"},
		{"views in another database", "institute_views", "memory"},
		{"views stay in the store", "institute_shown", "store"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir, viewsDatabase := t.TempDir(), tt.viewsDatabase
			programtest.WriteDemo(t, dir, 20)
			for name, value := range map[string]string{
				"MONGO_BATCH": "50", "ACCESS_ANONYMOUS": "projects.view,proposals.view,portfolio-spectrum",
				"VIEWS_DATABASE": viewsDatabase, "VIEWS_MODE": tt.mode,
			} {
				programtest.Setenv(dir, "VITRINE_"+name, value)
			}
			source := "institute_" + tt.mode + fmt.Sprint(len(viewsDatabase))
			programtest.Run(t, dir, "import", "--store", uri+source, "--batch", "50", "dump")
			builderLog, builderURI := record(t, uri)
			readerLog, readerURI := record(t, uri)

			builder := programtest.Start(t, dir, "--store", builderURI+source, "--preset", "osiris").Ready()
			reader := programtest.Start(t, dir, "--store", readerURI+source, "--no-materialize").Ready()
			for _, s := range []*programtest.Server{builder, reader} {
				for _, call := range append(programtest.CallsOfPersons(t, s)[:45], "/api/users/unknown-user",
					"/api/user-units/unknown-user",
					programtest.Encoded(`/api/activities?json={"$text":{"$search":"moth"}}`)) {
					s.Get(call)
				}
				for _, query := range []string{"", "full=1&force=1"} {
					if s == builder {
						s.RunJobs(query)
						continue
					}
					// It names the builder, unless that has lost its lease just now or the store does not answer.
					programtest.Await(t, "a server that reads says who runs jobs", func() string {
						status, body := s.Refresh(query)
						if status != http.StatusConflict && status != http.StatusServiceUnavailable {
							t.Fatalf("refresh?%s of a server that reads: %d %s", query, status, body)
						}
						return programtest.Lacking(body, "run by ")
					})
				}
				uri := map[*programtest.Server]string{builder: builderURI, reader: readerURI}[s]
				programtest.Status(t, dir, []string{"--store", uri + source})
			}
			for _, s := range []*programtest.Server{reader, builder} {
				if code := s.Stop(); code != 0 {
					t.Errorf("SIGTERM: exit code %d", code)
				}
			}
			programtest.Run(t, dir, "materialize", "--store", builderURI+source, "--full", "--view", "persons")
			checkWire(t, builderLog.all(), readerLog.all(), source, viewsDatabase)
		})
	}
}

// checkWire compares the recorded commands with the permissions that the documentation grants.
func checkWire(t *testing.T, builder, reader []sent, source, viewsDatabase string) {
	t.Helper()
	if viewsDatabase == "" {
		viewsDatabase = source
	}
	wrote, read := 0, 0
	for _, s := range builder {
		switch {
		case s.writes() && (s.database != viewsDatabase || !strings.HasPrefix(s.collection, "view_")):
			t.Errorf("the materializer sent %s", s)
		case s.writes():
			wrote++
		case s.database == source && s.collection == "activities":
			read++
		}
	}
	for _, s := range reader {
		if s.writes() {
			t.Errorf("the front end sent %s", s)
		}
	}
	if wrote == 0 || read == 0 || len(reader) == 0 {
		t.Errorf(
			"%d kinds of writes to side collections, %d of reading activities, %d of a front end: not all was "+
				"recorded", wrote, read, len(reader))
	}
	t.Logf("materializer: %v\nfront end: %v", builder, reader)
}
