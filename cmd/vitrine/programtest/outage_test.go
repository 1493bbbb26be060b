package programtest

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/origin/mongo"
	"vitrine/cache/origin/mongo/mongotest"
)

// outage has a program whose store is behind a failing network, and direct access to that store.
type outage struct {
	*server
	network *mongotest.Proxy
	direct  *mongo.Store
	lines   int // how many activities the test has added
}

// outageConfig makes jobs run often, so that tests need not wait for them. It hides no fields:
// otherwise the program refuses filters that only the database evaluates.
const outageConfig = `
mongo: {batch: 50}
access: {hidden_fields: []}
views: {optional: [persons, projects, proposals, journals, events, deadlines, user_units]}
materialize: {lease: 3s, schedule: {activities: "@every 1s"}}
`

// startOutage starts a program in a folder, with 40 activities.
func startOutage(t *testing.T, dir, uri string, args ...string) *outage {
	t.Helper()
	o := &outage{network: mongotest.NewProxy(t, uri), direct: reach(t, uri)}
	for range 40 {
		o.add(t)
	}
	write(t, filepath.Join(dir, "v.yml"), outageConfig)
	o.start(t, dir, args...)
	return o
}

// start starts the program in a folder with its configuration.
func (o *outage) start(t *testing.T, dir string, args ...string) {
	t.Helper()
	args = append([]string{"--config", "v.yml", "--store", o.network.URI() + "institute"}, args...)
	o.server = startServer(t, dir, args...)
}

