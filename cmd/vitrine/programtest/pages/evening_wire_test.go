package pages

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/origin/mongo/mongotest"
	"vitrine/cmd/vitrine/programtest"
	"vitrine/proxy/proxytest/osiristest"
)

// evening has all that takes part when Vitrine takes the place of another server: that server, the database behind
// a network that may fail, the program, and two readers with a browser.
type evening struct {
	t       *testing.T
	old     *osiristest.Server
	network *mongotest.Proxy
	dir     string
	server  *programtest.Server
	uri     string // of the database, past the network
	chrome  context.Context
	cockpit *tab   // of the operator
	portal  *tab   // of a visitor of the institute's site
	site    string // its address
	step    int
}

// The paths that the evening asks for: one of ours that moves to the other server, one that is kept by rule, one
// that is forwarded as it is, and a list.
const (
	eveningMoved   = "/api/projects?limit=3"
	eveningKept    = "/portfolio/unit/" + osiristest.Unit + "/publications"
	eveningPassed  = "/portal/info"
	eveningList    = "/lists/activities.json"
	eveningPerson  = "/api/users/" + osiristest.Person
	eveningMissing = "Activity 0" // the title of the record that is withdrawn
)

// configure writes the configuration, with the paths that move to the other server.
func (e *evening) configure(routes ...string) {
	e.t.Helper()
	var moved []string
	for _, path := range routes {
		moved = append(moved, path+": upstream")
	}
	programtest.WriteLines(e.t, filepath.Join(e.dir, "v.yml"), `
mongo: {batch: 50}
access: {anonymous: [projects.view, proposals.view, portfolio-spectrum]}
http: {cors: {origins: ["*"]}}
views: {poll: 500ms, optional: [proposals, journals, events, deadlines, user_units]}
materialize: {lease: 6s, full: "", schedule: {activities: "@every 1s"}}
log: {requests: false}
routes: {`+strings.Join(moved, ", ")+`}
upstream:
  url: `+e.old.URL()+`
  paths: [/portfolio, /portal]
  keep:
    - paths: [/portfolio/]
      until: [activities]
      refresh: "@every 1s"
      auth: none
      rate: 100`)
}

// newEvening installs: the old server's records are in the database, the program stands in front of both, and the
// readers have opened their pages.
func newEvening(t *testing.T) *evening {
	t.Helper()
	chrome, uri := startBrowser(t), mongotest.Start(t)
	e := &evening{t: t, old: osiristest.Start(t), network: mongotest.NewProxy(t, uri), dir: t.TempDir()}
	e.configure()
	dump := t.TempDir()
	e.old.Institute().Dump(t, dump)
	programtest.Run(t, e.dir, "import", "--config", "v.yml", "--store", uri+"institute", dump)
	e.server = programtest.Start(t, e.dir, "--config", "v.yml", "--store", e.network.URI()+"institute").Ready()
	site := httptest.NewServer(send("text/html; charset=utf-8",
		strings.ReplaceAll(eveningPage, "PUBLICATIONS", e.server.Base+eveningKept)))
	t.Cleanup(site.Close)
	e.chrome, e.site, e.uri = chrome, site.URL, uri
	e.cockpit, e.portal = openCockpit(t, chrome, e.server, 390, ""), newTab(t, chrome, 390)
	return e
}

// eveningPage is a page of the institute's site, which shows what the portal's API has.
const eveningPage = `<!DOCTYPE html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Biology</title>
<h1>Biology: publications</h1><ol id="all"></ol><p id="state">Loading</p>
<script type="module">
const state = document.getElementById("state")
try {
  const res = await fetch("PUBLICATIONS", {cache: "no-cache"}) // the browser keeps answers, too
  for (const row of (await res.json()).data) document.getElementById("all").append(
    Object.assign(document.createElement("li"), {textContent: row.name}))
  state.textContent = "Complete"
} catch (error) { state.textContent = "Failed: " + error }
</script>
</html>`

// ask returns the status and body of a path.
func (e *evening) ask(path string, headers ...string) (status int, body string) {
	e.t.Helper()
	return e.server.Get(path, headers...)
}

// becomes waits until a path is answered with a status, and has some words, or with "!" before one not.
func (e *evening) becomes(path string, status int, words ...string) {
	e.t.Helper()
	programtest.Await(e.t, fmt.Sprintf("%s is %d with %q", path, status, words), func() string {
		got, body := e.ask(path)
		for _, word := range words {
			rest, absent := strings.CutPrefix(word, "!")
			if strings.Contains(body, rest) == absent {
				return fmt.Sprintf("%d %.300s", got, body)
			}
		}
		return programtest.Unless(got == status)
	})
}

