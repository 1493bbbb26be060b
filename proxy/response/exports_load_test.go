package response_test

import (
	"fmt"
	"net"
	"net/http"
	"net/url"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"vitrine/proxy/proxytest"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/rules"
)

// exports are long answers that no cache has; each value for %d makes another one.
var exports = []string{
	"/lists/activities.bib?exclude=s%d", "/lists/activities.bib?latex=1&sort=title&exclude=s%d",
	"/lists/activities.ris?sort=-author&lang=de&exclude=s%d",
	"/lists/activities.csv?sort=type&exclude=s%d", "/lists/activities.csl.json?sort=-title&group=year&exclude=s%d",
	"/lists/activities.jsonld?sort=author&group=person&exclude=s%d",
	"/lists/activities.csv?q=the&sort=relevance&exclude=s%d", "/api/activities?full=1&filter[n][$ne]=%d",
	"/api/all-activities?filter[n][$ne]=%d",
	"/api/all-activities?page=portal&filter[n][$ne]=%d", "/api/search/activities?columns[]=authors&filter[n][$ne]=%d",
}

// copies copies activities until there are n.
func copies(n int) func(collection string, docs []bson.Raw) []bson.Raw {
	return func(collection string, docs []bson.Raw) []bson.Raw {
		if collection != "activities" {
			return docs
		}
		all := make([]bson.Raw, n)
		for i := range all {
			var d bson.D
			if err := bson.Unmarshal(docs[i%len(docs)], &d); err != nil {
				panic(err)
			}
			for k := range d {
				switch d[k].Key {
				case "_id":
					d[k].Value = bson.NewObjectID()
				case "title":
					d[k].Value = fmt.Sprint(d[k].Value, " ", n-i)
				}
			}
			all[i], _ = bson.Marshal(d) // d was unmarshalled from BSON
		}
		return all
	}
}

// serveExports serves lists of n activities on a listener, and does not cache answers above a size.
func serveExports(t *testing.T, n, kept int, inFlight int64, ln net.Listener) *proxytest.Live {
	t.Helper()
	o := proxytest.ListOptions(t)
	o.Limits.KeptBytes = kept
	o.Cache.Budget, o.Cache.InFlight = 4<<20, inFlight // has room for all that is kept, so that nothing evicts it
	return proxytest.ServeOn(t,
		proxytest.OpenViews(t, proxytest.ListStore(t, copies(n)), o, proxytest.ListViews(t), 64<<20), ln)
}

// atRest waits until requests hold nothing any more.
func atRest(l *proxytest.Live) {
	l.T.Helper()
	proxytest.Until(l.T, "no memory is claimed",
		func() bool { return l.Metric("vitrine_results_in_flight_bytes") == 0 })
	proxytest.Until(l.T, "no connection is open", func() bool { return l.Metric("vitrine_connections") == 0 })
}

// processorTime returns the processor time of this process.
func processorTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// TestUnreadExports: exports of all formats and orders that clients do not read hold the memory
// that they claim, and no more than the budget; others get answers meanwhile, and when the clients
// leave nothing is held.
func TestUnreadExports(t *testing.T) {
	const budget = 24 << 20
	clients, rows := 100, 4_000
	if testing.Short() {
		clients, rows = 20, 2_000
	}
	for _, kept := range []int{64 << 10, 1 << 20} { // the larger size admits them once they are compressed
		l := serveExports(t, rows, kept, budget, proxytest.Narrow{Listener: proxytest.Listen(t)})
		for _, target := range exports {
			l.Get(fmt.Sprintf(target, 0)) // derives the data that it needs
		}
		for _, coding := range []string{"identity", "gzip", "br", "zstd"} {
			leaveUnread(l, coding, clients, budget)
		}
	}
}

