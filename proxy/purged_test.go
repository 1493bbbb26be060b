package proxy_test

import (
	"bufio"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/origin"
	"vitrine/proxy/proxytest"
	"vitrine/proxy/purge"
	"vitrine/rules"
	"vitrine/rules/ejson"
	"vitrine/rules/mark"
	"vitrine/rules/raw"
)

// TestPurgedAfterExport: an export that begins before a change and ends after its purge may be kept by a cache in
// front as new. So the purge is sent again after its end, and not before. The same is true of an answer that is sent
// as a whole.
func TestPurgedAfterExport(t *testing.T) {
	got := make(chan []string, 100)
	target := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		got <- strings.Fields(r.Header.Get("Surrogate-Key"))
	}))
	defer target.Close()
	next := func(tag string) {
		t.Helper()
		for tags := range got {
			if slices.Contains(tags, tag) {
				return
			}
		}
	}
	o := proxytest.Options(t)
	o.Purge = purge.Options{Targets: map[string]string{"front": "purge " + target.URL}}
	s := proxytest.Open(t, proxytest.Many(t, 20_000), o)
	live := proxytest.ServeOn(t, s, proxytest.Narrow{Listener: proxytest.Listen(t)})
	next("view-activities")
	row := proxytest.Parse(t, `{"_id": 7, "type": "publication", "title": "Withdrawn"}`)[0]
	for _, path := range []string{"/api/activities", "/api/activities?limit=300&columns[]=print"} {
		conn := live.Narrowly()
		live.Write(conn, "GET "+path+" HTTP/1.1\r\nHost: localhost\r\n\r\n")
		res, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil || !strings.Contains(res.Header.Get("Surrogate-Key"), "any-activities") {
			t.Fatalf("%v, %v", res, err)
		}
		s.Refresh(rules.ViewActivities, row)
		next("any-activities")
		select {
		case tags := <-got:
			t.Errorf("%s: sent again before its end: %v", path, tags)
		default:
		}
		if n, err := io.Copy(io.Discard, res.Body); err != nil || n < 64<<10 {
			t.Fatalf("%s: %d bytes, %v", path, n, err)
		}
		next("any-activities")
	}
}

// TestPurgedVarnish: what Varnish, configured as docs/operations.md says, keeps of a record is gone once the record is
// withdrawn, and what does not change stays.
func TestPurgedVarnish(t *testing.T) {
	proxytest.WholeOnly(t)
	daemon, err := exec.LookPath("varnishd")
	if err != nil {
		t.Skip("varnishd is not installed")
	}
	page, err := os.ReadFile(proxytest.InRepo("docs", "operations.md"))
	if err != nil {
		t.Fatal(err)
	}
	vcl := regexp.MustCompile("(?s)```vcl\n(.*?)```").FindSubmatch(page)
	front := "http://" + unused(t)
	o := proxytest.ListOptions(t)
	o.Fresh.MaxAge, o.Now = time.Hour, time.Now
	o.Purge = purge.Options{Targets: map[string]string{"front": "varnish " + front}}
	s := proxytest.OpenViews(t, proxytest.ListStore(t, nil), o, proxytest.ListViews(t), 0)
	varnish(t, daemon, front, proxytest.ServeLive(t, s).Addr, string(vcl[1]))
	get := func(path string) (body string, kept bool) {
		res, err := http.Get(front + path)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		text, err := io.ReadAll(res.Body)
		if err != nil {
			t.Fatal(err)
		}
		return string(text), len(strings.Fields(res.Header.Get("X-Varnish"))) == 2
	}
	var row bson.Raw
	var unit string
	_, err = s.Store.Rows(t.Context(), rules.ViewActivities, 0, func(r origin.Row) error {
		for one := range mark.Entries(mark.Of(r.Doc), "units") {
			row, unit = r.Doc, raw.StringField(one, "id")
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	id := ejson.IDText(row.Lookup("_id"))
	s.Refresh(rules.ViewActivities, row) // the first change of a view drops all
	proxytest.Until(t, "the first purge", func() bool { return s.Metric(`vitrine_purge_requests_total{outcome="sent",target="front"}`) > 0 })
	paths := []string{"/lists/unit/" + unit + ".json?limit=500", "/lists/activities.json?limit=500", "/lists/projects.json"}
	for _, path := range paths {
		get(path)
		if _, kept := get(path); !kept {
			t.Fatalf("%s is not kept", path)
		}
	}
	hidden, err := mark.Set(row, nil)
	if err != nil {
		t.Fatal(err)
	}
	s.Refresh(rules.ViewActivities, hidden)
	for _, path := range paths[:2] {
		proxytest.Until(t, "the record leaves "+path, func() bool {
			body, _ := get(path)
			return !strings.Contains(body, id)
		})
	}
	if _, kept := get(paths[2]); !kept {
		t.Error("what did not change was dropped, too")
	}
}
