package programtest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/origin/mongo"
	"vitrine/cache/origin/mongo/mongotest"
)

// Outage has a program whose store is behind a failing network, and direct access to that store. The program sends
// through Network, which tests make fail; Direct passes by it, so a test can change records and read rows during an
// outage.
type Outage struct {
	*Server
	Network *mongotest.Proxy
	Direct  *mongo.Store
	Lines   int // how many activities the test has added
}

// OutageConfig makes jobs run often, so that tests need not wait for them. It hides no fields:
// otherwise the program refuses filters that only the database evaluates.
const OutageConfig = `
mongo: {batch: 50}
access: {hidden_fields: []}
views: {optional: [persons, projects, proposals, journals, events, deadlines, user_units]}
materialize: {lease: 3s, schedule: {activities: "@every 1s"}}
`

// StartOutage starts a program in a folder, with 40 activities.
//
// Outage.Until relies on the 40.
func StartOutage(t *testing.T, dir, uri string, args ...string) *Outage {
	t.Helper()
	o := &Outage{Network: mongotest.NewProxy(t, uri), Direct: Reach(t, uri)}
	for range 40 {
		o.Add(t)
	}
	WriteLines(t, filepath.Join(dir, "v.yml"), OutageConfig)
	o.Start(t, dir, args...)
	return o
}

// Start starts the program in a folder with its configuration.
func (o *Outage) Start(t *testing.T, dir string, args ...string) {
	t.Helper()
	args = append([]string{"--config", "v.yml", "--store", o.Network.URI() + "institute"}, args...)
	o.Server = Start(t, dir, args...)
}