// reach opens the store without the failing network.
func reach(t *testing.T, uri string) *mongo.Store {
	t.Helper()
	s, err := mongo.Open(t.Context(), uri+"institute", mongo.Options{BatchSize: 50})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// add adds an activity to the source.
func (o *outage) add(t *testing.T) {
	t.Helper()
	o.lines++
	doc, err := bson.Marshal(activity(fmt.Sprintf("a%03d", o.lines), fmt.Sprintf("Title %d", o.lines)))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := o.direct.Upsert(t.Context(), "activities", []bson.Raw{doc}); err != nil {
		t.Fatal(err)
	}
}

// listed is a list that shows every activity.
const listed = "/api/activities?columns[]=title"

// patient waits five minutes before it considers a request as hanging.
var patient = &http.Client{Timeout: 5 * time.Minute}

// ask gets a URL.
func ask(t *testing.T, url string) (*http.Response, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(context.Background(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	res, err := patient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res, string(body)
}

// readiness is the answer of /readyz.
type readiness struct {
	Status int
	State  string
	Count  int
}

// until polls /readyz until it reports a state. Meanwhile every answer must be good.
func (o *outage) until(t *testing.T, state string) {
	t.Helper()
	await(t, fmt.Sprintf("the state is %q", state), func() string {
		res, body := ask(t, o.base+"/readyz")
		var r readiness
		if err := json.Unmarshal([]byte(body), &r); err != nil || res.StatusCode != http.StatusOK {
			t.Fatalf("/readyz: %d %s", res.StatusCode, body)
		}
		if r.State == state && (state == "") == (r.Count == 0) {
			return ""
		}
		if res, body := ask(t, o.base+listed); res.StatusCode != http.StatusOK || decode(t, body).Count < 40 {
			t.Fatalf("%s: %d %.200s", listed, res.StatusCode, body)
		}
		return body
	})
}

// untilServed waits until the program serves every activity that the test has added.
func (o *outage) untilServed(t *testing.T) {
	t.Helper()
	await(t, fmt.Sprintf("%d activities are served", o.lines), func() string {
		select {
		case <-o.eof:
			t.Fatalf("serve ended:\n%s", o.logged())
		default:
		}
		res, body := ask(t, o.base+listed)
		if res.StatusCode == http.StatusOK && decode(t, body).Count == o.lines {
			return ""
		}
		return body
	})
}

// untilMarked requests the list, which must always succeed, until its Cache-Status says that the
// view could not be confirmed, or no longer says so.
func (o *outage) untilMarked(t *testing.T, stale bool) (header http.Header, body string) {
	t.Helper()
	await(t, fmt.Sprintf("the list is marked: %t", stale), func() string {
		var res *http.Response
		res, body = ask(t, o.base+listed)
		header = res.Header
		status := res.Header.Get("Cache-Status")
		if res.StatusCode != http.StatusOK || !strings.HasPrefix(status, "vitrine; ") {
			t.Fatalf("%s: %d, Cache-Status %q, %.200s", listed, res.StatusCode, status, body)
		}
		if strings.HasSuffix(status, "detail=stale") == stale {
			return ""
		}
		return status
	})
	return header, body
}

// isServing requests answers that memory has, and others that need the store.
func (o *outage) isServing(t *testing.T, before string) {
	t.Helper()
	h, body := o.untilMarked(t, true)
	if body != before {
		t.Errorf("list: %d bytes instead of %d", len(body), len(before))
	}
	if h.Get("Age") != "0" || h.Get("Vitrine-Data-Age") == "" ||
		!strings.Contains(h.Get("Cache-Control"), "stale-if-error=") {
		t.Errorf("Age %q, Cache-Control %q", h.Get("Age"), h.Get("Cache-Control"))
	}
	if res, body := ask(t, o.base+listed+"&filter[title]=Title+7"); res.StatusCode != http.StatusOK ||
		decode(t, body).Count != 1 ||
		!strings.HasSuffix(res.Header.Get("Cache-Status"), "stored; detail=stale") &&
			!strings.HasSuffix(res.Header.Get("Cache-Status"), "hit; detail=stale") {
		t.Errorf("a filter: %d %s %s", res.StatusCode, res.Header.Get("Cache-Status"), body)
	}
	for _, path := range []string{"/api/users/unknown", `/api/activities?json={"$text":{"$search":"title"}}`} {
		res, body := ask(t, o.base+path)
		if e := decode(t, body); res.StatusCode != http.StatusServiceUnavailable || e.Error == "" ||
			res.Header.Get("Retry-After") == "" {
			t.Errorf("%s: %d, Retry-After %q, %s", path, res.StatusCode, res.Header.Get("Retry-After"), body)
		}
	}
}

// isToldOf checks where an operator looks. Single messages that get through may change the health
// for a moment, so it repeats the request until the health is as expected.
func (o *outage) isToldOf(t *testing.T) {
	t.Helper()
	await(t, "an operator is told", func() string {
		_, views := ask(t, o.admin+"/admin/views")
		_, metrics := ask(t, o.admin+"/metrics")
		if strings.Contains(views, `"up":false`) && strings.Contains(views, `"circuit":"open"`) &&
			strings.Contains(views, `"stale":true`) &&
			strings.Contains(metrics, "vitrine_store_up 0") &&
			strings.Contains(metrics, "vitrine_store_contact_seconds") &&
			strings.Contains(metrics, `vitrine_view_stale{view="activities"} 1`) {
			return ""
		}
		return views
	})
	await(t, "vitrine status tells it", func() string {
		cmd := command(o.cmd.Dir, "status", "--config", "v.yml", "--store",
			o.network.URI()+"institute?connectTimeoutMS=500",
			"--admin-listen", strings.TrimPrefix(o.admin, "http://"))
		out, err := cmd.CombinedOutput()
		if err != nil {
			return fmt.Sprintf("%v: %s", err, out)
		}
		return lacking(string(out), "is away", "activities")
	})
}

// isLeftAlone checks that requests which need the store do not reach it. The driver itself checks the server every
// ten seconds, and the circuit pings it after its pauses, however long the requests take: in the two seconds of a
// ping the driver connects, and may send a query, every half second.
func (o *outage) isLeftAlone(t *testing.T) {
	t.Helper()
	const requests = 300
	const ofPing = 10
	before, commands, pings := o.network.Accepted(), o.network.Commands(), o.pings()
	o.network.Traffic() // what was sent before
	for i := range requests {
		if res, _ := ask(t, fmt.Sprintf("%s/api/users/unknown-%d", o.base, i)); res.StatusCode !=
			http.StatusServiceUnavailable {
			t.Fatalf("read from the store: %d", res.StatusCode)
		}
	}
	made, sent := o.network.Accepted()-before, o.network.Commands()-commands
	pings = o.pings() - pings
	if made > requests/10+ofPing*pings {
		t.Errorf("%d requests and %d pings made %d connections to a store that is away", requests, pings, made)
	}
	if sent > requests/10+ofPing*pings {
		t.Errorf("%d requests and %d pings sent %d commands to a store that is away", requests, pings, sent)
	}
	if n := o.network.Traffic().Commands["find persons"]; n > requests/10 {
		t.Errorf("%d requests read %d persons from a store that is away", requests, n)
	}
}

// pings returns how often the circuit has pinged the store.
func (o *outage) pings() (n int64) {
	o.t.Helper()
	_, metrics := fetch(o.t, http.MethodGet, o.admin+"/metrics")
	_, after, _ := strings.Cut(metrics, "\nvitrine_store_looks_total ")
	if _, err := fmt.Sscan(after, &n); err != nil {
		o.t.Fatalf("the metrics have no number of pings: %v", err)
	}
	return n
}

func activity(id, title string) bson.D {
	return bson.D{{Key: "_id", Value: id}, {Key: "type", Value: "publication"}, {Key: "subtype", Value: "article"},
		{Key: "title", Value: title}, {Key: "year", Value: int32(2024)}}
}
