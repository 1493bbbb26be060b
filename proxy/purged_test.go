package proxy_test

import (
	"bufio"
	"io"
	"net/http"
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

// purges are the purges that a target got, in order, each with its tags.
type purges chan []string

// newPurges returns room for them. It is a transport that brings the target what it got: a request over the network
// may run out of time on a busy machine, and would come twice.
func newPurges() purges { return make(purges, 100) }

// RoundTrip implements http.RoundTripper: it is the target.
func (p purges) RoundTrip(r *http.Request) (*http.Response, error) {
	p <- strings.Fields(r.Header.Get("Surrogate-Key"))
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: http.NoBody, Request: r}, nil
}

// next waits for a purge with a tag.
func (p purges) next(tag string) {
	for tags := range p {
		if slices.Contains(tags, tag) {
			return
		}
	}
}

// TestPurgedAfterExport: an export that begins before a change and ends after its purge may be kept by a cache in
// front as new. So the purge is sent again after its end, and not before. The same is true of an answer that is sent
// as a whole.
func TestPurgedAfterExport(t *testing.T) {
	for _, path := range []string{"/api/activities", "/api/activities?limit=300&columns[]=print"} {
		t.Run(path, func(t *testing.T) { // with a server of its own, since a purge soon after an answer comes twice
			got := newPurges()
			o := proxytest.Options(t)
			o.Purge = purge.Options{Targets: map[string]string{"front": "purge http://front.example/"},
				Transport: got}
			o.Limits.KeptBytes = 512 << 10 // so that the export is streamed, and the other answer is not
			s := proxytest.Open(t, proxytest.Many(t, 4000), o)
			live := proxytest.ServeOn(t, s, proxytest.Narrow{Listener: proxytest.Listen(t)})
			got.next("view-activities")
			conn := live.Narrowly()
			live.Write(conn, "GET "+path+" HTTP/1.1\r\nHost: localhost\r\n\r\n")
			res, err := http.ReadResponse(bufio.NewReader(conn), nil)
			if err != nil || !strings.Contains(res.Header.Get("Surrogate-Key"), "any-activities") {
				t.Fatalf("%v, %v", res, err)
			}
			row := proxytest.Parse(t, `{"_id": 7, "type": "publication", "title": "Withdrawn"}`)[0]
			s.Refresh(rules.ViewActivities, row)
			got.next("any-activities")
			select {
			case tags := <-got:
				t.Errorf("sent again before its end: %v", tags)
			default:
			}
			n, err := io.Copy(io.Discard, res.Body)
			if whole := n < 512<<10; err != nil || n < 64<<10 || whole == (path == "/api/activities") {
				t.Fatalf("%d bytes, %v", n, err)
			}
			got.next("any-activities")
		})
	}
}

// TestPurgedByNotice: a notice that appears, changes or goes drops what shows the work that it is about, too, and a
// change of the work drops the page of the notice.
func TestPurgedByNotice(t *testing.T) {
	proxytest.WholeOnly(t)
	got, store := newPurges(), proxytest.ListStore(t, nil)
	publish := func(record string) {
		store.PublishMarked(t, rules.ViewActivities, proxytest.Parse(t, record)...)
	}
	publish(`{"_id":"work","type":"publication","title":"Owls","doi":"10.5555/Owls","units":["BIRD"]}`)
	publish(`{"_id":"other","type":"publication","title":"Moths","doi":"10.5555/moths","units":["MOTH"]}`)
	o := proxytest.ListOptions(t)
	o.Purge = purge.Options{Targets: map[string]string{"front": "purge http://front.example/"}, Transport: got}
	s := proxytest.OpenViews(t, store, o, proxytest.ListViews(t), 0)
	got.next("view-activities")
	notice := `{"_id":"notice","type":"publication","title":"Notice","retraction of":"https://doi.org/10.5555/OWLS"}`
	for i, c := range []struct {
		change func()
		own    string
		want   []string
		not    string
	}{
		{func() { publish(notice) }, "id-notice", []string{"id-work", "unit-BIRD"}, "id-other"},
		{func() { publish(strings.Replace(notice, "Notice", "Note", 1)) }, "id-notice", []string{"id-work"},
			"id-other"},
		{func() { publish(`{"_id":"work","type":"publication","title":"Owl","doi":"10.5555/Owls"}`) }, "id-work",
			[]string{"id-notice", "unit-BIRD"}, "id-other"},
		{func() { publish(strings.Replace(notice, "https://doi.org/10.5555/OWLS", "other", 1)) }, "id-notice",
			[]string{"id-work", "id-other", "unit-MOTH"}, "unit-BIRD"},
		{func() { store.Withdraw(rules.ViewActivities, raw.NewString("notice")) }, "id-notice",
			[]string{"id-other", "unit-MOTH"}, "id-work"},
		{func() { publish(`{"_id":"work","type":"publication","title":"Owl"}`) }, "id-work", nil, "id-notice"},
	} {
		c.change()
		s.Refresh(rules.ViewActivities)
		for tags := range got {
			if !slices.Contains(tags, c.own) {
				continue
			}
			for _, tag := range c.want {
				if !slices.Contains(tags, tag) {
					t.Errorf("change %d: no %s in %v", i, tag, tags)
				}
			}
			if slices.Contains(tags, c.not) {
				t.Errorf("change %d: %s in %v", i, c.not, tags)
			}
			break
		}
	}
}

// banning is a transport to Varnish, and has the tags of each ban there.
type banning chan string

// RoundTrip implements http.RoundTripper.
func (b banning) RoundTrip(r *http.Request) (*http.Response, error) {
	res, err := http.DefaultTransport.RoundTrip(r)
	if err == nil && res.StatusCode == http.StatusOK {
		b <- r.Header.Get("X-Ban-Tags")
	}
	return res, err
}

// TestPurgedVarnish: what Varnish, configured as docs/operations.md says, keeps of a record is gone once the record
// is withdrawn, and what does not change stays.
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
	ln := proxytest.Listen(t)
	front := varnish(t, daemon, ln.Addr().String(), string(vcl[1]))
	o := proxytest.ListOptions(t)
	o.Fresh.MaxAge, o.Now = time.Hour, time.Now
	bans := make(banning, 100)
	o.Purge = purge.Options{Targets: map[string]string{"front": "varnish " + front}, Transport: bans}
	s := proxytest.OpenViews(t, proxytest.ListStore(t, nil), o, proxytest.ListViews(t), 0)
	proxytest.ServeOn(t, s, ln)
	for views := 0; views < len(s.Views.Status()); { // at first all that an earlier server's caches kept is dropped
		views += strings.Count(<-bans, "view-")
	}
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
	paths := []string{"/lists/unit/" + unit + ".json?limit=500", "/lists/activities.json?limit=500",
		"/lists/projects.json"}
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