// reload has the program read its configuration again, with other routes.
func (e *evening) reload(routes ...string) {
	e.t.Helper()
	e.configure(routes...)
	e.server.Signal(syscall.SIGHUP)
}

// visit opens the page of the site anew, and checks whether it shows the record that is withdrawn.
func (e *evening) visit(withdrawn bool) {
	e.t.Helper()
	e.portal.open(e.site)
	e.portal.await(`document.getElementById("state").textContent !== "Loading"`)
	e.portal.want(`document.getElementById("state").textContent`, "Complete")
	if shown := strings.Contains(e.portal.text("#all"), eveningMissing); shown == withdrawn {
		e.t.Errorf("the portal's page has the record: %t", shown)
	}
}

// see takes pictures of both pages, none of which may be wider than its window.
func (e *evening) see(what string) {
	e.t.Helper()
	e.step++
	for _, one := range []struct {
		page string
		tab  *tab
	}{{"cockpit", e.cockpit}, {"portal", e.portal}} {
		shoot(one.tab, fmt.Sprintf("evening-%d-%s-%s", e.step, what, one.page))
		fits(one.tab)
	}
}

// shows waits until the operator's page shows a text in an element.
func (e *evening) shows(id, text string) {
	e.t.Helper()
	e.cockpit.await(fmt.Sprintf(`document.getElementById(%q).textContent.includes(%q)`, id, text))
}

// brief checks that the log says once for most views that they are not refreshed, and that no text of the page fills
// a telephone's window, such as those of the database's driver, which a reader can open.
func (e *evening) brief() {
	e.t.Helper()
	v := e.cockpit
	const lines = `[...document.querySelectorAll("#log strong")].filter((s) => s.textContent === "view not refreshed")`
	v.await(lines + `.length < 4`)
	v.await(`/view not refreshed \([a-z_]+, [a-z_]+, … \d+\)/.test(document.getElementById("log").textContent)`)
	const tall = `[...document.querySelectorAll("#contact, #state td, #state p")].filter((e) => e.offsetHeight > 200)
		.map((e) => e.offsetHeight + " px: " + e.textContent).join("\n")`
	v.want(tall, "")
	v.do(chromedp.Click(chromedp.CSS("#log .clip summary")))
	v.await(`((words) => words.scrollHeight === words.clientHeight)(` +
		`document.querySelector("#log .clip[open] .words"))`)
	v.do(chromedp.Click(chromedp.CSS("#log .clip summary")))
}

// fits checks that a page can be read without moving it sideways.
func fits(v *tab) {
	v.t.Helper()
	v.want(`String(document.documentElement.scrollWidth <= document.documentElement.clientWidth)`, "true")
}

// load asks for what must be answered all evening, until stop is called, which returns how often it was asked and
// what failed.
func (e *evening) load() (stop func() (asked int, failed []string)) {
	var clients sync.WaitGroup
	done, asked := make(chan struct{}), 0
	var failed []string
	clients.Go(func() {
		for {
			for _, path := range []string{eveningMoved, eveningKept, eveningList} {
				res, err := http.Get(e.server.Base + path)
				if asked++; err != nil {
					failed = append(failed, err.Error())
					continue
				}
				if res.Body.Close(); res.StatusCode != http.StatusOK {
					failed = append(failed, res.Status+" "+path)
				}
			}
			select {
			case <-done:
				return
			case <-time.After(100 * time.Millisecond):
			}
		}
	})
	return sync.OnceValues(func() (int, []string) {
		close(done)
		clients.Wait()
		return asked, failed
	})
}

// compare compares both servers over a log, and looks at the report's page.
func (e *evening) compare() {
	t := e.t
	t.Helper()
	report := filepath.Join(e.dir, "report.html")
	programtest.WriteLines(t, filepath.Join(e.dir, "access.log"), eveningMoved, eveningKept, eveningPerson)
	out, errs, _ := programtest.Outcome(e.dir, "compare", "--config", "v.yml", "--old", e.old.URL(), "--new",
		e.server.Base, "--rate", "0", "--html", report, "access.log") // an error: the servers differ
	if _, err := os.Stat(report); err != nil {
		t.Fatalf("%v\n%s%s", err, out, errs)
	}
	v := newTab(t, e.chrome, 390)
	v.open("file://" + report)
	v.await(`document.body && document.body.textContent.includes("/api/projects")`)
	shoot(v, "evening-compare")
	fits(v)
}

