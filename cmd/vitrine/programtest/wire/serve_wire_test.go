package wire

import (
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/origin/mongo/mongotest"
	"vitrine/cmd/vitrine/programtest"
)

// TestServeOverTheWire serves the demo institute's first 60 activities from a MongoDB-compatible
// server, by one process that materializes, one that only reads, and one whose views stay in the
// server. It compares their answers with those from the embedded store, byte by byte.
func TestServeOverTheWire(t *testing.T) {
	t.Parallel()
	uri := mongotest.Start(t) + "institute" // skips unless the environment asks for such a server
	dir := t.TempDir()
	programtest.WriteDemo(t, dir, 60)
	programtest.Run(t, dir, "import", "--store", "bolt://v.db", "dump")
	programtest.Run(t, dir, "import", "--store", uri, "--batch", "50", "dump")

	programtest.Setenv(dir, "VITRINE_MONGO_BATCH", "50")
	programtest.Setenv(dir, "VITRINE_ACCESS_ANONYMOUS", "projects.view,proposals.view,portfolio-spectrum")
	// the server scans, and a late answer on a busy machine is not wrong
	programtest.Setenv(dir, "VITRINE_LIMITS_REQUEST_TIMEOUT", "10m")
	uri += "?timeoutMS=300000"
	embedded := programtest.Start(t, dir, "--store", "bolt://v.db").Ready()
	builder := programtest.Start(t, dir, "--store", uri, "--views-mode", "store").Ready() // publishes words
	reader := programtest.Start(t, dir, "--store", uri, "--no-materialize").Ready()
	stored := programtest.Start(t, dir, "--store", uri, "--no-materialize", "--views-mode", "store").Ready()
	for _, path := range []string{
		"/api/activities?filter[title][$regex]=the&filter[title][$options]=i&limit=7",
		`/api/activities?json={"year":{"$gte":2015},"authors":{"$elemMatch":{"position":"first"}}}&limit=5`,
		"/api/search/activities?columns[]=title&columns[]=authors.last&limit=30&offset=11",
		"/api/activities?limit=20&offset=10",
		"/api/activities?aggregate=authors.user",
		"/api/activities?columns[]=title&columns[]=authors.last&filter[type]=publication",
		"/api/activities?full=1",
		"/api/html",
		"/api/all-activities?page=portal",
		"/api/spectrum-activities?spectrum=Bird%20Migration%20by%20Night",
		"/api/projects",
		"/api/projects?aggregate=persons.user",
		"/api/projects?formatted",
		"/api/projects?full",
		"/api/proposals?raw&columns[]=name&columns[]=funding_number",
		"/api/search/journals",
		"/api/search/persons?columns[]=units.unit&limit=20",
		"/api/search/projects?aggregate=type&aggregate_function=median&aggregate_value=year",
		"/api/projects-by-funding-number?number=none",
		"/api/events",
		"/api/deadlines",
		"/api/users/ssandman",
		"/api/user-units/ssandman",
		"/api/levenshtein?title=moths%20around%20lamps",
		"/portfolio/spectrum?limit=5",
		"/lists/activities.json?facets=year,type,subtype,unit,person,project,topic,keyword",
		"/lists/activities.json?q=of+moth&sort=relevance&facets=unit,type&deep=1",
		"/lists/activities.html?q=l&group=person&limit=7&page=2",
		"/lists/activities.json?year=last3,missing&not.type=poster&not.unit=MOTH&deep=1&oa=0,1&sort=-added&" +
			"facets=oa,unit&limit=500",
		"/lists/activities.json?q=doi:10.5555/HINS.2024.1007&not.oa=0",
		"/lists/activities.bib?not.year=missing,..2015&not.person=0000-0009-3666-8279&not.topic=T90015",
		"/lists/projects.json?facets=person,unit&group=year",
		"/lists.json",
	} {
		_, want := embedded.Get(path)
		for name, s := range map[string]*programtest.Server{"materializing": builder, "reading": reader,
			"storing": stored} {
			status, got := 0, ""
			programtest.Await(t, path+" is answered", func() string {
				// not while the busy server has not answered pings in time
				if status, got = s.Get(path); status == http.StatusServiceUnavailable {
					return got
				}
				return ""
			})
			if status != http.StatusOK || programtest.Unstamped(got) != programtest.Unstamped(want) {
				t.Errorf("%s, %s instance: status %d, %d bytes; embedded %d bytes:\n%.200s", path, name, status,
					len(got), len(want), got)
			}
		}
	}
	if code := reader.Stop(); code != 0 {
		t.Errorf("SIGTERM: exit code %d", code)
	}
}

// TestMaterializeUnsettled breaks what follows a publication: the command fails, and the next one repairs the view.
func TestMaterializeUnsettled(t *testing.T) {
	t.Parallel()
	wire := mongotest.NewProxy(t, mongotest.Start(t))
	dir, store := t.TempDir(), wire.URI()+"institute"
	programtest.WriteDemo(t, dir, 3)
	programtest.Run(t, dir, "import", "--store", store, "dump")
	programtest.Setenv(dir, "VITRINE_VIEWS_MODE", "store")
	args := []string{"materialize", "--store", store, "--view", "journals"}
	programtest.Run(t, dir, args...)
	programtest.WriteLines(t, filepath.Join(dir, "dump", "journals.jsonl"),
		programtest.DemoLines(t, "journals.jsonl", 4)...)
	programtest.Run(t, dir, "import", "--store", store, "dump")
	wire.Set(mongotest.Fault{Request: func(command bson.Raw) bool {
		collection, _ := command.Lookup("find").StringValueOK()
		return collection != "view_staged"
	}})
	out, err := programtest.Command(dir, args...).CombinedOutput()
	if err == nil || !strings.Contains(string(out), "view journals: generation 2 is published but not settled") {
		t.Errorf("materialize: %v\n%s", err, out)
	}
	wire.Set(mongotest.Fault{})
	programtest.Run(t, dir, args...)
}