// leaveUnread makes clients request exports, read nothing, and leave.
func leaveUnread(l *proxytest.Live, coding string, clients, budget int) {
	t := l.T
	t.Helper()
	before := proxytest.Memory()
	var conns []net.Conn
	var mu sync.Mutex
	statuses := map[string]int{}
	var asking sync.WaitGroup
	for i := range clients {
		asking.Go(func() {
			some, answered := unread(l, coding,
				strings.Replace(exports[i%len(exports)], "%d", fmt.Sprintf("%d%%d", i+1), 1), 1)
			mu.Lock()
			defer mu.Unlock()
			conns = append(conns, some...)
			for status, n := range answered {
				statuses[status] += n
			}
		})
	}
	asking.Wait()
	most := budget + clients*(64<<10) + 16<<20
	held, claimed := heldSince(before, most), l.Metric("vitrine_results_in_flight_bytes")
	t.Logf("%s: %d clients, by status %v: %d bytes held, %d claimed", coding, clients, statuses, held, claimed)
	if statuses["200"]+statuses["503"] != clients || statuses["200"] == 0 {
		t.Errorf("%s: answers by status %v", coding, statuses)
	}
	if claimed > budget || held > most {
		t.Errorf("%s: %d bytes held, %d claimed; the budget is %d", coding, held, claimed, budget)
	}
	if res := l.Get("/lists/activities.json?limit=5"); res.StatusCode != http.StatusOK {
		t.Errorf("%s: a request at the same time: %s", coding, res.Status)
	}
	for _, conn := range conns {
		conn.Close()
	}
	atRest(l)
}

// TestLeavingExports: work for clients that leave at once ends, also before the first byte: 150
// clients together take less processor time than three exports read to their ends. Until the server
// has the time to see that a client has left, its work goes on: on a busy machine others may leave
// more quickly.
func TestLeavingExports(t *testing.T) {
	if testing.Short() {
		t.Skip("processor time says little while other tests run")
	}
	const clients, rounds = 150, 5
	l := serveExports(t, 12_000, 64<<10, 0, proxytest.Listen(t))
	const target = "/lists/activities.bib?latex=1&sort=title&exclude=s%d"
	l.Get(fmt.Sprintf(target, 0)) // sorts the rows
	began := processorTime()
	for i := range 3 {
		l.Get(fmt.Sprintf(target, 1000+i))
	}
	whole := processorTime() - began
	left := whole
	for round := 0; round < rounds && left >= whole; round++ {
		began = processorTime()
		for i := range clients {
			conn := l.Dial()
			l.Write(conn, "GET "+fmt.Sprintf(target, 2000+round*clients+i)+" HTTP/1.1\r\nHost: x\r\n\r\n")
			conn.Close()
		}
		atRest(l)
		left = processorTime() - began
		t.Logf("%v of processor time for %d clients who leave, %v for three who read", left, clients, whole)
	}
	if left >= whole {
		t.Errorf("%v for %d clients who leave, where three exports take %v", left, clients, whole)
	}
}

// turns are what work has done in turns, see fair.Stats.
type turns struct{ ordinary, costly, pauses, helpers int }

// turnsSince returns what work has done in turns since before.
func turnsSince(l *proxytest.Live, before turns) turns {
	l.T.Helper()
	return turns{
		l.Metric("vitrine_turns_ordinary_total") - before.ordinary,
		l.Metric("vitrine_turns_costly_total") - before.costly,
		l.Metric("vitrine_turns_pauses_total") - before.pauses,
		l.Metric("vitrine_turns_helpers_total") - before.helpers,
	}
}