// withdraw hides a record in the database, and so in the old server's answers.
func (e *evening) withdraw() {
	e.t.Helper()
	id, err := bson.ObjectIDFromHex(osiristest.Activity)
	if err != nil {
		e.t.Fatal(err)
	}
	record, err := bson.Marshal(bson.D{
		{Key: "_id", Value: id}, {Key: "type", Value: "publication"}, {Key: "subtype", Value: "article"},
		{Key: "title", Value: eveningMissing}, {Key: "year", Value: int32(2024)}, {Key: "affiliated", Value: true},
		{Key: "hide", Value: true},
	})
	if err != nil {
		e.t.Fatal(err)
	}
	if _, err := programtest.Reach(e.t, e.uri).Upsert(e.t.Context(), "activities", []bson.Raw{record}); err != nil {
		e.t.Fatal(err)
	}
	e.old.Edit(func(i osiristest.Institute) { i["activities"] = i["activities"][1:] })
}

// upstreamState returns what /readyz says of the other server.
func (e *evening) upstreamState() string {
	e.t.Helper()
	status, body := e.ask("/readyz")
	var said struct {
		Upstream struct{ State, Reason string }
	}
	if err := json.Unmarshal([]byte(body), &said); err != nil || status != http.StatusOK {
		e.t.Fatalf("/readyz: %d %s", status, body)
	}
	return said.Upstream.State + " " + said.Upstream.Reason
}

// TestEvening is the evening on which Vitrine takes the place of the old server, with all that may go wrong: no
// client sees a failure, and the operator sees what is wrong.
func TestEvening(t *testing.T) {
	programtest.WholeOnly(t)
	t.Parallel()
	e := newEvening(t)
	_, own := e.ask(eveningMoved)
	e.becomes(eveningKept, http.StatusOK, eveningMissing)
	e.becomes(eveningPassed, http.StatusOK)
	e.visit(false)
	stop := e.load()
	t.Cleanup(func() { stop() })
	e.shows("contact", "Ready")
	e.see("installed")

	e.compare()

	e.reload("/api/projects")
	e.becomes(eveningMoved, http.StatusOK, "!"+own)
	e.shows("upstream", "/api/projects")
	e.see("moved")
	e.reload()
	e.becomes(eveningMoved, http.StatusOK, own)

	e.becomes(eveningList, http.StatusOK, eveningMissing)
	e.withdraw()
	e.becomes(eveningList, http.StatusOK, "!"+eveningMissing)
	e.becomes(eveningKept, http.StatusOK, "!"+eveningMissing)
	e.visit(true)
	e.see("withdrawn")

	e.old.Fail(osiristest.Stopped)
	programtest.Await(t, "a forwarded page fails", func() string {
		status, body := e.ask(eveningPassed) // 503 as soon as only probes are sent
		failed := status == http.StatusBadGateway || status == http.StatusServiceUnavailable
		return programtest.Unless(failed && programtest.Lacking(body, fmt.Sprintf(`"status":%d`, status),
			"Service unavailable") == "")
	})
	e.visit(true)
	programtest.Await(t, "/readyz has the reason", func() string {
		said := e.upstreamState()
		return programtest.Unless(strings.HasPrefix(said, "failing ") && said != "failing ")
	})
	_, explained := programtest.Fetch(t, http.MethodGet, e.server.Admin+"/admin/explain?url="+eveningPassed)
	if lacking := programtest.Lacking(explained, `"forwarded"`, "has failed since"); lacking != "" {
		t.Errorf("explain says %s, without %s", explained, lacking)
	}
	e.shows("contact", "the other server fails")
	e.see("without-old-server")

	e.network.Set(mongotest.Fault{Refuse: true})
	e.becomes("/readyz", http.StatusOK, `"state":"degraded"`)
	e.shows("contact", "Degraded")
	e.becomes(eveningList, http.StatusOK, "!"+eveningMissing)
	e.visit(true)
	e.see("without-both")
	e.brief()

	e.network.Set(mongotest.Fault{})
	e.old.Fail(osiristest.Healthy)
	e.becomes(eveningPassed, http.StatusOK)
	e.becomes("/readyz", http.StatusOK, `!"state":"degraded"`)
	programtest.Await(t, "the other server answers", func() string {
		return programtest.Unless(strings.HasPrefix(e.upstreamState(), "answering"))
	})
	e.cockpit.await(stateIs("Ready") + `&& !document.getElementById("contact").textContent.includes("fails")`)
	e.visit(true)
	e.see("back")
	asked, failed := stop()
	if t.Logf("%d requests meanwhile", asked); len(failed) > 0 {
		t.Errorf("%d of %d requests failed: %q", len(failed), asked, failed)
	}
}