// Reach opens the store without the failing network.
func Reach(t *testing.T, uri string) *mongo.Store {
	t.Helper()
	s, err := mongo.Open(t.Context(), uri+"institute", mongo.Options{BatchSize: 50})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// Add adds an activity to the source.
func (o *Outage) Add(t *testing.T) {
	t.Helper()
	o.Lines++
	doc, err := bson.Marshal(activity(fmt.Sprintf("a%03d", o.Lines), fmt.Sprintf("Title %d", o.Lines)))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := o.Direct.Upsert(t.Context(), "activities", []bson.Raw{doc}); err != nil {
		t.Fatal(err)
	}
}

// Listed is a list that shows every activity.
const Listed = "/api/activities?columns[]=title"

// readiness is the answer of /readyz.
type readiness struct {
	Status int
	State  string
	Count  int
}

// Until polls /readyz until it reports a state. Meanwhile every answer must be good.
func (o *Outage) Until(t *testing.T, state string) {
	t.Helper()
	Await(t, fmt.Sprintf("the state is %q", state), func() string {
		res, body := Ask(t, o.Base+"/readyz")
		var r readiness
		if err := json.Unmarshal([]byte(body), &r); err != nil || res.StatusCode != http.StatusOK {
			t.Fatalf("/readyz: %d %s", res.StatusCode, body)
		}
		if r.State == state && (state == "") == (r.Count == 0) {
			return ""
		}
		if res, body := Ask(t, o.Base+Listed); res.StatusCode != http.StatusOK || Decode(t, body).Count < 40 {
			t.Fatalf("%s: %d %.200s", Listed, res.StatusCode, body)
		}
		return body
	})
}

// UntilServed waits until the program serves every activity that the test has added.
func (o *Outage) UntilServed(t *testing.T) {
	t.Helper()
	Await(t, fmt.Sprintf("%d activities are served", o.Lines), func() string {
		select {
		case <-o.eof:
			t.Fatalf("serve ended:\n%s", o.Log())
		default:
		}
		res, body := Ask(t, o.Base+Listed)
		if res.StatusCode == http.StatusOK && Decode(t, body).Count == o.Lines {
			return ""
		}
		return body
	})
}

// UntilMarked requests the list, which must always succeed, until its Cache-Status says that the
// view could not be confirmed, or no longer says so.
func (o *Outage) UntilMarked(t *testing.T, stale bool) (header http.Header, body string) {
	t.Helper()
	Await(t, fmt.Sprintf("the list is marked: %t", stale), func() string {
		var res *http.Response
		res, body = Ask(t, o.Base+Listed)
		header = res.Header
		status := res.Header.Get("Cache-Status")
		if res.StatusCode != http.StatusOK || !strings.HasPrefix(status, "vitrine; ") {
			t.Fatalf("%s: %d, Cache-Status %q, %.200s", Listed, res.StatusCode, status, body)
		}
		if strings.HasSuffix(status, "detail=stale") == stale {
			return ""
		}
		return status
	})
	return header, body
}

// IsServing requests answers that memory has, and others that need the store.
//
// before is the list as it was before the outage. A list and a filter come from memory, and say that they may be
// stale; a look-up of a person and a search for words need the store and are refused with Retry-After (RFC 9110:
// 10.2.3).
func (o *Outage) IsServing(t *testing.T, before string) {
	t.Helper()
	h, body := o.UntilMarked(t, true)
	if body != before {
		t.Errorf("list: %d bytes instead of %d", len(body), len(before))
	}
	if h.Get("Age") != "0" || h.Get("Vitrine-Data-Age") == "" ||
		!strings.Contains(h.Get("Cache-Control"), "stale-if-error=") {
		t.Errorf("Age %q, Cache-Control %q", h.Get("Age"), h.Get("Cache-Control"))
	}
	if res, body := Ask(t, o.Base+Listed+"&filter[title]=Title+7"); res.StatusCode != http.StatusOK ||
		Decode(t, body).Count != 1 ||
		!strings.HasSuffix(res.Header.Get("Cache-Status"), "stored; detail=stale") &&
			!strings.HasSuffix(res.Header.Get("Cache-Status"), "hit; detail=stale") {
		t.Errorf("a filter: %d %s %s", res.StatusCode, res.Header.Get("Cache-Status"), body)
	}
	for _, path := range []string{"/api/users/unknown", `/api/activities?json={"$text":{"$search":"title"}}`} {
		res, body := Ask(t, o.Base+path)
		if e := Decode(t, body); res.StatusCode != http.StatusServiceUnavailable || e.Error == "" ||
			res.Header.Get("Retry-After") == "" {
			t.Errorf("%s: %d, Retry-After %q, %s", path, res.StatusCode, res.Header.Get("Retry-After"), body)
		}
	}
}

// IsToldOf checks where an operator looks. Single messages that get through may change the health
// for a moment, so it repeats the request until the health is as expected.
func (o *Outage) IsToldOf(t *testing.T) {
	t.Helper()
	Await(t, "an operator is told", func() string {
		_, views := Ask(t, o.Admin+"/admin/views")
		_, metrics := Ask(t, o.Admin+"/metrics")
		if strings.Contains(views, `"up":false`) && strings.Contains(views, `"circuit":"open"`) &&
			strings.Contains(views, `"stale":true`) &&
			strings.Contains(metrics, "vitrine_store_up 0") &&
			strings.Contains(metrics, "vitrine_store_contact_seconds") &&
			strings.Contains(metrics, `vitrine_view_stale{view="activities"} 1`) {
			return ""
		}
		return views
	})
	Await(t, "vitrine status tells it", func() string {
		cmd := Command(o.Cmd.Dir, "status", "--config", "v.yml", "--store",
			o.Network.URI()+"institute?connectTimeoutMS=500",
			"--admin-listen", strings.TrimPrefix(o.Admin, "http://"))
		out, err := cmd.CombinedOutput()
		if err != nil {
			return fmt.Sprintf("%v: %s", err, out)
		}
		return Lacking(string(out), "is away", "activities")
	})
}

// IsLeftAlone checks that requests which need the store do not reach it. The driver itself checks the server every
// ten seconds, and the circuit pings it after its pauses, however long the requests take: in the two seconds of a
// ping the driver connects, and may send a query, every half second.
func (o *Outage) IsLeftAlone(t *testing.T) {
	t.Helper()
	const requests = 300
	const ofPing = 10
	before, commands, pings := o.Network.Accepted(), o.Network.Commands(), o.pings()
	o.Network.Traffic() // what was sent before
	for i := range requests {
		if res, _ := Ask(t, fmt.Sprintf("%s/api/users/unknown-%d", o.Base, i)); res.StatusCode !=
			http.StatusServiceUnavailable {
			t.Fatalf("read from the store: %d", res.StatusCode)
		}
	}
	made, sent := o.Network.Accepted()-before, o.Network.Commands()-commands
	pings = o.pings() - pings
	if made > requests/10+ofPing*pings {
		t.Errorf("%d requests and %d pings made %d connections to a store that is away", requests, pings, made)
	}
	if sent > requests/10+ofPing*pings {
		t.Errorf("%d requests and %d pings sent %d commands to a store that is away", requests, pings, sent)
	}
	if n := o.Network.Traffic().Commands["find persons"]; n > requests/10 {
		t.Errorf("%d requests read %d persons from a store that is away", requests, n)
	}
}

// pings returns how often the circuit has pinged the store. The counter has no labels, so the text before its value
// ends with a blank.
func (o *Outage) pings() (n int64) {
	o.T.Helper()
	_, metrics := Fetch(o.T, http.MethodGet, o.Admin+"/metrics")
	_, after, _ := strings.Cut(metrics, "\nvitrine_store_looks_total ")
	if _, err := fmt.Sscan(after, &n); err != nil {
		o.T.Fatalf("the metrics have no number of pings: %v", err)
	}
	return n
}

func activity(id, title string) bson.D {
	return bson.D{{Key: "_id", Value: id}, {Key: "type", Value: "publication"}, {Key: "subtype", Value: "article"},
		{Key: "title", Value: title}, {Key: "year", Value: int32(2024)}}
}