// TestAloneOnAllProcessors: costly work of the only request uses all processors and never pauses.
// On a busy machine a helper may not run before the work is over: then the test asks again. It logs
// how long the work takes.
func TestAloneOnAllProcessors(t *testing.T) {
	const tries = 50
	rows, o := 2_000, proxytest.Options(t)
	if !testing.Short() {
		rows = 100_000
	}
	docs := make([]bson.Raw, rows)
	for i := range docs {
		var authors bson.A
		for k := range 4 {
			authors = append(authors, bson.D{{Key: "first", Value: fmt.Sprint("First", i%97)},
				{Key: "last", Value: fmt.Sprint("Last", (i+k)%9973)}, {Key: "n", Value: (i + k) % 50}})
		}
		title := fmt.Sprint("Activity ", i, " ", strings.Repeat("lorem ipsum ", 20))
		// of plain types
		docs[i], _ = bson.Marshal(bson.D{{Key: "_id", Value: i}, {Key: "title", Value: title},
			{Key: "authors", Value: authors}})
	}
	store := proxytest.NewStore()
	store.Publish(rules.ViewActivities, docs...)
	store.Publish(rules.ViewPersons)
	l := proxytest.ServeLive(t, proxytest.Open(t, store, o))
	for name, filter := range map[string]string{
		"pattern":    `{"title":{"$regex":"(?:lorem|acti[v]ity) .*[%d~]$"}}`,
		"$elemMatch": `{"authors":{"$elemMatch":{"n":{"$lt":40},"last":{"$ne":"x%d"},"first":{"$gte":"First5"}}}}`,
		"infix":      `{"title":{"$regex":"psum%d","$options":"i"}}`,
	} {
		ask := func(n int) time.Duration {
			began := time.Now()
			if res := l.Get("/api/activities?limit=1&json=" +
				url.QueryEscape(fmt.Sprintf(filter, n))); res.StatusCode != http.StatusOK {
				t.Errorf("%s: %s: %.200s", name, res.Status, res.Body)
			}
			return time.Since(began)
		}
		ask(0) // makes the index
		for tried := 1; ; tried++ {
			before, used := turnsSince(l, turns{}), processorTime()
			took := ask(tried)
			used = processorTime() - used
			did := turnsSince(l, before)
			t.Logf("%s over %d rows: %v, %v of processor time by %d processors; %+v", name, rows, took, used,
				runtime.GOMAXPROCS(0), did)
			want := runtime.GOMAXPROCS(0) - 1
			switch each := used / time.Duration(want+1); {
			case each < 5*time.Millisecond: // may be over before the first helper begins
				want = 0
			case each < 100*time.Millisecond:
				want = min(want, 1)
			}
			if did.pauses > 0 {
				t.Errorf("%s: %d pauses of the only request", name, did.pauses)
			}
			if did.helpers >= want {
				break
			}
			if tried == tries {
				t.Errorf("%s: %d helpers of the only request, want %d, one for each further processor", name,
					did.helpers, want)
				break
			}
		}
	}
}

// TestCostlyFilters: the server refuses a filter that needs more time than a request has, with that
// reason, because a retry would not help. If the process did not get the time, a retry may help, and
// the answer says so: on a machine that stays busy the test sees nothing else. Package result tests
// with a clock of its own which of the two it is.
func TestCostlyFilters(t *testing.T) {
	const tries = 20
	o := proxytest.Options(t)
	o.Limits.RequestTimeout, o.Cache.Timeout = 500*time.Millisecond, 500*time.Millisecond
	s := proxytest.Open(t, proxytest.Many(t, 20_000), o)
	var all []string
	for i := range 90 {
		all = append(all, fmt.Sprintf(`{"rendered.web":{"$regex":".{0,240}[^q]{0,240}.{0,240}[q~][%d]$"}}`, i%10))
	}
	for _, path := range []string{"/api/activities?limit=1&json=", "/api/activities?full=1&json="} {
		for _, coding := range []string{"identity", "gzip"} {
			tried, busy := 0, true
			var res proxytest.Response
			for ; busy && tried < tries; tried++ {
				res = s.Get(path+url.QueryEscape(`{"$nor":[`+strings.Join(all, ",")+`]}`), "Accept-Encoding", coding)
				busy = res.StatusCode == 503 && res.Header.Get("Retry-After") != ""
			}
			if e := res.Envelope(t); !busy && (e.Status != 400 ||
				!strings.Contains(e.Msg, "takes more than the 500ms")) {
				t.Errorf("%s %s: %+v", path, coding, e)
			}
			t.Logf("%s %s: %d after %d attempts", path, coding, res.StatusCode, tried)
		}
	}
}
