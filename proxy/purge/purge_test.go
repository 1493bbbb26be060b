package purge_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"go.mongodb.org/mongo-driver/v2/bson"

	"vitrine/cache/origin"
	"vitrine/cache/view/index"
	"vitrine/proxy/proxytest"
	"vitrine/proxy/purge"
	"vitrine/rules"
	"vitrine/rules/ejson"
	"vitrine/rules/leaktest"
	"vitrine/rules/mark"
	"vitrine/rules/raw"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

// told is a request that a target got.
type told struct {
	*http.Request
	body string
}

// listen returns the address of a target and its requests. It answers what status returns.
func listen(t *testing.T, status func() int) (string, <-chan told) {
	t.Helper()
	got := make(chan told, 100)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		got <- told{r, string(body)}
		w.WriteHeader(status())
	}))
	t.Cleanup(s.Close)
	return s.URL + "/here", got
}

func always(status int) func() int { return func() int { return status } }

func start(t *testing.T, targets, tokens map[string]string) *purge.Purger {
	t.Helper()
	p, err := purge.New(purge.Options{Targets: targets, Tokens: tokens, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	p.Changed("projects", nil) // the first is whole
	return p
}

// change is a change of the project with an id.
func change(id string) index.Change {
	doc, _ := bson.Marshal(bson.D{{Key: "_id", Value: id}})
	return index.Change{ID: bson.Raw(doc).Lookup("_id"), Doc: doc}
}

// TestKinds: each kind of target gets the tags in its own way.
func TestKinds(t *testing.T) {
	for kind, check := range map[string]func(t *testing.T, r told){
		"varnish": func(t *testing.T, r told) {
			if want := "(^|[[:space:]])(any-projects|id-a%20%2E%7C)($|[[:space:]])"; r.Method != "BAN" ||
				r.Header.Get("X-Ban-Tags") != want {
				t.Errorf("%s %v", r.Method, r.Header)
			}
		},
		"purge": func(t *testing.T, r told) {
			if r.Method != "PURGE" || r.Header.Get("Surrogate-Key") != "any-projects id-a%20%2E%7C" ||
				r.Header.Get("Cache-Tag") != "any-projects,id-a%20%2E%7C" {
				t.Errorf("%s %v", r.Method, r.Header)
			}
		},
		"fastly": func(t *testing.T, r told) {
			if r.Method != "POST" || r.Header.Get("Surrogate-Key") != "any-projects id-a%20%2E%7C" ||
				r.Header.Get("Fastly-Key") != "secret" {
				t.Errorf("%s %v", r.Method, r.Header)
			}
		},
		"cloudflare": func(t *testing.T, r told) {
			if r.body != `{"tags":["any-projects","id-a%20%2E%7C"]}` ||
				r.Header.Get("Authorization") != "Bearer secret" {
				t.Errorf("%s %v", r.body, r.Header)
			}
		},
		"webhook": func(t *testing.T, r told) {
			mac := hmac.New(sha256.New, []byte("secret"))
			mac.Write([]byte(r.Header.Get("Webhook-Id") + "." + r.Header.Get("Webhook-Timestamp") + "." + r.body))
			if r.Header.Get("Webhook-Signature") != "v1,"+base64.StdEncoding.EncodeToString(mac.Sum(nil)) ||
				!strings.Contains(r.body, `"tags":["any-projects"`) {
				t.Errorf("%s %v", r.body, r.Header)
			}
		},
	} {
		t.Run(kind, func(t *testing.T) {
			address, got := listen(t, always(http.StatusOK))
			p := start(t, map[string]string{"one": kind + " " + address}, map[string]string{"one": "secret"})
			p.Changed("projects", []index.Change{change("a .|")})()
			check(t, <-got)
		})
	}
}

// TestRetried: a target that fails gets everything later, in batches, and holds up no other.
func TestRetried(t *testing.T) {
	statuses := make(chan int, 100)
	statuses <- http.StatusInternalServerError
	failing, got := listen(t, func() int {
		select {
		case s := <-statuses:
			return s
		default:
			return http.StatusOK
		}
	})
	healthy, others := listen(t, always(http.StatusNoContent))
	p := start(t, map[string]string{"a": "purge " + failing, "b": "purge " + healthy}, nil)
	p.Changed("projects", []index.Change{change("1")})()
	if first := <-got; first.Header.Get("Surrogate-Key") != "any-projects id-1" {
		t.Errorf("first: %v", first.Header)
	}
	<-others
	var many []index.Change
	for i := range 600 {
		many = append(many, change(strings.Repeat("x", i)))
	}
	p.Changed("projects", many)()
	tags := map[string]bool{}
	for len(tags) < 602 {
		r := <-got
		for tag := range strings.FieldsSeq(r.Header.Get("Surrogate-Key")) {
			tags[tag] = true
		}
		if len(r.Header.Get("Surrogate-Key")) > 8<<10 {
			t.Errorf("a header of %d bytes", len(r.Header.Get("Surrogate-Key")))
		}
	}
	if !tags["id-1"] {
		t.Error("what failed was not sent again")
	}
}

// TestSecrets: neither errors nor the log have the address of a target, which may have a secret in it, or its token.
func TestSecrets(t *testing.T) {
	var log syncBuffer
	o := purge.Options{Targets: map[string]string{"one": "purge http://user:hidden@127.0.0.1:1/hidden ü?hidden"},
		Log: slog.New(slog.NewTextHandler(&log, nil))}
	p, err := purge.New(o)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	p.Changed("projects", nil)()
	proxytest.Until(t, "it fails", func() bool { return strings.Contains(log.String(), "purge failed") })
	if text := log.String(); strings.Contains(text, "hidden") || !strings.Contains(text, "refused") {
		t.Error(text)
	}
	o.Targets["one"] = "http://127.0.0.1/hidden"
	if _, err := purge.New(o); err == nil || strings.Contains(err.Error(), "hidden") {
		t.Error(err)
	}
}

// syncBuffer is a buffer for several goroutines.
type syncBuffer struct {
	mu   sync.Mutex
	text strings.Builder
}

func (b *syncBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *syncBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

// TestAdopted: new settings may change every answer.
func TestAdopted(t *testing.T) {
	address, got := listen(t, always(http.StatusOK))
	o := proxytest.ListOptions(t)
	o.Purge = purge.Options{Targets: map[string]string{"one": "purge " + address}}
	s := proxytest.OpenViews(t, proxytest.ListStore(t, nil), o, proxytest.ListViews(t), 0)
	for range 2 { // the start, and new settings
		for seen := 0; seen < len(s.Views.Status()); {
			seen += len(strings.Fields((<-got).Header.Get("Surrogate-Key")))
		}
		if err := s.Server.Adopt(o); err != nil {
			t.Fatal(err)
		}
	}
	if tags := s.Get("/api/projects?formatted").Header.Get("Surrogate-Key"); !strings.Contains(tags,
		"any-activities") {
		t.Errorf("projects with the numbers of their activities have the tags %s", tags)
	}
}

// TestBounded: what waits for a target that is away is bounded. What is just being sent does not count.
func TestBounded(t *testing.T) {
	address, _ := listen(t, always(http.StatusServiceUnavailable))
	measured := prometheus.NewRegistry()
	p, err := purge.New(purge.Options{Targets: map[string]string{"a": "purge " + address},
		Log: slog.New(slog.DiscardHandler), Metrics: measured})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	for i := range 30_000 {
		p.Changed("projects",
			[]index.Change{change(strings.Repeat("x", i%100) + string(rune('a'+i%26)) +
				strings.Repeat("y", i/100))})()
	}
	proxytest.Until(t, "tags wait", func() bool {
		all, err := measured.Gather()
		if err != nil {
			t.Fatal(err)
		}
		waiting := 0.0
		for _, f := range all {
			if f.GetName() == "vitrine_purge_waiting_tags" {
				waiting = f.GetMetric()[0].GetGauge().GetValue()
			}
		}
		if waiting > 10_000 {
			t.Fatalf("%v tags wait", waiting)
		}
		return waiting > 0
	})
}

// TestOptions: mistakes in the configuration name the target.
func TestOptions(t *testing.T) {
	for _, o := range []purge.Options{
		{Targets: map[string]string{"one": "squid http://a"}},
		{Targets: map[string]string{"one": "purge"}},
		{Targets: map[string]string{"one": "purge file:///etc"}},
		{Targets: map[string]string{"one": "fastly http://a"}},
		{Targets: map[string]string{"two": "purge http://a"}, Tokens: map[string]string{"one": "t"}},
		{Targets: map[string]string{"one": "fastly http://a"}, Tokens: map[string]string{"one": "\n"}},
		{Targets: map[string]string{"one": "webhook http://a"}, Tokens: map[string]string{"one": "whsec_?"}},
		{Targets: map[string]string{"one": "purge http://"}},
		{Targets: map[string]string{"one": "purge http://user:secret@a:b/"}},
	} {
		if p, err := purge.New(o); err == nil || !strings.Contains(err.Error(), "one") ||
			strings.Contains(err.Error(), "secret") {
			t.Errorf("%v: %v", o, err)
			p.Close()
		}
	}
	if p, err := purge.New(purge.Options{}); p != nil || err != nil {
		t.Errorf("without targets: %v, %v", p, err)
	}
}

// TestTagsSuffice withdraws public records one by one: each answer that changes has a tag that was sent.
func TestTagsSuffice(t *testing.T) {
	address, got := listen(t, always(http.StatusOK))
	o := proxytest.ListOptions(t)
	o.Purge = purge.Options{Targets: map[string]string{"one": "purge " + address}}
	s := proxytest.OpenViews(t, proxytest.ListStore(t, nil), o, proxytest.ListViews(t), 0)
	sent := func(with string) map[string]bool { // the tags of the request with a tag
		for r := range got {
			tags := map[string]bool{}
			for tag := range strings.FieldsSeq(r.Header.Get("Surrogate-Key")) {
				tags[tag] = true
			}
			if tags[with] {
				return tags
			}
		}
		return nil
	}
	var rows []bson.Raw
	_, err := s.Store.Rows(t.Context(), rules.ViewActivities, 0, func(r origin.Row) error {
		if mark.Of(r.Doc) != nil {
			rows = append(rows, r.Doc)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	sent("view-activities") // as its changes before the start are not known
	urls := targetsOf(rows)
	before := answers(s, urls)
	for i, n := 0, len(rows); i < 6; i++ {
		row := rows[i*n/6]
		hidden, err := mark.Set(row, nil)
		if err != nil {
			t.Fatal(err)
		}
		s.Refresh(rules.ViewActivities, hidden)
		tags, after := sent(purge.Tag("id", ejson.IDText(row.Lookup("_id")))), answers(s, urls)
		for _, url := range urls {
			if before[url].body != after[url].body &&
				!slices.ContainsFunc(before[url].tags, func(tag string) bool { return tags[tag] }) {
				t.Errorf("%s changed; its tags %v are not among those sent, %v", url, before[url].tags,
					slices.Sorted(maps.Keys(tags)))
			}
		}
		before = after
	}
}

// generation matches what tells the generation of an answer and is no news of its own.
var generation = regexp.MustCompile(`"generation":\d+`)

type answer struct {
	body string
	tags []string
}

func answers(s *proxytest.Site, urls []string) map[string]answer {
	all := map[string]answer{}
	for _, url := range urls {
		res := s.Exchange(httptest.NewRequest(http.MethodGet, url, nil))
		all[url] = answer{generation.ReplaceAllString(string(res.Body), ""),
			strings.Fields(res.Header.Get("Surrogate-Key"))}
	}
	return all
}

// targetsOf returns URLs of the API and of all lists that rows are in.
func targetsOf(rows []bson.Raw) []string {
	urls := map[string]bool{"/api/activities?limit=5": true, "/api/html": true, "/lists/activities.html": true,
		"/lists/projects.html": true, "/lists": true, "/sitemap.xml": true}
	for _, row := range rows {
		urls["/items/"+ejson.IDText(row.Lookup("_id"))+".json"] = true
		for kind, list := range map[string]string{"unit": "units", "person": "persons", "project": "projects",
			"topic": "topics"} {
			for one := range mark.Entries(mark.Of(row), list) {
				urls["/lists/"+kind+"/"+raw.StringField(one, "id")+".json"] = true
			}
		}
		for v := range raw.Elements(raw.Get(mark.Of(row), "in")) {
			urls["/lists/unit/"+raw.Text(v)+".html"] = true
		}
	}
	return slices.Sorted(maps.Keys(urls))
}
